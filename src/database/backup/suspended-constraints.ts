import type pg from 'pg';
import type { StoredTable } from './catalogue.js';

/**
 * What keeps rows from being copied as they were, each with the statement that brings it back:
 * triggers, which would count rows again; foreign keys, which ask for an order of the tables; and
 * row-level security that binds the owner of a table, who could not COPY into it.
 */
const RULES = `
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
 * Takes the rules of tables away within a transaction, so that no other one ever sees them gone.
 * @returns what brings them back; foreign keys are checked then
 */
export async function suspendConstraints(
  client: pg.Client,
  tables: readonly StoredTable[],
): Promise<() => Promise<void>> {
  const names = tables.map(({ sql }) => sql);
  const { rows } = await client.query<{ suspend: string; resume: string }>(RULES, [names]);
  for (const { suspend } of rows) await client.query(suspend);
  return async () => {
    // A table with checks that still wait cannot be altered.
    await client.query('set constraints all immediate');
    for (const { resume } of rows) await client.query(resume);
  };
}
