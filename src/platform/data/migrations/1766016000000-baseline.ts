import { readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose rows are visible to their organization alone. */
const TENANT_TABLES = [
  ...['leads', 'appointments', 'tasks', 'record_counts', 'idempotency_keys', 'jobs'],
  ...['event_outbox', 'events', 'webhooks', 'webhook_deliveries'],
];

/** Tables from which background work, as the database user, takes rows of all organizations. */
const WORKER_TABLES = ['jobs', 'event_outbox', 'events'];

interface CountedTable {
  readonly name: string;
  /** The condition of records that are not deleted. */
  readonly notDeleted: string;
  /** The columns by whose values records are counted as well. */
  readonly counted: readonly string[];
}

const COUNTED_TABLES: readonly CountedTable[] = [
  { name: 'leads', notDeleted: 'deleted_at is null', counted: ['status', 'temperature'] },
  { name: 'appointments', notDeleted: 'true', counted: ['status'] },
  { name: 'tasks', notDeleted: 'deleted_at is null', counted: ['status', 'assigned_to_user_id'] },
];

const OPERATIONS = { insert: ['new'], update: ['old', 'new'], delete: ['old'] } as const;

/**
 * Makes the schema of release 0.3.0, and records the names of the migrations that made it until then. Its own name is that
 * of the last one, so that it does nothing on a database of 0.3.0 or later.
 */
export class Baseline1766016000000 implements MigrationInterface {
  readonly name = 'McpSessionEnds1766016000000';

  /** The migrations of which it does the work, in their order, besides the one that it is named after. */
  readonly replaces = [
    'InitialSchema1763683200000',
    'AppointmentsAndTasks1763769600000',
    'PurgeIndexes1763856000000',
    'RecordCounts1763942400000',
    'CountRecords1763942400001',
    'SearchIndexes1764028800000',
    'IdempotencyKeys1764115200000',
    'SearchText1764201600000',
    'FillSearchText1764201600001',
    'SearchTextIndexes1764201600002',
    'ContactIdentity1764288000000',
    'AnsweredRecords1764374400000',
    'McpSessions1764460800000',
    'Jobs1764547200000',
    'Events1764633600000',
    'JobRepeats1764720000000',
    'Webhooks1764806400000',
    'McpStreamNumbers1764892800000',
    'RandomCountVersions1764979200000',
    'QueueSearchTexts1765065600000',
    'LeadsToRefill1765065600001',
    'OrderOfNames1765152000000',
  ];

  async up(runner: QueryRunner): Promise<void> {
    const tables = readFileSync(new URL('1766016000000-baseline.sql', import.meta.url), 'utf8');
    const statements = [
      tables,
      ...TENANT_TABLES.flatMap(protect),
      ...WORKER_TABLES.map(admitWorker),
      ...COUNTED_TABLES.flatMap(createTriggers),
    ];
    await runner.query(statements.join(';\n'));
    await runner.query(
      `insert into migrations (timestamp, name)
       select right(name, 13)::bigint, name from unnest($1::text[]) with ordinality as replaced (name, n) order by n`,
      [this.replaces],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const others =
      'organizations, api_keys, mcp_sessions, job_schedules, event_position, event_handlers';
    const functions = COUNTED_TABLES.flatMap(({ name }) =>
      [...Object.keys(OPERATIONS), 'truncate'].map((operation) => `${name}_count_${operation}`),
    );
    await runner.query(`drop table ${TENANT_TABLES.join(', ')}, ${others}, typeorm_metadata;
      drop function leads_search_text, ${functions.join(', ')};
      drop collation latitude_names`);
    await runner.query('delete from migrations where name = any($1)', [this.replaces]);
  }
}

/** Puts a table under row-level security: a row is visible to its organization alone. Each start grants the tenant role its privileges. */
function protect(table: string): string[] {
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  ];
}

function admitWorker(table: string): string {
  return `create policy worker on ${table} using (current_setting('app.job_worker', true) = 'on' and current_user <> 'latitude_app')`;
}

function createTriggers(table: CountedTable): string[] {
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
           pg_backend_pid() % 32, sum(change), 1 + (random() * 1000000)::int
         from (${rows.map((age) => changedRows(table, age)).join(' union all ')}) changed
           cross join lateral ${countedValues(table)}
         where value is not null
         group by organization_id, filter, value having filter = '' or sum(change) <> 0
         order by organization_id, filter, value
         on conflict (organization_id, resource, filter, value, shard) do update
  set records = counts.records + excluded.records, version = counts.version + excluded.version;
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

function changedRows({ counted, notDeleted }: CountedTable, age: 'new' | 'old'): string {
  const columns = ['organization_id', `${age === 'new' ? '1' : '-1'} as change`, ...counted];
  return `select ${columns.join(', ')} from ${age}_rows where ${notDeleted}`;
}

function countedValues({ counted }: CountedTable): string {
  const values = [`('', '')`, ...counted.map((column) => `('${column}', ${column}::text)`)];
  return `(values ${values.join(', ')}) as each_count (filter, value)`;
}
