import type pg from 'pg';
import type { StoredTable } from './catalogue.js';

/**
 * Statements that suspend and resume what prevents an exact copy of rows: triggers, which would count
 * rows again; foreign keys, which require an order of the tables; and forced row-level security, under
 * which the owner of a table cannot COPY into it.
 */
const CONSTRAINTS = `
  select format('alter table %s disable trigger %I', tgrelid::regclass, tgname) as suspend,
    format('alter table %s enable %s trigger %I', tgrelid::regclass,
      case tgenabled when 'A' then 'always' end, tgname) as resume
  from pg_trigger
  where tgrelid = any ($1::regclass[]) and not tgisinternal and tgparentid = 0
    and tgenabled in ('O', 'A')
  union all
  select format('alter table %s drop constraint %I', conrelid::regclass, conname),
    format('alter table %s add constraint %I %s', conrelid::regclass, conname,
      pg_get_constraintdef(oid))
  from pg_constraint
  where conrelid = any ($1::regclass[]) and contype = 'f' and conparentid = 0
  union all
  select format('alter table %s no force row level security', oid::regclass),
    format('alter table %s force row level security', oid::regclass)
  from pg_class where oid = any ($1::regclass[]) and relforcerowsecurity`;

/**
 * Suspends triggers, foreign keys and forced row-level security in a transaction, so that other
 * transactions never see the tables without them.
 * @returns function that resumes them, which also checks the foreign keys
 */
export async function suspendConstraints(
  client: pg.Client,
  tables: readonly StoredTable[],
): Promise<() => Promise<void>> {
  const names = tables.map(({ sql }) => sql);
  const { rows } = await client.query<{ suspend: string; resume: string }>(CONSTRAINTS, [names]);
  for (const { suspend } of rows) await client.query(suspend);
  return async () => {
    // A table with pending checks cannot be altered.
    await client.query('set constraints all immediate');
    for (const { resume } of rows) await client.query(resume);
  };
}
