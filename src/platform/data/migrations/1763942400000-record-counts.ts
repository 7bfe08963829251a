import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Table {
  readonly name: string;
  /** The condition of records that are not deleted. */
  readonly notDeleted: string;
  /** The columns by whose values records are counted as well. */
  readonly counted: readonly string[];
}

const TABLES: readonly Table[] = [
  { name: 'leads', notDeleted: 'deleted_at is null', counted: ['status', 'temperature'] },
  { name: 'appointments', notDeleted: 'true', counted: ['status'] },
  { name: 'tasks', notDeleted: 'deleted_at is null', counted: ['status', 'assigned_to_user_id'] },
];

const CREATE_RECORD_COUNTS = [
  `create table record_counts (
    organization_id uuid not null,
    resource text collate "C" not null,
    filter text collate "C" not null,
    value text collate "C" not null,
    shard smallint not null,
    records bigint not null,
    version bigint not null,
    primary key (organization_id, resource, filter, value, shard)
  ) with (fillfactor = 50)`,
  `alter table record_counts enable row level security`,
  `alter table record_counts force row level security`,
  `create policy tenant on record_counts using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  `do $$ begin
       if exists (select from pg_roles where rolname = 'latitude_app') then
         grant select, insert, update, delete on record_counts to latitude_app;
       end if;
     end $$`,
];

/** Creates the triggers that count records. Writers wait only for their creation. */
export class RecordCounts1763942400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...CREATE_RECORD_COUNTS, ...TABLES.flatMap(createTriggers)]) {
      await runner.query(statement);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES.flatMap(dropTriggers), 'drop table record_counts']) {
      await runner.query(statement);
    }
  }
}

/** Counts the records that existed before the triggers, without locking out writers. */
export class CountRecords1763942400001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = (await runner.query('select id from organizations')) as { id: string }[];
    for (const { id } of organizations) {
      await runner.startTransaction();
      // Row-level security may bind the owner of the tables, too.
      await runner.query(`select set_config('app.organization_id', $1, true)`, [id]);
      await runner.query('select pg_advisory_xact_lock(7284914, hashtext($1::text))', [id]);
      for (const table of TABLES) await runner.query(countRecords(table), [id]);
      await runner.commitTransaction();
    }
  }

  async down(): Promise<void> {
    // The counts are dropped with their table.
  }
}

const OPERATIONS = { insert: ['new'], update: ['old', 'new'], delete: ['old'] } as const;

const ADD_TO_COUNTS = `on conflict (organization_id, resource, filter, value, shard) do update
  set records = counts.records + excluded.records, version = counts.version + excluded.version`;

function createTriggers(table: Table): string[] {
  const { name } = table;
  const perOperation = Object.entries(OPERATIONS).flatMap(([operation, rows]) => {
    const trigger = `${name}_count_${operation}`;
    const transitions = rows.map((age) => `${age} table as ${age}_rows`).join(' ');
    return [
      // Each statement locks the counts in the same order, which prevents deadlocks.
      `create function ${trigger}() returns trigger language plpgsql set search_path from current
       as $$ begin
         insert into record_counts as counts
           (organization_id, resource, filter, value, shard, records, version)
         select organization_id, '${name}', filter, value,
           pg_backend_pid() % 32, sum(change), count(*)
         from (${rows.map((age) => changedRows(table, age)).join(' union all ')}) changed
           cross join lateral ${countedValues(table)}
         where value is not null
         group by organization_id, filter, value having filter = '' or sum(change) <> 0
         order by organization_id, filter, value
         ${ADD_TO_COUNTS};
         return null;
       end $$`,
      `create trigger ${trigger} after ${operation} on ${name} referencing ${transitions}
       for each statement execute function ${trigger}()`,
    ];
  });
  return [
    ...perOperation,
    `create function ${name}_count_truncate() returns trigger language plpgsql
       set search_path from current
     as $$ begin
       update record_counts set records = 0, version = version + 1 where resource = '${name}';
       return null;
     end $$`,
    `create trigger ${name}_count_truncate after truncate on ${name}
     for each statement execute function ${name}_count_truncate()`,
  ];
}

function dropTriggers({ name }: Table): string[] {
  const operations = [...Object.keys(OPERATIONS), 'truncate'];
  return operations.map((operation) => `drop function ${name}_count_${operation} cascade`);
}

/** Adds what the counts of the organization `$1` lack, in one snapshot. */
function countRecords(table: Table): string {
  return `with drift as (select '${table.name}' as resource, filter, value,
      coalesce(counts.records, 0)::int as counted, coalesce(scan.records, 0)::int as actual
    from (select filter, value, count(*) as records
        from ${table.name} cross join lateral ${countedValues(table)}
        where organization_id = $1 and ${table.notDeleted} and value is not null
        group by filter, value) scan
      full join (select filter, value, sum(records) as records
        from record_counts where organization_id = $1 and resource = '${table.name}'
        group by filter, value) counts using (filter, value)
    where coalesce(counts.records, 0) <> coalesce(scan.records, 0)),
    booked as (
      insert into record_counts as counts
        (organization_id, resource, filter, value, shard, records, version)
      select $1, resource, filter, value, -1, actual - counted,
        (extract(epoch from clock_timestamp()) * 1000)::bigint
      from drift order by filter, value
      ${ADD_TO_COUNTS})
    select * from drift`;
}

function changedRows({ counted, notDeleted }: Table, age: 'new' | 'old'): string {
  const columns = ['organization_id', `${age === 'new' ? '1' : '-1'} as change`, ...counted];
  return `select ${columns.join(', ')} from ${age}_rows where ${notDeleted}`;
}

function countedValues({ counted }: Table): string {
  const values = [`('', '')`, ...counted.map((column) => `('${column}', ${column}::text)`)];
  return `(values ${values.join(', ')}) as each_count (filter, value)`;
}
