import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['api_keys', 'operator_keys'];

/** The lifetime that a key was made with. Null for keys of an earlier release: it follows from their times until their rotation. */
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
