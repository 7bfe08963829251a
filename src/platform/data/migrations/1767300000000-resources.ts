import type { MigrationInterface, QueryRunner } from 'typeorm';

const TIME = `timestamptz(3) not null default date_trunc('milliseconds', now())`;

const STATEMENTS = [
  `create table resources (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    name text not null,
    user_id uuid,
    time_zone text not null,
    hours jsonb,
    exceptions jsonb not null,
    buffer_before_minutes integer not null,
    buffer_after_minutes integer not null,
    active boolean not null,
    created_at ${TIME},
    updated_at ${TIME},
    deleted_at timestamptz(3),
    primary key (organization_id, id)
  )`,
  'create index resources_by_created_at on resources (organization_id, created_at, id) where deleted_at is null',
  'create index resources_by_updated_at on resources (organization_id, updated_at, id) where deleted_at is null',
  'create index resources_deleted on resources (organization_id, deleted_at) where deleted_at is not null',
  'alter table resources enable row level security',
  'alter table resources force row level security',
  `create policy tenant on resources
    using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  `create trigger refuse_entity_manager before insert or update or delete on resources
    for each statement execute function refuse_entity_manager()`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on resources to latitude_app;
     end if;
   end $$`,
];

/** The people, rooms and the like whose time appointments take. */
export class Resources1767300000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the foreign key locks organizations against writes until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table resources');
  }
}
