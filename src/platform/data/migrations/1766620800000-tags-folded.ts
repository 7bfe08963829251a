import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Leads that one transaction fills in. Small batches keep locks short. */
const BATCH = 500;

/** The tags in lower case by ICU, each between separators; null if there are none. */
const folded = (tags: string) => String.raw`(select
  E'\x1f' || lower(string_agg(translate(tag, E'\x1f', ' '), E'\x1f') collate latitude_names) || E'\x1f'
  from unnest(${tags}) tag)`;

const ADD_COLUMN = [
  `create function leads_tags_folded() returns trigger language plpgsql set search_path from current
   as $$ begin
     new.tags_folded := ${folded('new.tags')};
     return new;
   end $$`,
  'alter table leads add column tags_folded text',
  `create trigger leads_tags_folded before insert or update of tags on leads
   for each row when (new.tags <> '{}' or new.tags_folded is not null)
   execute function leads_tags_folded()`,
];

/** Adds the text by which leads with a tag are found. A trigger writes it, also for instances of an earlier version. */
export class TagsFolded1766620800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the table is locked until the commit.
    await runner.query(ADD_COLUMN.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function leads_tags_folded() cascade');
    await runner.query('alter table leads drop column tags_folded');
  }
}

/** Only leads with tags, in the order of their ids. */
const FILL_BATCH = `
  with batch as materialized (
    select id from leads
    where organization_id = $1 and ($2::uuid is null or id > $2) and tags <> '{}' and tags_folded is null
    order by id limit ${BATCH} for update),
  filled as (
    update leads set tags_folded = ${folded('tags')}
    where organization_id = $1 and id in (select id from batch))
  select id from batch order by id`;

/** Fills in the text for existing leads, without locking out writers. */
export class FillTagsFolded1766620800001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = (await runner.query('select id from organizations')) as { id: string }[];
    let filled = 0;
    for (const { id } of organizations) filled += await fillOrganization(runner, id);
    // Index-only scans need an up-to-date visibility map.
    if (filled > 0) await runner.query('vacuum (truncate false) leads');
  }

  async down(): Promise<void> {
    // The texts are dropped with their column.
  }
}

async function fillOrganization(runner: QueryRunner, organization: string): Promise<number> {
  let filled = 0;
  let after: string | null = null;
  for (;;) {
    await runner.startTransaction();
    // Row-level security may bind the owner of the tables, too.
    await runner.query(`select set_config('app.organization_id', $1, true)`, [organization]);
    const batch = (await runner.query(FILL_BATCH, [organization, after])) as { id: string }[];
    await runner.commitTransaction();
    filled += batch.length;
    after = batch.at(-1)?.id ?? null;
    if (batch.length < BATCH) return filled;
  }
}

const DEFINITION = `using gin (tags_folded gin_trgm_ops) with (gin_pending_list_limit = 256)
  where deleted_at is null and tags_folded is not null`;

/** Indexes the text. */
export class TagsFoldedIndex1766620800002 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query('drop index concurrently if exists leads_by_tags');
    await runner.query(`create index concurrently leads_by_tags on leads ${DEFINITION}`);
    await runner.query('alter table leads alter column tags_folded set statistics 300');
    await runner.query('analyze leads (tags_folded)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index leads_by_tags');
  }
}
