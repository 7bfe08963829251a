import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The columns of the foreign keys, as in their names. */
const FOREIGN_KEYS = {
  oauth_grants: ['organization_id_key_id'],
  mcp_sessions: ['key_id', 'grant_id'],
  oauth_artifacts: ['grant_id'],
};

/** Validates the foreign keys to keys and grants, while their tables are used. */
export class ForeignKeysOfGrants1767100000103 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, columns] of Object.entries(FOREIGN_KEYS)) {
      for (const column of columns)
        await runner.query(`alter table ${table} validate constraint ${table}_${column}_fkey`);
    }
  }

  async down(): Promise<void> {
    // A foreign key stays valid.
  }
}
