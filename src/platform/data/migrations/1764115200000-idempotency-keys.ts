import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `create table idempotency_keys (
    organization_id uuid not null references organizations (id),
    key text collate "C" not null,
    route text collate "C" not null,
    content_hash bytea not null,
    status smallint not null,
    location text,
    etag text,
    body text not null,
    created_at timestamptz(3) not null default now(),
    primary key (organization_id, key, route)
  )`,
  `create index idempotency_keys_by_created_at on idempotency_keys (organization_id, created_at)`,
  ...protect('idempotency_keys'),
];

export class IdempotencyKeys1764115200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table idempotency_keys');
  }
}

/** Puts a table under row-level security: a row is visible to its organization alone. */
function protect(table: string): string[] {
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
    `do $$ begin
       if exists (select from pg_roles where rolname = 'latitude_app') then
         grant select, insert, update, delete on ${table} to latitude_app;
       end if;
     end $$`,
  ];
}
