import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The columns that an event has from the change on. */
const COLUMNS = `
  organization_id uuid not null,
  type text collate "C" not null,
  record_id uuid not null,
  record json not null,
  changed text[] not null,
  key_id text,
  channel text,
  request_id text,
  origin integer not null default 0,
  created_at timestamptz(3) not null default clock_timestamp()`;

/**
 * Without foreign keys, which each insert would check. The removal of an organization empties both tables
 * last.
 */
const STATEMENTS = [
  `create table event_outbox (seq bigint generated always as identity primary key, ${COLUMNS})`,
  `create table events (position bigint not null, ${COLUMNS}, primary key (position))
    partition by range (position)`,
  'create table events_default partition of events default',
  'create index events_by_organization on events (organization_id, position)',
  'create index events_by_record on events (record_id)',
  // At most one row. Its lock admits one publisher at a time.
  `create table event_position (
    only_row boolean primary key default true check (only_row),
    last bigint not null default 0,
    expired_before bigint not null default 0
  )`,
  // The durable handlers, each with the position of the last event that it has processed.
  `create table event_handlers (
    name text collate "C" primary key,
    position bigint not null,
    run_at timestamptz(3) not null default now(),
    claim uuid,
    failures integer not null default 0,
    last_error text
  )`,
  ...['event_outbox', 'events'].flatMap((table) => [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
    // The publisher runs as the database user and moves events of all organizations.
    `create policy worker on ${table} using (current_setting('app.job_worker', true) = 'on' and current_user <> 'latitude_app')`,
    `do $$ begin
       if exists (select from pg_roles where rolname = 'latitude_app') then
         grant select, insert, update, delete on ${table} to latitude_app;
       end if;
     end $$`,
  ]),
];

/**
 * Events of changed records: written to `event_outbox` with the change, numbered and moved to `events`
 * after its commit.
 */
export class Events1764633600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table event_outbox, events, event_position, event_handlers');
  }
}
