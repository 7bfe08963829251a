// Shows, for conditions of filters, how PostgreSQL finds the leads, as the role of the tenant on the records of bench/filters.sql.
// Usage: node bench/filter-plans.mjs DATABASE_URL ORGANIZATION
import 'reflect-metadata';
import pg from 'pg';
import '../dist/src/modules/tasks/task.entity.js';
import { LEADS } from '../dist/src/modules/leads/lead.dto.js';
import { LeadsRepository } from '../dist/src/modules/leads/leads.repository.js';
import { readFilterObject } from '../dist/src/platform/data/filters/parse-filter.js';
import { withDefinitions } from '../dist/src/platform/data/filters/with-definitions.js';
import { INDEX_PLAN } from '../dist/src/platform/data/gateway/batch-connections.js';
import { markdownTable } from './lib/tables.mjs';

const [connectionString, organization] = process.argv.slice(2);
const ROUNDS = 3;
const LONG_MS = 500;

/** Requests of lists: parameters, with a filter. */
const DAY = { gte: '2025-06-01T00:00:00Z', lt: '2025-06-02T00:00:00Z' };
const OPEN = { status: 'open' };
const LISTS = {
  'no filter': {},
  'no filter, by last_name': { sort_by: 'last_name' },
  '`id` eq': { filter: { id: '00000000-0000-0000-0000-000000000001' } },
  '`email` eq': { filter: { email: 'ada777@example.com' } },
  '`phone` eq': { filter: { phone: '+14155550100' } },
  '`external_id` in': { filter: { external_id: { in: ['a', 'b'] } } },
  '`status` eq': { filter: { status: 'won' } },
  '`temperature` in': { filter: { temperature: { in: ['hot'] } } },
  '`source` not_in': { filter: { source: { not_in: ['website', 'other'] } } },
  '`lead_score` gte': { filter: { lead_score: { gte: 99 } } },
  '`created_at` of a day': { filter: { created_at: DAY } },
  '`updated_at` of a day': { filter: { updated_at: DAY } },
  '`tags` has, of few': { filter: { tags: { has: 'solar' } } },
  '`tags` has, of all': { filter: { tags: { has: 'roof' } } },
  '`tags` has_any': { filter: { tags: { has_any: ['solar', 'garden'] } } },
  '`tags` has_none': { filter: { tags: { has_none: ['roof'] } } },
  '`city` eq': { filter: { city: 'Graz' } },
  '`company` contains': { filter: { company: { contains: 'any 77' } } },
  '`zip` starts_with': { filter: { zip: { starts_with: '80' } } },
  '`notes` is_empty': { filter: { notes: { is_empty: false } } },
  'custom field gte': { filter: { 'custom_fields.roof_age': { gte: 39 } } },
  'filterable custom field gte': { filter: { 'custom_fields.age': { gte: 39 } } },
  'filterable custom field, of hot ones': {
    filter: { temperature: 'hot', 'custom_fields.age': { gte: 39 } },
  },
  '`tasks` some': { filter: { tasks: { some: OPEN } } },
  '`tasks` some, of hot ones': { filter: { temperature: 'hot', tasks: { some: OPEN } } },
  '`tasks` none, of hot ones': { filter: { temperature: 'hot', tasks: { none: OPEN } } },
  '`or` of indexed fields': { filter: { or: [{ temperature: 'hot' }, { lead_score: 99 }] } },
  '`or` with `city`': { filter: { or: [{ temperature: 'hot' }, { city: 'Graz' }] } },
  '`not` of an indexed field': { filter: { not: { status: 'won' } } },
  search: { search: 'ada 7771' },
  'search, of hot ones': { search: 'lovelace', filter: { temperature: 'hot' } },
};

/** A field as the definition of a filterable number makes it. */
const AGE = {
  name: 'custom_fields.age',
  kind: 'number',
  column: 'custom_fields',
  key: 'age',
  definitionId: '18525297-ceb5-dbd5-7e9a-1ecdaf26c396',
};

