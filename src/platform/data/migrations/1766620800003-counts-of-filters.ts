import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Table {
  readonly name: string;
  /** The condition of records that are not deleted. */
  readonly notDeleted: string;
  /** The columns by whose values the triggers count so far. */
  readonly counted: readonly string[];
  /** The column by whose values they count from now on. */
  readonly added: string;
}

const NOT_DELETED = 'deleted_at is null';

const TABLES: readonly Table[] = [
  { name: 'leads', notDeleted: NOT_DELETED, counted: ['status', 'temperature'], added: 'source' },
  { name: 'appointments', notDeleted: 'true', counted: ['status'], added: 'type' },
  {
    name: 'tasks',
    notDeleted: NOT_DELETED,
    counted: ['status', 'assigned_to_user_id'],
    added: 'priority',
  },
];

/** Waits for the writers whose uncommitted records the earlier triggers have counted. */
const LOCK = `lock table ${TABLES.map(({ name }) => name).join(', ')} in share row exclusive mode`;

/** Makes the triggers count records by further columns, so that lists that are filtered by them have exact totals. */
export class CountsOfFilters1766620800003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const functions = TABLES.flatMap((table) =>
      countFunctions(table, [...table.counted, table.added]),
    );
    // In one round trip, because the tables are locked until the commit.
    await runner.query([LOCK, ...functions].join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    const functions = TABLES.flatMap((table) => countFunctions(table, table.counted));
    const removed = TABLES.map(
      ({ name, added }) =>
        `delete from record_counts where resource = '${name}' and filter = '${added}'`,
    );
    await runner.query([LOCK, ...functions, ...removed].join(';\n'));
  }
}

/** Counts the existing records by these columns, without locking out writers. */
export class CountByFilters1766620800004 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = (await runner.query('select id from organizations')) as { id: string }[];
    for (const { id } of organizations) {
      await runner.startTransaction();
      // Row-level security may bind the owner of the tables, too.
      await runner.query(`select set_config('app.organization_id', $1, true)`, [id]);
      // The lock of repairs.
      await runner.query('select pg_advisory_xact_lock(7284914, hashtext($1::text))', [id]);
      for (const table of TABLES) await runner.query(countRecords(table), [id]);
      await runner.commitTransaction();
    }
  }

  async down(): Promise<void> {
    // The migration before removes the counts.
  }
}

const OPERATIONS = { insert: ['new'], update: ['old', 'new'], delete: ['old'] } as const;

const ADD_TO_COUNTS = `on conflict (organization_id, resource, filter, value, shard) do update
  set records = counts.records + excluded.records, version = counts.version + excluded.version`;

/** The functions of the triggers that exist. */
function countFunctions({ name, notDeleted }: Table, counted: readonly string[]): string[] {
  return Object.entries(OPERATIONS).map(
    // Each statement locks the counts in the same order, which prevents deadlocks.
    ([operation, rows]) => `create or replace function ${name}_count_${operation}() returns trigger
       language plpgsql set search_path from current
       as $$ begin
         insert into record_counts as counts
           (organization_id, resource, filter, value, shard, records, version)
         select organization_id, '${name}', filter, value,
           pg_backend_pid() % 32, sum(change), 1 + (random() * 1000000)::int
         from (${rows.map((age) => changedRows(age, notDeleted, counted)).join(' union all ')}) changed
           cross join lateral ${countedValues(counted)}
         where value is not null
         group by organization_id, filter, value having filter = '' or sum(change) <> 0
         order by organization_id, filter, value
         ${ADD_TO_COUNTS};
         return null;
       end $$`,
  );
}

/** Adds what the counts of the organization `$1` lack, in one snapshot. */
function countRecords({ name, notDeleted, added }: Table): string {
  return `with drift as (select filter, value,
      coalesce(counts.records, 0)::int as counted, coalesce(scan.records, 0)::int as actual
    from (select '${added}' as filter, ${added}::text as value, count(*) as records from ${name}
        where organization_id = $1 and ${notDeleted} and ${added} is not null group by ${added}) scan
      full join (select filter, value, sum(records) as records from record_counts
        where organization_id = $1 and resource = '${name}' and filter = '${added}'
        group by filter, value) counts using (filter, value)
    where coalesce(counts.records, 0) <> coalesce(scan.records, 0))
    insert into record_counts as counts
      (organization_id, resource, filter, value, shard, records, version)
    select $1, '${name}', filter, value, -1, actual - counted,
      (extract(epoch from clock_timestamp()) * 1000)::bigint
    from drift order by filter, value
    ${ADD_TO_COUNTS}`;
}

function changedRows(age: 'new' | 'old', notDeleted: string, counted: readonly string[]): string {
  const columns = ['organization_id', `${age === 'new' ? '1' : '-1'} as change`, ...counted];
  return `select ${columns.join(', ')} from ${age}_rows where ${notDeleted}`;
}

function countedValues(counted: readonly string[]): string {
  const values = [`('', '')`, ...counted.map((column) => `('${column}', ${column}::text)`)];
  return `(values ${values.join(', ')}) as each_count (filter, value)`;
}
