import type { MigrationInterface, QueryRunner } from 'typeorm';

const FORMS = ['email', 'phone', 'name_zip', 'name_company'];

const STATEMENTS = [
  `create table lead_forms (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    ${FORMS.map((name) => `${name} uuid`).join(', ')},
    group_id uuid,
    primary key (organization_id, id)
  )`,
  ...[...FORMS, 'group_id'].map(
    (name) => `create index lead_forms_by_${name} on lead_forms (organization_id, ${name}, id)
      where ${name} is not null`,
  ),
  'alter table lead_forms enable row level security',
  'alter table lead_forms force row level security',
  `create policy tenant on lead_forms
    using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on lead_forms to latitude_app;
     end if;
   end $$`,
  // The handler gets every event from now on, also those of instances of an earlier version.
  `insert into event_handlers (name, position)
   select 'latitude.lead-forms', coalesce((select last from event_position), 0) on conflict do nothing`,
];

/** The forms of leads by which likely duplicates are found, and the group of each lead. */
export class LeadForms1767200000400 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the foreign key locks `organizations` against writes until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table lead_forms');
    await runner.query(`delete from event_handlers where name = 'latitude.lead-forms'`);
    await runner.query(`select set_config('app.job_worker', 'on', true)`);
    await runner.query(`delete from jobs where name = 'latitude.lead-forms'`);
  }
}
