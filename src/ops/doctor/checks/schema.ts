import { type Checks, failed, type Finding, ok, together, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';
import type { Difference, Kind } from '../schema-picture.js';
import { remedyOf } from '../schema-remedy.js';

/** What checks of the schema use. */
export interface SchemaContext extends DatabaseContext {
  /** How the database differs from the schema that the migrations create. */
  readonly differences: readonly Difference[];
}

/** Whether the schema is the one that the migrations create. */
export const SCHEMA_CHECKS: Checks<SchemaContext> = {
  tables: ({ differences }) => {
    const kinds: readonly Kind[] = ['table', 'column', 'sequence', 'collation'];
    const found = differences.filter((each) => kinds.includes(each.kind) && !isRowSecurity(each));
    return describe(
      found.filter(isNeeded),
      'All tables and columns are as the migrations made them.',
    );
  },

  indexes: async ({ sql, differences }) => {
    const invalid = await sql.read<{ name: string; table: string }>(FIND_INVALID_INDEXES);
    const findings = invalid.map(({ name, table }) =>
      warning(
        `The index ${name} of ${table} is invalid: writes keep it, but no query uses it.`,
        `reindex index concurrently ${name};`,
      ),
    );
    const found = differences.filter((each) => each.kind === 'index' && isNeeded(each));
    const all = 'All indexes of Latitude exist and are valid.';
    const retired = differences.filter(isRetired).map(({ name }) => name);
    return together(
      [...findings, ...found.map(findingOf)],
      ok(retired.length === 0 ? all : `${all} ${onlyBefore(retired)}`),
    );
  },

  constraints: ({ differences }) =>
    describe(
      differences.filter(({ kind }) => kind === 'constraint'),
      'All constraints are as the migrations made them.',
    ),

  triggers: ({ differences }) =>
    describe(
      differences.filter(({ kind }) => kind === 'trigger'),
      'All triggers are enabled, and as the migrations made them.',
    ),

  functions: ({ differences }) =>
    describe(
      differences.filter(({ kind }) => kind === 'function'),
      'All functions are as the migrations made them.',
    ),

  policies: ({ differences }) => {
    const found = differences.filter((each) => each.kind === 'policy' || isRowSecurity(each));
    return describe(found, 'Row-level security is on with its policies on every table.');
  },
};

/** Whether a part is one of Latitude. Indexes that an operator adds are fine, and so are columns. */
function isNeeded({ expected }: Difference): boolean {
  return expected !== undefined;
}

/** Indexes of release 0.4.0, which does not start without them. */
const RETIRED = ['leads_by_updated_at', 'appointments_by_updated_at', 'tasks_by_updated_at'];

function isRetired({ kind, name, expected }: Difference): boolean {
  return kind === 'index' && expected === undefined && RETIRED.includes(name);
}

function onlyBefore(names: readonly string[]): string {
  const drops = names.map((name) => `drop index concurrently ${name};`);
  return `Only release 0.4.0 needs ${names.join(', ')}. When you will not go back to it, make updates cheaper: ${drops.join(' ')}`;
}

const FORCED = 'row level security forced';

/** Whether a table lacks its row-level security. */
function isRowSecurity({ kind, expected, actual }: Difference): boolean {
  return (
    kind === 'table' && expected?.includes(FORCED) === true && actual?.includes(FORCED) === false
  );
}

function describe(differences: readonly Difference[], whenNone: string): Finding {
  return together(differences.map(findingOf), ok(whenNone));
}

function findingOf(difference: Difference): Finding {
  const { kind, table, name, expected, actual } = difference;
  const part = `The ${kind} ${name}${table === undefined ? '' : ` of ${table}`}`;
  if (isRowSecurity(difference)) {
    return failed(
      `Row-level security is not enabled and forced on ${name}.`,
      `alter table ${name} enable row level security, force row level security;`,
    );
  }
  const remedy = remedyOf(difference);
  if (actual === undefined) return failed(`${part} is missing.`, remedy);
  if (expected !== undefined) return failed(`${part} is not as the migrations made it.`, remedy);
  const added = `${part} is not one of Latitude`;
  return kind === 'policy'
    ? failed(`${added}, and can show rows of other organizations.`, remedy)
    : warning(`${added}, and can refuse or change its writes.`, `If it is not yours: ${remedy}`);
}

const FIND_INVALID_INDEXES = `
  select indexrelid::regclass::text as name, indrelid::regclass::text as table
  from pg_index join pg_class on pg_class.oid = indexrelid
  where not indisvalid and relkind = 'i' and relnamespace = current_schema()::regnamespace order by 1`;
