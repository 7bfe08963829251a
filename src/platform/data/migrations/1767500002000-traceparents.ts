import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['event_outbox', 'events', 'jobs', 'webhook_deliveries'];

/** The trace of the request that caused an event, a job or a delivery. The last release leaves it null. */
export class Traceparents1767500002000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because tables in use are locked until the commit.
    await runner.query(
      TABLES.map((table) => `alter table ${table} add column traceparent text`).join(';\n'),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      TABLES.map((table) => `alter table ${table} drop column traceparent`).join(';\n'),
    );
  }
}
