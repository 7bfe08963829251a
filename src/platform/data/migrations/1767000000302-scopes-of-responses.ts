import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['idempotency_keys', 'operator_responses'];

/** What a later caller needs for a stored response. Null for nothing but the scopes of the route. */
export class ScopesOfResponses1767000000302 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const statements = TABLES.map((table) => `alter table ${table} add column scopes jsonb`);
    // In one round trip, because the columns lock tables in use until the commit.
    await runner.query(statements.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`alter table ${table} drop column scopes`);
  }
}
