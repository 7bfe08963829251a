import type { MigrationInterface, QueryRunner } from 'typeorm';
import { TENANT_SETTING } from '../tenant-role/tenant-role.js';
import { type SearchedLead, searchTextOfLead } from './1764201600000-search-text-of-leads.js';
import { LEADS_SEARCH_TEXT } from './1763683200000-initial-schema.js';
import { withBriefLock } from './brief-lock.js';

/** Leads that are filled in by one transaction, which is over before anyone waits long for them. */
const BATCH = 500;

const SOURCES = ['first_name', 'last_name', 'company', 'email', 'phone'];
const changed = ['new', 'old'].map((row) => `(${SOURCES.map((name) => `${row}.${name}`).join()})`);
const SOURCE_CHANGED = changed.join(' is distinct from ');

/**
 * The function that fills the column in for writers that leave it out: instances of an earlier
 * version, and SQL of others. It folds case by the locale of the database, as earlier versions did.
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
 * An update that gives the text it had already, as one that changes only the case of a name, looks
 * like one that leaves it out. The first trigger runs only where it is given, and marks it.
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

/** A column in place of the generated one, which every write fills in from now on. */
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

/** Fills the column in for the leads that were there before, beside writers. */
export class FillSearchText1764201600001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = (await runner.query('select id from organizations')) as { id: string }[];
    let filled = 0;
    for (const { id } of organizations) filled += await fillOrganization(runner, id);
    // Scans of an index read rows, too, until a vacuum says that they need not.
    if (filled > 0) await runner.query('vacuum (truncate false) leads');
  }

  async down(): Promise<void> {
    // What was filled in goes with its column.
  }
}

const READ_BATCH = `
  select id, ${SOURCES.join()}, phone_compared from leads
  where organization_id = $1 and ($2::uuid is null or id > $2) and search_text_next is null
  order by id limit ${BATCH}`;

/** A lead that someone has written meanwhile has its text already. */
const FILL_BATCH = `
  update leads set search_text_next = filled.text
  from unnest($2::uuid[], $3::text[]) as filled (id, text)
  where leads.organization_id = $1 and leads.id = filled.id and search_text_next is null`;

async function fillOrganization(runner: QueryRunner, organization: string): Promise<number> {
  let filled = 0;
  let after: string | null = null;
  for (;;) {
    await runner.startTransaction();
    // Where row-level security binds the owner of the tables, too.
    await runner.query(`select set_config('${TENANT_SETTING}', $1, true)`, [organization]);
    const leads = (await runner.query(READ_BATCH, [organization, after])) as SearchedLead[];
    const [ids, texts] = [leads.map(({ id }) => id), leads.map(searchTextOfLead)];
    if (leads.length > 0) await runner.query(FILL_BATCH, [organization, ids, texts]);
    await runner.commitTransaction();
    filled += leads.length;
    after = ids.at(-1) ?? null;
    if (leads.length < BATCH) return filled;
  }
}

const INDEXES = {
  leads_by_created_at: '(organization_id, created_at, id) include (search_text_next)',
  leads_search: 'using gin (search_text_next gin_trgm_ops) with (gin_pending_list_limit = 256)',
} as const;

/** Puts the new column in the place of the generated one, with its indexes. */
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
    // Instances of an earlier version search the new column by its name.
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

/** False where the column has its final name already. */
async function hasNextColumn(runner: QueryRunner): Promise<boolean> {
  const rows = (await runner.query(
    `select from pg_attribute where attrelid = 'leads'::regclass and attname = 'search_text_next'
     and not attisdropped`,
  )) as unknown[];
  return rows.length > 0;
}

/** The scan that proves it holds no lock that anyone waits for. */
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
