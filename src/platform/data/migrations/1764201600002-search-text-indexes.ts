import { setTimeout as sleep } from 'node:timers/promises';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The expression of the generated column that this migration replaces. */
const LEADS_SEARCH_TEXT = String.raw`lower((
  translate(first_name || coalesce(' ' || last_name, ''), E'\x1f', ' ')
  || E'\x1f' || coalesce(translate(email, E'\x1f', ' '), '')
  || E'\x1f' || coalesce(phone, '')
  || E'\x1f' || coalesce(regexp_replace(phone, '[^0-9]', '', 'g'), '')
  ) collate "default")`;

/**
 * The function that fills in the column for writers that omit it: instances of an earlier version,
 * and other SQL. It folds case by the locale of the database, as earlier versions did.
 */
function fillingFunction(column: string): string {
  return String.raw`
  create or replace function leads_search_text() returns trigger language plpgsql as $$
  declare
    words text := lower(translate(
      concat_ws(E'\x02', new.phone, new.email, new.company,
        new.first_name || coalesce(' ' || new.last_name || ' ' || new.first_name, '')),
      E'\x1e\x1f\x02', E'  \x1f') collate "default");
  begin
    if tg_argv[0] = 'mark' then
      new.${column} := E'\x01' || new.${column};
    elsif starts_with(new.${column}, E'\x01') then
      new.${column} := substr(new.${column}, 2);
    else
      new.${column} := case when octet_length(words) > 2400 then left(words, 600) else words end
        || E'\x1e' || concat_ws(E'\x1f', new.phone_compared, ${digitsOf('new.phone')},
          ${['email', 'company', 'first_name', 'last_name'].map((name) => separatedDigitsOf(`new.${name}`)).join()});
    end if;
    return new;
  end $$`;
}

function digitsOf(sql: string): string {
  return `regexp_replace(${sql}, '[^0-9]', '', 'g')`;
}

function separatedDigitsOf(sql: string): string {
  return `case when ${sql} ~ '[0-9][^0-9]+[0-9]' then ${digitsOf(sql)} end`;
}

const INDEXES = {
  leads_by_created_at: '(organization_id, created_at, id) include (search_text_next)',
  leads_search: 'using gin (search_text_next gin_trgm_ops) with (gin_pending_list_limit = 256)',
} as const;

/** Replaces the generated column by the new one, with its indexes. */
export class SearchTextIndexes1764201600002 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    if (!(await hasNextColumn(runner))) return;
    for (const [name, definition] of Object.entries(INDEXES)) {
      await runner.query(`drop index concurrently if exists ${name}_next`);
      await runner.query(`create index concurrently ${name}_next on leads ${definition}
        where deleted_at is null`);
    }
    await requireText(runner);
    await runner.query('alter table leads alter column search_text_next set statistics 300');
    await runner.query('analyze leads (search_text_next)');
    // Instances of an earlier version use the new column under the old name.
    await withBriefLock(runner, [
      'alter table leads drop column search_text',
      'alter table leads rename column search_text_next to search_text',
      ...Object.keys(INDEXES).map((name) => `alter index ${name}_next rename to ${name}`),
      fillingFunction('search_text'),
      `delete from typeorm_metadata where "table" = 'leads' and name = 'search_text'`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    const statements = [
      'alter table leads rename column search_text to search_text_next',
      fillingFunction('search_text_next'),
      `alter table leads add column search_text text not null
         generated always as (${LEADS_SEARCH_TEXT}) stored`,
      ...Object.entries(INDEXES).flatMap(([name, definition]) => [
        `drop index ${name}`,
        `create index ${name} on leads ${definition.replace('_next', '')}
           where deleted_at is null`,
      ]),
    ];
    for (const statement of statements) await runner.query(statement);
    await runner.query(
      `insert into typeorm_metadata
       values ('GENERATED_COLUMN', current_database(), current_schema(), 'leads', 'search_text', $1)`,
      [LEADS_SEARCH_TEXT],
    );
  }
}

/** @returns false if the column already has its final name */
async function hasNextColumn(runner: QueryRunner): Promise<boolean> {
  const rows = (await runner.query(
    `select from pg_attribute where attrelid = 'leads'::regclass and attname = 'search_text_next'
     and not attisdropped`,
  )) as unknown[];
  return rows.length > 0;
}

/** Validates the constraint in a scan that blocks no one. */
async function requireText(runner: QueryRunner): Promise<void> {
  const constraint = 'leads_search_text_is_there';
  await withBriefLock(runner, [
    `alter table leads drop constraint if exists ${constraint}`,
    `alter table leads add constraint ${constraint} check (search_text_next is not null) not valid`,
  ]);
  await runner.query(`alter table leads validate constraint ${constraint}`);
  await withBriefLock(runner, [
    'alter table leads alter column search_text_next set not null',
    `alter table leads drop constraint ${constraint}`,
  ]);
}

/**
 * Runs statements that need an exclusive lock, in one transaction. Requests queue behind a pending
 * lock, so each attempt waits for one second at most.
 */
async function withBriefLock(runner: QueryRunner, statements: readonly string[]): Promise<void> {
  for (;;) {
    await runner.startTransaction();
    try {
      await runner.query('set local lock_timeout = 1000');
      for (const statement of statements) await runner.query(statement);
      await runner.commitTransaction();
      return;
    } catch (error) {
      await runner.rollbackTransaction();
      const { driverError } = error as { driverError?: { code?: unknown } };
      if (driverError?.code !== '55P03') throw error;
      await sleep(500);
    }
  }
}
