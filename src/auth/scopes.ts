/** What a key may be allowed to do (api.md part 5). */
export const SCOPES = [
  'appointments:read',
  'appointments:write',
  'leads:read',
  'leads:write',
  'tasks:read',
  'tasks:write',
] as const;

export type Scope = (typeof SCOPES)[number];
