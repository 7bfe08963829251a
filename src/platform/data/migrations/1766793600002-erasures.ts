import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // A lead has a person: the id of one of the leads that were erased together.
  `create table erasures (
    organization_id uuid not null references organizations (id),
    record_id uuid not null,
    person_id uuid,
    erased_at timestamptz(3) not null,
    primary key (organization_id, record_id)
  )`,
  'create index erasures_by_person on erasures (organization_id, person_id) where person_id is not null',
  'alter table erasures enable row level security',
  'alter table erasures force row level security',
  `create policy tenant on erasures using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on erasures to latitude_app;
     end if;
   end $$`,
];

/** The ids of erased records. */
export class Erasures1766793600002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the foreign key locks `organizations` against writes until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table erasures');
  }
}
