import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replaced indexes: new and old definition. Each is built concurrently before the old one is dropped. */
const REPLACED = {
  // Includes the search text, so that a search can read the index only.
  leads_by_created_at: [
    'leads (organization_id, created_at, id) include (search_text)',
    'leads (organization_id, created_at, id)',
  ],
  // With organization_id in the index, each search of a large organization read all of its rows. So did
  // a pending list of 4 MB, which is the default limit.
  leads_search: [
    'leads using gin (search_text gin_trgm_ops) with (gin_pending_list_limit = 256)',
    'leads using gin (organization_id, search_text gin_trgm_ops)',
  ],
} as const;

/**
 * Statistics target of the search text. With the default of 100, PostgreSQL sometimes took a term in
 * every 20th record for a rare one.
 */
const SAMPLED_TEXTS = 300;
const BY_DEFAULT = -1;

export class SearchIndexes1764028800000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, [definition]] of Object.entries(REPLACED)) {
      await replaceIndex(runner, name, definition);
    }
    await sampleTexts(runner, SAMPLED_TEXTS);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name, [, definition]] of Object.entries(REPLACED)) {
      await replaceIndex(runner, name, definition);
    }
    await sampleTexts(runner, BY_DEFAULT);
  }
}

async function sampleTexts(runner: QueryRunner, texts: number): Promise<void> {
  await runner.query(`alter table leads alter column search_text set statistics ${texts}`);
  await runner.query('analyze leads (search_text)');
}

/** Can be repeated after an interruption at any step. */
async function replaceIndex(runner: QueryRunner, name: string, on: string): Promise<void> {
  await runner.query(`drop index concurrently if exists ${name}_next`);
  await runner.query(`create index concurrently ${name}_next on ${on} where deleted_at is null`);
  await runner.query(`drop index concurrently if exists ${name}`);
  await runner.query(`alter index ${name}_next rename to ${name}`);
}
