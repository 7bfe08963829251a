import { setTimeout as sleep } from 'node:timers/promises';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const SOURCES = ['first_name', 'last_name', 'company', 'email', 'phone'];
const changed = ['new', 'old'].map((row) => `(${SOURCES.map((name) => `${row}.${name}`).join()})`);
const SOURCE_CHANGED = changed.join(' is distinct from ');

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

/**
 * An update that sets the same text again (for example after a change of case in a name) looks like
 * an update that omits it. The second trigger runs only if the text is set, and marks it.
 */
const TRIGGERS = [
  `create or replace trigger leads_search_text_1 before insert on leads
     for each row when (new.search_text_next is null)
     execute function leads_search_text('fill')`,
  `create or replace trigger leads_search_text_2 before update of search_text_next on leads
     for each row when (new.search_text_next = old.search_text_next and ${SOURCE_CHANGED})
     execute function leads_search_text('mark')`,
  String.raw`create or replace trigger leads_search_text_3 before update of ${SOURCES.join()} on leads
     for each row when (${SOURCE_CHANGED} and (
       new.search_text_next is not distinct from old.search_text_next
       or starts_with(new.search_text_next, E'\x01')))
     execute function leads_search_text('fill')`,
];

/** Adds a column that replaces the generated one. Every write fills it in from now on. */
export class SearchText1764201600000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await withBriefLock(runner, [
      'alter table leads add column if not exists search_text_next text',
      fillingFunction('search_text_next'),
      ...TRIGGERS,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table leads drop column search_text_next');
    await runner.query('drop function leads_search_text cascade');
  }
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
