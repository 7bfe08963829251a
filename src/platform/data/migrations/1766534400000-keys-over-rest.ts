import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `alter table api_keys add column ends_with uuid[] not null default '{}', add column successor_id uuid`,
  // Without a foreign key: `operator_id` is the id of the first key of an operator, which its successors keep.
  'alter table organizations add column operator_id uuid',
  'create index organizations_by_operator on organizations (operator_id, created_at, id) where operator_id is not null',
  `create table operator_keys (
    id uuid primary key,
    operator_id uuid not null,
    name text not null,
    key_hash bytea not null unique,
    key_start text not null,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3),
    last_used_at timestamptz(3),
    revoked_at timestamptz(3)
  )`,
  `create table operator_responses (
    operator_id uuid not null,
    key text collate "C" not null,
    route text collate "C" not null,
    content_hash bytea not null,
    status smallint not null,
    location text,
    etag text,
    body text not null,
    record_ids uuid[],
    created_at timestamptz(3) not null default now(),
    primary key (operator_id, key, route)
  )`,
];

/**
 * Keys that keys have made, which end with them, and the keys of operators, which create organizations. Like `api_keys`, the new tables
 * are not readable by the tenant role.
 */
export class KeysOverRest1766534400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the columns lock tables in use until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table operator_responses, operator_keys');
    await runner.query('alter table organizations drop column operator_id');
    await runner.query('alter table api_keys drop column ends_with, drop column successor_id');
  }
}