/** Fills the values of the filterable field. */
const VALUES = `insert into custom_field_values (organization_id, lead_id, rule_id, position, is_unique, number_value)
  select organization_id, id, $2, 0, false, (custom_fields ->> 'roof_age')::float8 from leads where organization_id = $1
  and not exists (select from custom_field_values where organization_id = $1 and rule_id = $2 limit 1)`;

/** Keeps the statement that it gets. The rows say how large the organization is, on which statements depend. */
let sent;
const keep = async (_call, statement) => {
  sent = statement;
  return [{ total: 0, records: 1_000_000, items: null }];
};
const database = { read: keep, scan: keep };
const repository = new LeadsRepository(database, undefined);
const call = { tenant: { id: organization, phoneRegion: 'US', timeZone: 'UTC' } };

async function statementOf({ filter, ...parameters }, isByCursor) {
  const read = filter && readFilterObject(filter, { target: LEADS, hasRelations: true });
  if (read?.problems?.length > 0) throw new Error(JSON.stringify(read.problems));
  const query = {
    ...{ page: 1, limit: 50, sort_dir: 'desc', ...parameters },
    ...(read && { filter: withDefinitions(read.filter, new Map([['age', AGE]])) }),
    ...(isByCursor && { after: '' }),
  };
  await (isByCursor ? repository.listAfter(call, query) : repository.list(call, query));
  return sent;
}

/** The indexes by which records are found, and the tables that are read as a whole. */
function readsIn(node, reads = new Set()) {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index } = node;
  // The records of a page are read by their ids.
  const isOfPage = /\bid = ANY/.test(node['Index Cond'] ?? '');
  if (node['Actual Loops'] > 0 && !isOfPage && !index?.startsWith('record_counts')) {
    if (index) reads.add(`\`${index}\``);
    if (type === 'Seq Scan') reads.add(`all ${table}`);
  }
  for (const child of node.Plans ?? []) readsIn(child, reads);
  return reads;
}

const client = new pg.Client({ connectionString });
await client.connect();
await client.query(VALUES, [organization, AGE.definitionId]);
await client.query('vacuum analyze custom_field_values');
// Those of the embedded PostgreSQL, which the documentation recommends for others.
const SETTINGS = { jit: 'off', max_parallel_workers_per_gather: 0, random_page_cost: 1.1 };
const TENANT = { 'app.organization_id': organization, role: 'latitude_app' };
const set = async (settings) => {
  for (const setting of Object.entries(settings)) {
    await client.query('select set_config($1, $2::text, false)', setting);
  }
};
await set({ ...SETTINGS, ...TENANT });
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

async function explain({ text, values, plan }) {
  const off = Object.keys(INDEX_PLAN).filter((name) => name.startsWith('enable_'));
  await set(Object.fromEntries(off.map((name) => [name, plan === 'index' ? 'off' : 'on'])));
  const explained = [];
  // A long statement is run once.
  while (explained.length < ROUNDS && !(explained[0]?.['Execution Time'] > LONG_MS)) {
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
    explained.push(rows[0]['QUERY PLAN'][0]);
  }
  const { Plan } = explained.at(-1);
  const time = median(explained.map((each) => each['Execution Time'])).toFixed(1);
  const pages = Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
  return [[...readsIn(Plan)].join(', '), time, String(pages)];
}

const rows = [];
for (const [title, list] of Object.entries(LISTS)) {
  const total = await explain(await statementOf(list, false));
  const cursor = list.sort_by ? ['', '', ''] : await explain(await statementOf(list, true));
  rows.push([title, ...total, ...cursor]);
  process.stderr.write(`${rows.at(-1).join(' | ')}\n`);
}
const header = ['', 'page and total', 'ms', 'pages of 8 KiB', 'by cursor', 'ms', 'pages of 8 KiB'];
console.log(markdownTable(header, rows, 0));
await client.end();
