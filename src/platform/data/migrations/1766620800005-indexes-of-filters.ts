import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  leads_by_source: `leads (organization_id, source, created_at, id) where deleted_at is null`,
  appointments_by_type: 'appointments (organization_id, type, start_time, id)',
  appointments_by_updated_at: 'appointments (organization_id, updated_at, id)',
  tasks_of_priority: 'tasks (organization_id, priority, created_at, id) where deleted_at is null',
  tasks_by_updated_at: 'tasks (organization_id, updated_at, id) where deleted_at is null',
};

/** Indexes for the filters and sorts of lists that a sync uses. */
export class IndexesOfFilters1766620800005 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES)) {
      // An interrupted build leaves an invalid index.
      await runner.query(`drop index concurrently if exists ${name}`);
      await runner.query(`create index concurrently ${name} on ${definition}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ${Object.keys(INDEXES).join(', ')}`);
  }
}
