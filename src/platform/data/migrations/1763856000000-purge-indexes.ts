import type { MigrationInterface, QueryRunner } from 'typeorm';

const TASKS_BY_CONTACT = `create index tasks_by_contact on tasks
  (organization_id, contact_id, created_at, id)`;

/** Indexes of deleted records, which a purge reads. */
const DELETED = ['leads', 'tasks'].map(
  (table) => `create index ${table}_deleted on ${table} (organization_id, deleted_at)
    where deleted_at is not null`,
);

export class PurgeIndexes1763856000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of DELETED) await runner.query(statement);
    // The removal of a lead reads all of its tasks, including deleted ones.
    await runner.query('drop index tasks_by_contact');
    await runner.query(TASKS_BY_CONTACT);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index leads_deleted, tasks_deleted, tasks_by_contact');
    await runner.query(`${TASKS_BY_CONTACT} where deleted_at is null`);
  }
}
