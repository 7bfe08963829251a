import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes that take the place of others, each built beside writers before the other one goes. */
const REPLACED = {
  // With what a search looks through, so that it reads the index alone.
  leads_by_created_at: [
    'leads (organization_id, created_at, id) include (search_text)',
    'leads (organization_id, created_at, id)',
  ],
  // A list of all rows of an organization made each search of a large one read all of it; so did
  // 4 MB of new words, which is as much as waits to be sorted in by default.
  leads_search: [
    'leads using gin (search_text gin_trgm_ops) with (gin_pending_list_limit = 256)',
    'leads using gin (organization_id, search_text gin_trgm_ops)',
  ],
} as const;

/**
 * How common a term is, is estimated from so many texts: with the default of 100, one that every
 * 20th record has was at times taken for one that hardly any has.
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

/** Can be repeated after it was broken off at any step. */
async function replaceIndex(runner: QueryRunner, name: string, on: string): Promise<void> {
  await runner.query(`drop index concurrently if exists ${name}_next`);
  await runner.query(`create index concurrently ${name}_next on ${on} where deleted_at is null`);
  await runner.query(`drop index concurrently if exists ${name}`);
  await runner.query(`alter index ${name}_next rename to ${name}`);
}
