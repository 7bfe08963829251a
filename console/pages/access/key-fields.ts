import type { ApiKey, Me } from 'latitude/client';
import type { FieldSpec } from '../../forms/kinds.js';
import { texts } from '../../texts.js';

const { labels, hints } = texts.access;

/** The fields of a new key, which may do at most what the key of the person may do. */
export function keyFieldsOf({ scopes, limits }: Me): readonly FieldSpec[] {
  return [
    { name: 'name', label: labels.name, kind: 'text', isRequired: true, hint: hints.name },
    {
      name: 'scopes',
      label: labels.scopes,
      kind: 'choices',
      isRequired: true,
      options: scopes.map((scope) => ({ value: scope, label: scope })),
    },
    { name: 'expires_at', label: labels.expires_at, kind: 'time', hint: hints.expires_at },
    {
      name: 'reads_per_minute',
      label: labels.reads_per_minute,
      kind: 'number',
      hint: hints.limit(limits.reads_per_minute),
    },
    {
      name: 'writes_per_minute',
      label: labels.writes_per_minute,
      kind: 'number',
      hint: hints.limit(limits.writes_per_minute),
    },
    {
      name: 'confirmations',
      label: labels.confirmations,
      kind: 'choice',
      isRequired: true,
      options: (['never', 'ask'] as const).map((value) => ({
        value,
        label: texts.access.confirmations[value],
      })),
    },
  ];
}

type Ending = Pick<ApiKey, 'revoked_at' | 'expires_at'>;

/** Whether a key or a grant is valid, and if not, why. */
export function stateOf({ revoked_at, expires_at }: Ending): 'valid' | 'revoked' | 'expired' {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'valid';
}
