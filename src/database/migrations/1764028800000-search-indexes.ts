import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes that take the place of others, each built beside writers before the other one goes. */
const REPLACED = {
  // With what a search looks through, so that it reads the index alone.
  leads_by_created_at: [
    'leads (organization_id, created_at, id) include (search_text)',
    'leads (organization_id, created_at, id)',
  ],
  // A list of all rows of an organization made each search of a large one read all of it.
  leads_search: [
    'leads using gin (search_text gin_trgm_ops)',
    'leads using gin (organization_id, search_text gin_trgm_ops)',
  ],
} as const;

export class SearchIndexes1764028800000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, [definition]] of Object.entries(REPLACED)) {
      await replaceIndex(runner, name, definition);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name, [, definition]] of Object.entries(REPLACED)) {
      await replaceIndex(runner, name, definition);
    }
  }
}

/** Can be repeated after it was broken off at any step. */
async function replaceIndex(runner: QueryRunner, name: string, on: string): Promise<void> {
  await runner.query(`drop index concurrently if exists ${name}_next`);
  await runner.query(`create index concurrently ${name}_next on ${on} where deleted_at is null`);
  await runner.query(`drop index concurrently if exists ${name}`);
  await runner.query(`alter index ${name}_next rename to ${name}`);
}
