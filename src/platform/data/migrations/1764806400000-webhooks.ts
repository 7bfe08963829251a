import type { MigrationInterface, QueryRunner } from 'typeorm';

const TIME = `timestamptz(3) not null default date_trunc('milliseconds', now())`;

const STATEMENTS = [
  `create table webhooks (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    url text not null,
    types text[] not null,
    description text,
    enabled boolean not null,
    scopes text[] not null,
    secret text not null,
    previous_secret text,
    previous_secret_expires_at timestamptz(3),
    failing_since timestamptz(3),
    disabled_reason text,
    created_at ${TIME},
    updated_at ${TIME},
    primary key (organization_id, id)
  )`,
  'create index webhooks_by_created_at on webhooks (organization_id, created_at, id)',
  // The order of `seq` is the order of the events of a record.
  `create table webhook_deliveries (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    webhook_id uuid not null,
    seq bigint not null generated always as identity,
    event_id text collate "C" not null,
    type text not null,
    record_id uuid not null,
    body text not null,
    status text not null default 'pending',
    attempts integer not null default 0,
    next_attempt_at timestamptz(3),
    last_attempt_at timestamptz(3),
    duration_ms integer,
    response_status integer,
    response_body text,
    error text,
    created_at ${TIME},
    updated_at ${TIME},
    primary key (organization_id, id),
    foreign key (organization_id, webhook_id) references webhooks (organization_id, id) on delete cascade
  )`,
  `create unique index webhook_deliveries_by_event
    on webhook_deliveries (organization_id, webhook_id, event_id)`,
  `create index webhook_deliveries_by_webhook_id
    on webhook_deliveries (organization_id, webhook_id, created_at, id)`,
  `create index webhook_deliveries_by_created_at on webhook_deliveries (organization_id, created_at, id)`,
  `create index webhook_deliveries_by_record_id on webhook_deliveries (organization_id, record_id)`,
  `create index webhook_deliveries_due on webhook_deliveries (organization_id, webhook_id, next_attempt_at, seq)
    where status = 'pending' and next_attempt_at is not null`,
  `create index webhook_deliveries_waiting
    on webhook_deliveries (organization_id, webhook_id, record_id, seq) where status = 'pending'`,
  ...['webhooks', 'webhook_deliveries'].flatMap((table) => [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
    `do $$ begin
       if exists (select from pg_roles where rolname = 'latitude_app') then
         grant select, insert, update, delete on ${table} to latitude_app;
       end if;
     end $$`,
  ]),
];

/**
 * Webhooks and their deliveries. A pending delivery without a `next_attempt_at` waits for an earlier one of
 * its webhook and record.
 */
export class Webhooks1764806400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the foreign keys lock `organizations` against writes until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table webhook_deliveries, webhooks');
  }
}
