import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Records {
  readonly name: string;
  /** The condition of records that are not deleted. */
  readonly notDeleted: string;
  /** The columns by whose values the triggers count. */
  readonly counted: readonly string[];
}

const NOT_DELETED = 'deleted_at is null';

const RECORDS: readonly Records[] = [
  { name: 'leads', notDeleted: NOT_DELETED, counted: ['status', 'temperature', 'source'] },
  { name: 'appointments', notDeleted: 'true', counted: ['status', 'type'] },
  {
    name: 'tasks',
    notDeleted: NOT_DELETED,
    counted: ['status', 'assigned_to_user_id', 'priority'],
  },
];

/** Records whose times are copied at a time. They are locked meanwhile. */
const BATCH = 500;

/** Room on the pages of records, so that the next version of a record fits on the page of the last one. */
const FILLFACTOR = 85;

const TENANT = `organization_id = nullif(current_setting('app.organization_id', true), '')::uuid`;

function createTable({ name }: Records): string[] {
  const table = `${name}_update_times`;
  return [
    `create table ${table} (organization_id uuid not null, id uuid not null,
       updated_at timestamptz(3) not null, primary key (organization_id, id))`,
    `create index ${table}_in_order on ${table} (organization_id, updated_at, id)`,
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (${TENANT})`,
    `do $$ begin
       if exists (select from pg_roles where rolname = 'latitude_app') then
         grant select, insert, update, delete on ${table} to latitude_app;
       end if;
     end $$`,
  ];
}

/** Waits for the writers whose uncommitted records the earlier functions have counted. */
const LOCK = `lock table ${RECORDS.map(({ name }) => name).join(', ')} in share row exclusive mode`;

const OPERATIONS = { insert: ['new'], update: ['old', 'new'], delete: ['old'] } as const;

/** The functions of the triggers that exist. They count, and keep the times of records that are not deleted. */
function functionsOf(records: Records, keepsTimes: boolean): string[] {
  const { name } = records;
  const table = `${name}_update_times`;
  const add = `insert into ${table} as times (organization_id, id, updated_at)
         select organization_id, id, updated_at from new_rows where ${records.notDeleted}`;
  // A record that is restored has no time.
  const set = `${add}
         on conflict (organization_id, id) do update set updated_at = excluded.updated_at
           where times.updated_at <> excluded.updated_at`;
  const remove = `delete from ${table} times using old_rows
         where times.organization_id = old_rows.organization_id and times.id = old_rows.id`;
  const statements = { insert: add, update: set, delete: remove };
  return [
    ...Object.entries(OPERATIONS).map(([operation, ages]) => {
      const times = statements[operation as keyof typeof statements];
      const body = [...(keepsTimes ? [times] : []), count(records, ages)].join(';\n         ');
      return functionOf(`${name}_count_${operation}`, `${body};`);
    }),
    functionOf(
      `${name}_count_truncate`,
      `${keepsTimes ? `truncate ${table};` : ''}
       update record_counts set records = 0, version = version + 1 where resource = '${name}';`,
    ),
  ];
}

function functionOf(name: string, body: string): string {
  return `create or replace function ${name}() returns trigger language plpgsql set search_path from current
    as $$ begin
         ${body}
         return null;
       end $$`;
}

/** Each statement locks the counts in the same order, which prevents deadlocks. */
function count({ name, notDeleted, counted }: Records, ages: readonly ('old' | 'new')[]): string {
  const changed = ages.map((age) => {
    const columns = ['organization_id', `${age === 'new' ? '1' : '-1'} as change`, ...counted];
    return `select ${columns.join(', ')} from ${age}_rows where ${notDeleted}`;
  });
  const values = [`('', '')`, ...counted.map((column) => `('${column}', ${column}::text)`)];
  return `insert into record_counts as counts
           (organization_id, resource, filter, value, shard, records, version)
         select organization_id, '${name}', filter, value,
           pg_backend_pid() % 32, sum(change), 1 + (random() * 1000000)::int
         from (${changed.join(' union all ')}) changed
           cross join lateral (values ${values.join(', ')}) as each_count (filter, value)
         where value is not null
         group by organization_id, filter, value having filter = '' or sum(change) <> 0
         order by organization_id, filter, value
         on conflict (organization_id, resource, filter, value, shard) do update
           set records = counts.records + excluded.records, version = counts.version + excluded.version`;
}

/** A trigger for each row, because most updates set none of these columns and then cost nothing. */
function forgetEarlier({ name, notDeleted }: Records): string[] {
  const table = `${name}_update_times`;
  const isMoved = '(old.organization_id, old.id) <> (new.organization_id, new.id)';
  const [columns, isForgotten] =
    notDeleted === NOT_DELETED
      ? ['organization_id, id, deleted_at', `new.deleted_at is not null or ${isMoved}`]
      : ['organization_id, id', isMoved];
  return [
    functionOf(
      `${name}_forget_update_time`,
      `delete from ${table} where organization_id = old.organization_id and id = old.id;`,
    ),
    `create trigger ${name}_forget_update_time after update of ${columns} on ${name} for each row
       when (${isForgotten}) execute function ${name}_forget_update_time()`,
  ];
}

/**
 * Keeps the times of the last changes in tables of their own, which triggers write, also for instances of an earlier version.
 * With an index on `updated_at`, each update of a record writes all of its indexes.
 */
export class UpdateTimes1767700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of RECORDS.flatMap(createTable)) await runner.query(statement);
    // In one round trip, because the tables of the records are locked until the commit.
    const functions = RECORDS.flatMap((records) => functionsOf(records, true));
    await runner.query([LOCK, ...functions, ...RECORDS.flatMap(forgetEarlier)].join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    const functions = RECORDS.flatMap((records) => functionsOf(records, false));
    const forgotten = RECORDS.map(
      ({ name }) => `drop function ${name}_forget_update_time() cascade`,
    );
    await runner.query([LOCK, ...functions, ...forgotten].join(';\n'));
    for (const { name } of RECORDS) await runner.query(`drop table ${name}_update_times`);
  }
}

/** Copies the times of the records that exist. The triggers keep those of concurrent writes. */
export class CopyUpdateTimes1767700000001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = (await runner.query('select id from organizations')) as { id: string }[];
    for (const { id } of organizations) {
      for (const records of RECORDS) await copyTimes(runner, id, records);
    }
  }

  async down(): Promise<void> {
    // The times are dropped with their tables.
  }
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

async function copyTimes(
  runner: QueryRunner,
  organization: string,
  { name, notDeleted }: Records,
): Promise<void> {
  // The lock keeps a record from being changed or deleted before its time is committed.
  const copy = `with record as materialized (
      select id, updated_at from ${name} where organization_id = $1 and ${notDeleted} and id > $2
      order by id limit ${BATCH} for share),
    copied as (insert into ${name}_update_times (organization_id, id, updated_at)
      select $1, id, updated_at from record on conflict do nothing)
    select id from record order by id desc limit 1`;
  let last: string | undefined = FIRST_ID;
  while (last !== undefined) {
    await runner.startTransaction();
    // Row-level security may bind the owner of the tables, too.
    await runner.query(`select set_config('app.organization_id', $1, true)`, [organization]);
    const rows = (await runner.query(copy, [organization, last])) as { id: string }[];
    await runner.commitTransaction();
    last = rows[0]?.id;
  }
}

/**
 * Leaves room on the pages, so that PostgreSQL can write the next version of a record without its indexes (HOT). In a new
 * database, it also drops the indexes on `updated_at`. They stay in a database with organizations, because release 0.4.0
 * does not start without them (docs/operating/upgrades.md).
 */
export class HotUpdates1767700000002 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = (await runner.query('select from organizations limit 1')) as object[];
    for (const { name } of RECORDS) {
      await runner.query(`alter table ${name} set (fillfactor = ${FILLFACTOR})`);
      if (organizations.length > 0) continue;
      await runner.query(`drop index concurrently if exists ${name}_by_updated_at`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name, notDeleted } of RECORDS) {
      const condition = notDeleted === NOT_DELETED ? `where ${NOT_DELETED}` : '';
      await runner.query(`alter table ${name} reset (fillfactor)`);
      await runner.query(`create index concurrently if not exists ${name}_by_updated_at
        on ${name} (organization_id, updated_at, id) ${condition}`);
    }
  }
}

/** Columns without which many records are created. */
const PARTIAL: Readonly<Record<string, string>> = {
  leads_by_status: 'leads (organization_id, status, created_at, id)',
  leads_by_temperature: 'leads (organization_id, temperature, created_at, id)',
  tasks_by_assignee: 'tasks (organization_id, assigned_to_user_id, created_at, id)',
};

/** Leaves records without a value out of indexes by which they are only found by a value. */
export class PartialIndexes1767700000003 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await rebuild(runner, (column) => `${NOT_DELETED} and ${column} is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await rebuild(runner, () => NOT_DELETED);
  }
}

async function rebuild(runner: QueryRunner, condition: (column: string) => string): Promise<void> {
  for (const [name, definition] of Object.entries(PARTIAL)) {
    const column = definition.split(', ')[1] ?? '';
    // An interrupted build leaves an invalid index.
    await runner.query(`drop index concurrently if exists ${name}_new`);
    await runner.query(
      `create index concurrently ${name}_new on ${definition} where ${condition(column)}`,
    );
    await runner.query(`drop index concurrently if exists ${name}`);
    await runner.query(`alter index ${name}_new rename to ${name}`);
  }
}
