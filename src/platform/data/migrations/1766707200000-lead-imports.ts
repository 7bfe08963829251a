import type { MigrationInterface, QueryRunner } from 'typeorm';

const TIME = `timestamptz(3) not null default date_trunc('milliseconds', now())`;

const STATEMENTS = [
  `create table lead_imports (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    status text not null,
    format text not null,
    mode text not null,
    match_on text[] not null,
    dry_run boolean not null,
    ignored_columns text[] not null,
    bytes integer not null,
    lines integer not null default 0,
    processed integer not null default 0,
    created integer not null default 0,
    updated integer not null default 0,
    unchanged integer not null default 0,
    rejected integer not null default 0,
    error text,
    started_at timestamptz(3),
    ended_at timestamptz(3),
    created_at ${TIME},
    updated_at ${TIME},
    plan json not null,
    starter json not null,
    position integer not null,
    line integer not null,
    runner uuid,
    leased_until timestamptz(3),
    primary key (organization_id, id)
  )`,
  'create index lead_imports_by_created_at on lead_imports (organization_id, created_at, id)',
  `create table lead_import_chunks (
    organization_id uuid not null references organizations (id),
    import_id uuid not null,
    number integer not null,
    data bytea not null,
    created_at ${TIME},
    primary key (organization_id, import_id, number)
  )`,
  `create table lead_import_rejections (
    organization_id uuid not null references organizations (id),
    import_id uuid not null,
    line integer not null,
    reason text not null,
    cells json not null,
    primary key (organization_id, import_id, line),
    foreign key (organization_id, import_id) references lead_imports (organization_id, id) on delete cascade
  )`,
  ...['lead_imports', 'lead_import_chunks', 'lead_import_rejections'].flatMap((table) => [
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
 * Imports of leads, their files in chunks, and the lines that were rejected. A file is stored before its import, and
 * removed when the import ends.
 */
export class LeadImports1766707200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the foreign keys lock `organizations` against writes until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table lead_import_rejections, lead_import_chunks, lead_imports');
  }
}
