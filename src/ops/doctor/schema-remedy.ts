import type { Difference } from './schema-picture.js';

/** What to do about parts for which there is no short statement. */
const BY_HAND =
  'Make them as dist/src/ops/doctor/schema.txt of this version describes them, or restore a backup into a new database.';

/** The statement that makes a part as the migrations make it, or what to do if there is none. */
export function remedyOf({ kind, table, name, expected, actual }: Difference): string {
  if (expected === undefined) {
    return kind === 'constraint'
      ? `alter table ${table} drop constraint ${name};`
      : `drop ${kind} ${name} on ${table};`;
  }
  const drop = actual === undefined ? '' : `drop ${kind} ${name} on ${table}; `;
  switch (kind) {
    case 'index':
      return remedyOfIndex(name, table, expected, actual);
    case 'trigger':
      // `actual` ends with the state of a trigger that is not enabled.
      return actual?.replace(/ (disabled|replica|always)$/, '') === expected
        ? `alter table ${table} enable trigger ${name};`
        : `${drop}create trigger ${name} ${expected};`;
    case 'policy':
      return `${drop}create policy ${name} on ${table} ${expected};`;
    case 'constraint':
      return actual === `${expected} NOT VALID`
        ? `alter table ${table} validate constraint ${name};`
        : `alter table ${table} ${actual === undefined ? '' : `drop constraint ${name}, `}add constraint ${name} ${expected};`;
    default:
      return BY_HAND;
  }
}

function remedyOfIndex(
  name: string,
  table: string | undefined,
  expected: string,
  actual: string | undefined,
): string {
  const [, unique = '', definition] = /^(unique )?(.*)$/.exec(expected) ?? [];
  const drop = actual === undefined ? '' : `drop index concurrently ${name}; `;
  return `${drop}create ${unique}index concurrently ${name} on ${table} ${definition};`;
}
