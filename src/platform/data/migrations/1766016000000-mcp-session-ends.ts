import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores when each session of /mcp ends, so that a session that has ended stays ended after a change of
 * MCP_SESSION_TTL_SECONDS. Versions without the column open sessions of 30 minutes.
 */
export class McpSessionEnds1766016000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table mcp_sessions
      add column expires_at timestamptz(3) not null default now() + interval '30 minutes'`);
    await runner.query(`update mcp_sessions set expires_at = last_used_at + interval '30 minutes'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table mcp_sessions drop column expires_at');
  }
}
