import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `create table jobs (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    name text collate "C" not null,
    payload json not null,
    record_ids uuid[] not null,
    key text collate "C",
    ordering_key text collate "C",
    attempts integer not null default 0,
    run_at timestamptz(3) not null,
    created_at timestamptz(3) not null default now(),
    failed_at timestamptz(3),
    last_error text,
    primary key (organization_id, id)
  )`,
  `create index jobs_by_run_at on jobs (name, run_at) where failed_at is null`,
  `create unique index jobs_by_key on jobs (organization_id, name, key)
    where key is not null and failed_at is null`,
  `create index jobs_by_ordering_key on jobs (organization_id, name, ordering_key, id)
    where ordering_key is not null and failed_at is null`,
  `create index jobs_by_failed_at on jobs (failed_at) where failed_at is not null`,
  `alter table jobs enable row level security`,
  `alter table jobs force row level security`,
  `create policy tenant on jobs using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  // The worker runs as the database user and takes jobs of all organizations.
  `create policy worker on jobs using (current_setting('app.job_worker', true) = 'on' and current_user <> 'latitude_app')`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on jobs to latitude_app;
     end if;
   end $$`,
  `create table job_schedules (
    name text collate "C" primary key,
    next_run_at timestamptz(3) not null,
    locked_until timestamptz(3)
  )`,
];

export class Jobs1764547200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the foreign key locks `organizations` against writes until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table jobs, job_schedules');
  }
}
