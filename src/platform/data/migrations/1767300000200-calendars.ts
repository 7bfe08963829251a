import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `create table calendars (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    resource_id uuid not null,
    details boolean not null,
    secret_hash bytea not null,
    created_at timestamptz(3) not null default date_trunc('milliseconds', now()),
    primary key (organization_id, id),
    foreign key (organization_id, resource_id) references resources (organization_id, id) on delete cascade
  )`,
  'create index calendars_by_created_at on calendars (organization_id, created_at, id)',
  'create index calendars_by_secret_hash on calendars (secret_hash)',
  'create index calendars_by_resource on calendars (organization_id, resource_id, created_at, id)',
  'alter table calendars enable row level security',
  'alter table calendars force row level security',
  `create policy tenant on calendars
    using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  // A calendar is found by the hash of its secret before its organization is known.
  `create policy worker on calendars
    using (current_setting('app.job_worker', true) = 'on' and current_user <> 'latitude_app')`,
  `create trigger refuse_entity_manager before insert or update or delete on calendars
    for each statement execute function refuse_entity_manager()`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on calendars to latitude_app;
     end if;
   end $$`,
];

/** The secret addresses at which calendar applications read the appointments of a resource. */
export class Calendars1767300000200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the foreign keys lock organizations and resources against writes until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table calendars');
  }
}
