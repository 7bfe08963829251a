import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `create table lead_import_results (
    organization_id uuid not null references organizations (id),
    import_id uuid not null,
    line integer not null,
    action text not null,
    lead_id uuid,
    primary key (organization_id, import_id, line),
    foreign key (organization_id, import_id) references lead_imports (organization_id, id) on delete cascade
  )`,
  'create index lead_import_results_by_lead on lead_import_results (organization_id, lead_id) where lead_id is not null',
  'alter table lead_import_results enable row level security',
  'alter table lead_import_results force row level security',
  `create policy tenant on lead_import_results
    using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on lead_import_results to latitude_app;
     end if;
   end $$`,
];

/** What became of the lines of imports that were carried out: the action, and the lead unless it is erased. */
export class LeadImportResults1767000000400 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the foreign keys lock the other tables against writes until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table lead_import_results');
  }
}
