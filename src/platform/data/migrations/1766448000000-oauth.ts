import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `create table oauth_clients (
    id text collate "C" primary key,
    metadata json not null,
    created_at timestamptz(3) not null default now()
  )`,
  `create table oauth_grants (
    id uuid primary key,
    key_id uuid not null references api_keys (id) on delete cascade,
    client_id text collate "C" not null,
    client_name text not null,
    resource text not null,
    scopes text[] not null,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null,
    last_used_at timestamptz(3),
    revoked_at timestamptz(3)
  )`,
  'create index oauth_grants_by_key on oauth_grants (key_id)',
  'create index oauth_grants_by_client on oauth_grants (client_id)',
  `create table oauth_artifacts (
    kind text collate "C" not null,
    id_hash bytea not null,
    grant_id uuid references oauth_grants (id) on delete cascade,
    payload json not null,
    consumed_at timestamptz(3),
    expires_at timestamptz(3) not null,
    primary key (id_hash, kind)
  )`,
  'create index oauth_artifacts_by_grant on oauth_artifacts (grant_id) where grant_id is not null',
  'create index oauth_artifacts_by_expiry on oauth_artifacts (expires_at)',
  'alter table mcp_sessions add column grant_id uuid references oauth_grants (id) on delete cascade',
  'alter table event_outbox add column grant_id text, add column client_id text',
  'alter table events add column grant_id text, add column client_id text',
  'create index mcp_sessions_by_grant on mcp_sessions (grant_id) where grant_id is not null',
];

/**
 * Sign-in to /mcp by OAuth: registered clients, what people have granted to clients, and the codes, tokens and
 * unfinished authorizations. An id is stored as its hash. Events name the grant of a change and its client. Like `api_keys`, the tables are not readable by the
 * tenant role.
 */
export class OAuth1766448000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the foreign keys lock tables in use against writes until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table mcp_sessions drop column grant_id');
    await runner.query('alter table events drop column grant_id, drop column client_id');
    await runner.query('alter table event_outbox drop column grant_id, drop column client_id');
    await runner.query('drop table oauth_artifacts, oauth_grants, oauth_clients');
  }
}
