import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { configOf } from '../../../../src/testing/databases.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { SentStatements } from '../../../support/database/sent-statements.js';
import { StatementPlans } from '../../../support/database/statement-plans.js';
import { callMethodsWithoutRoute } from '../../../support/database/direct-calls.js';
import { sendRequests } from '../../../support/database/statement-walk.js';

const PAGE = path.resolve(__dirname, '../../../../docs/operating/beyond-one-postgresql.md');

/** The tables with records of organizations. */
const TABLES = `select c.oid from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
  where c.relkind in ('r', 'p') and not c.relispartition`;

/** What a distributed PostgreSQL does not run as it is, by the beginning of a row of the page. */
const OBJECTS: Readonly<Record<string, string>> = {
  'Triggers with transition tables': `select tgname from pg_trigger where not tgisinternal
    and coalesce(tgoldtable, tgnewtable) is not null and tgrelid in (${TABLES})`,
  'Other triggers': `select tgname from pg_trigger where not tgisinternal
    and coalesce(tgoldtable, tgnewtable) is null and tgrelid in (${TABLES})`,
  'Unique indexes without the organization': `select indexrelid::regclass from pg_index
    where indisunique and indrelid in (${TABLES}) and not exists (select from pg_attribute a
      where attrelid = indrelid and attname = 'organization_id' and attnum = any (indkey[0:indnkeyatts - 1]))`,
  Sequences: `select attrelid::regclass || '.' || attname from pg_attribute where attrelid in (${TABLES})
    and pg_get_serial_sequence(attrelid::regclass::text, attname) is not null`,
  'Foreign keys that empty a column': `select conname from pg_constraint
    where contype = 'f' and confdeltype in ('n', 'd') and conrelid in (${TABLES})`,
  'Policies with a subquery': `select polrelid::regclass || '.' || polname from pg_policy
    where polqual::text || polwithcheck::text like '%SUBLINK%' or polqual::text like '%SUBLINK%'`,
  'Exclusion constraints': `select conname from pg_constraint where contype = 'x' and conrelid in (${TABLES})`,
};

/** The names in backticks of the first and second cell of each row of a section of the page. */
async function rowsOf(section: string): Promise<{ title: string; cells: string[][] }[]> {
  const page = await readFile(PAGE, 'utf8');
  const text = page.split(/^## /m).find((part) => part.startsWith(section)) ?? '';
  const rows = text.split('\n').filter((line) => /^\|.*`/.test(line));
  return rows.map((row) => {
    const cells = row.split('|').slice(1, 3);
    const names = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    return { title: cells[0]!.trim(), cells: cells.map(names) };
  });
}

let app: TestApp;
let sent: SentStatements;
let client: pg.Client;
let plans: StatementPlans;

beforeAll(async () => {
  app = await TestApp.start();
  sent = new SentStatements(app);
  const tenant = await app.organization({ scopes: app.scopes.every });
  await sendRequests(app, tenant);
  await callMethodsWithoutRoute(app, tenant);
  sent.stop();
  client = new pg.Client(configOf(app.database));
  await client.connect();
  plans = await StatementPlans.of(client);
});
afterAll(async () => {
  await client.end();
  await app.stop();
});

describe('the statements that the application sends', () => {
  it('are those of every method of the repositories', () => {
    const uncalled = [...sent.methods].filter(([, isCalled]) => !isCalled).map(([name]) => name);
    expect(uncalled.filter((name) => /^(\w+Repository|Record\w+)\./.test(name))).toEqual([]);
  });

  it('name one organization, except those that the page lists with a reason', async () => {
    const found = new Map<string, Set<string>>();
    for (const [text, senders] of sent.senders) {
      for (const table of await plans.acrossOrganizations(text)) {
        for (const sender of senders)
          found.set(sender, (found.get(sender) ?? new Set()).add(table));
      }
    }
    const listed = (await rowsOf('Statements of all organizations')).map(({ cells }) => cells);
    expect([...found].sort().map(([sender, tables]) => [[sender], [...tables].sort()])).toEqual(
      listed,
    );
  });

  it('neither listen nor use temporary tables', () => {
    const texts = [...sent.senders.keys()];
    expect(
      texts.filter((text) => /\b(listen|notify|pg_notify|temp|temporary)\b/i.test(text)),
    ).toEqual([]);
  });
});

describe('the plans of statements', () => {
  const ORGANIZATION = 'organization_id = $1';

  it.each([
    `select from leads where ${ORGANIZATION} and id = $2`,
    `select from leads join tasks on tasks.contact_id = leads.id and tasks.organization_id = leads.organization_id where leads.${ORGANIZATION}`,
    `update leads set city = $2 where ${ORGANIZATION} and id in (select contact_id from tasks where ${ORGANIZATION})`,
    `insert into erasures (organization_id, record_id, erased_at) select $1, id, now() from unnest($2::uuid[]) id`,
    `with gone as (delete from tasks where ${ORGANIZATION} returning organization_id, id)
     insert into erasures (organization_id, record_id, erased_at) select organization_id, id, now() from gone`,
  ])('show one organization: %s', async (text) => {
    expect(await plans.acrossOrganizations(text)).toEqual([]);
  });

  it.each([
    ['select from leads where id = $1', ['leads']],
    [`select from leads where ${ORGANIZATION} or id = $2`, ['leads']],
    [`select from leads where ($2::boolean or ${ORGANIZATION})`, ['leads']],
    ['select from leads where organization_id = any($1)', ['leads']],
    [`select from leads where not (${ORGANIZATION})`, ['leads']],
    [
      `select from leads join tasks on contact_id = leads.id where leads.${ORGANIZATION}`,
      ['tasks'],
    ],
    [
      `update leads set city = $2 where ${ORGANIZATION} and id in (select contact_id from tasks)`,
      ['tasks'],
    ],
    ['select from events where position > $1', ['events']],
    [
      `select from leads, tasks where leads.${ORGANIZATION} and tasks.organization_id = $2`,
      ['several organizations'],
    ],
    [
      `insert into erasures (organization_id, record_id, erased_at)
       select row.* from json_to_recordset($1) as row (organization_id uuid, id uuid, at timestamptz)`,
      ['erasures'],
    ],
    ['lock table leads', ['leads']],
  ])('find what names none or several: %s', async (text, tables) => {
    expect(await plans.acrossOrganizations(text)).toEqual(tables);
  });
});

it.each(Object.entries(OBJECTS))('the page lists, with a remedy: %s', async (title, text) => {
  const rows = await rowsOf('What the schema needs');
  const [names = []] = rows.find((row) => row.title.startsWith(title))?.cells ?? [];
  const objects = await app.sql<Record<string, string>>(
    `select distinct name::text from (${text}) as found (name)`,
  );
  expect(names).toEqual(objects.map(({ name }) => name!).sort());
});
