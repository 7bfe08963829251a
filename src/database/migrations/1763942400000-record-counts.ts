import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  type CountedTable,
  CREATE_RECORD_COUNTS,
  dropCounts,
  keepCounts,
  LOCK_REPAIRS,
  repairCounts,
} from '../records/record-counts.js';
import { TENANT_SETTING } from '../tenant-role/tenant-role.js';

const TABLES: readonly CountedTable[] = [
  { name: 'leads', notDeleted: 'deleted_at is null', counted: ['status', 'temperature'] },
  { name: 'appointments', notDeleted: 'true', counted: ['status'] },
  { name: 'tasks', notDeleted: 'deleted_at is null', counted: ['status', 'assigned_to_user_id'] },
];

/** Counts from now on: writers wait only for the triggers to be there. */
export class RecordCounts1763942400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...CREATE_RECORD_COUNTS, ...TABLES.flatMap(keepCounts)]) {
      await runner.query(statement);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES.flatMap(dropCounts), 'drop table record_counts']) {
      await runner.query(statement);
    }
  }
}

/** Counts what was there before, beside writers. */
export class CountRecords1763942400001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = (await runner.query('select id from organizations')) as { id: string }[];
    for (const { id } of organizations) {
      await runner.startTransaction();
      // Where row-level security binds the owner of the tables, too.
      await runner.query(`select set_config('${TENANT_SETTING}', $1, true)`, [id]);
      await runner.query(LOCK_REPAIRS, [id]);
      for (const table of TABLES) await runner.query(repairCounts(table), [id]);
      await runner.commitTransaction();
    }
  }

  async down(): Promise<void> {
    // What was counted goes with its table.
  }
}
