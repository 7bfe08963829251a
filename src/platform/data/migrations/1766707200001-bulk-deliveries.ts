import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks the deliveries of imports, which others precede. */
export class BulkDeliveries1766707200001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table webhook_deliveries add column is_bulk boolean not null default false',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhook_deliveries drop column is_bulk');
  }
}

const NAME = 'webhook_deliveries_next';
const DEFINITION = `(organization_id, webhook_id, is_bulk, next_attempt_at, seq)
  where status = 'pending' and next_attempt_at is not null`;

/** The due deliveries of a webhook in their order. */
export class NextDeliveries1766707200002 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query(`drop index concurrently if exists ${NAME}`);
    await runner.query(`create index concurrently ${NAME} on webhook_deliveries ${DEFINITION}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ${NAME}`);
  }
}
