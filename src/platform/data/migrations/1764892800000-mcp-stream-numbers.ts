import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Numbers the streams of each session of /mcp, so that a newer stream replaces an older one on any instance. */
export class McpStreamNumbers1764892800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table mcp_sessions add column stream_number integer not null default 0',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table mcp_sessions drop column stream_number');
  }
}
