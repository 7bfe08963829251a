import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['api_keys', 'operator_keys'];

/**
 * Adds the lifetime with which a key was made, so that a rotation gives the next key the same one. It is null for keys of
 * earlier releases, whose lifetime is computed from their times until they are rotated.
 */
export class LifetimesOfKeys1767000000301 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const statements = TABLES.map((table) => `alter table ${table} add column lifetime_ms bigint`);
    // In one round trip, because the columns lock tables in use until the commit.
    await runner.query(statements.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`alter table ${table} drop column lifetime_ms`);
  }
}
