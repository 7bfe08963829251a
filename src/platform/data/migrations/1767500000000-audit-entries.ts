import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // Without a foreign key: the entries of an operator have its id as that of their organization, and stay when an
  // organization is removed.
  `create table audit_entries (
    organization_id uuid not null,
    id uuid not null,
    type text not null,
    at timestamptz(3) not null,
    actor jsonb not null,
    address text,
    record jsonb not null,
    key_id uuid,
    record_id uuid,
    primary key (organization_id, id)
  )`,
  'create index audit_entries_by_at on audit_entries (organization_id, at, id)',
  'create index audit_entries_by_type on audit_entries (organization_id, type, at, id)',
  'create index audit_entries_by_key on audit_entries (organization_id, key_id, at, id) where key_id is not null',
  'create index audit_entries_by_record on audit_entries (organization_id, record_id, at, id) where record_id is not null',
  // For the clean-up, of all organizations and operators at once.
  'create index audit_entries_expiring on audit_entries (at)',
  'create index audit_entries_with_address on audit_entries (at) where address is not null',
  'alter table audit_entries enable row level security',
  'alter table audit_entries force row level security',
  `create policy tenant on audit_entries
    using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  // The clean-up, and what is above an organization or before it is known: keys of operators, sign-ins.
  `create policy worker on audit_entries
    using (current_setting('app.job_worker', true) = 'on' and current_user <> 'latitude_app')`,
  `create trigger refuse_entity_manager before insert or update or delete on audit_entries
    for each statement execute function refuse_entity_manager()`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on audit_entries to latitude_app;
     end if;
   end $$`,
];

/** The entries of the audit log. */
export class AuditEntries1767500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_entries');
  }
}
