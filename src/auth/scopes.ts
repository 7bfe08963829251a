/** The scopes of keys (docs/contract/keys-and-scopes.md#scopes). */
export const SCOPES = [
  'appointments:read',
  'appointments:write',
  'leads:read',
  'leads:write',
  'tasks:read',
  'tasks:write',
] as const;

export type Scope = (typeof SCOPES)[number];
