import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores the sessions of /mcp. Like `api_keys`, the table is not readable by the tenant role. */
export class McpSessions1764460800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create table mcp_sessions (
      id uuid primary key,
      key_id uuid not null references api_keys (id) on delete cascade,
      protocol_version text not null,
      client_name text not null,
      subscriptions text[] not null default '{}',
      created_at timestamptz(3) not null default now(),
      last_used_at timestamptz(3) not null default now()
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table mcp_sessions');
  }
}
