import type { Me } from 'latitude/client';
import { useMay } from '../../state/session.js';

type Scope = Me['scopes'][number];

const CHANGES = ['created', 'updated', 'deleted'] as const;

/** The types of events of each kind of record, with the scope that reads them (docs/contract/events.md#types). */
const TYPES: readonly (readonly [kind: string, scope: Scope, verbs: readonly string[]])[] = [
  ['lead', 'leads:read', CHANGES],
  ['appointment', 'appointments:read', ['created', 'updated', 'cancelled', 'starting']],
  ['task', 'tasks:read', ['created', 'updated', 'completed', 'deleted', 'overdue']],
  ['resource', 'appointments:read', CHANGES],
  ['custom_field', 'leads:read', CHANGES],
  ['key', 'keys:read', ['created', 'rotated', 'updated', 'revoked']],
  ['organization', 'events:read', ['updated']],
  ['grant', 'events:read', ['created', 'refused', 'updated', 'revoked']],
];

/** The types that the key can read. Extensions can add others. */
export function useEventTypes(): readonly string[] {
  const may = useMay();
  return TYPES.filter(([, scope]) => may(scope)).flatMap(([kind, , verbs]) =>
    verbs.map((verb) => `${kind}.${verb}`),
  );
}
