import { spawnSync } from 'node:child_process';
import path from 'node:path';
import '../../../../src/app.module.js';
import { filterTargetNamed } from '../../../../src/platform/data/filters/filter-target.js';
import { matches } from '../../../../src/platform/data/filters/matches.js';
import { readFilter } from '../../../../src/platform/data/filters/parse-filter.js';
import {
  NO_DEFINITIONS,
  withDefinitions,
} from '../../../../src/platform/data/filters/with-definitions.js';
import { dataOf } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { idsByCursor } from '../../../support/by-cursor.js';
import { Random } from '../../../support/random.js';
import { randomAppointment, randomFilter, randomLead, randomTask } from './random-filters.js';

/** `npm run test:filters` sets both. */
const { FILTERS = '60', SEED = '20261128' } = process.env;

const RECORDS = ['leads', 'appointments', 'tasks'] as const;
type Kind = (typeof RECORDS)[number];
interface Row {
  readonly id: string;
}
/** Pairs of a value and its count. */
type Counts = readonly (readonly [value: string | null, count: number])[];

/** The fields by which records are counted. */
const GROUPINGS = {
  leads: ['status', 'temperature', 'source', 'tag', 'city'],
  appointments: ['status', 'type'],
  tasks: ['status', 'priority', 'assigned_to'],
} as const;

let server: TestApp;
let tenant: Tenant;
let records: Record<Kind, readonly Row[]>;
const random = new Random(Number(SEED));

beforeAll(async () => {
  // A server of its own, because a server refuses exports while others run.
  server = await TestApp.start();
  tenant = await server.organization();
  const create = async (kind: Kind, body: object) =>
    dataOf<Row>(await tenant.api.post(`/api/v1/${kind}`, body), 201).id;
  const leads: string[] = [];
  for (let index = 0; index < 60; index++)
    leads.push(await create('leads', randomLead(random, index)));
  const tasks: string[] = [];
  for (let index = 0; index < 40; index++) {
    await create('appointments', randomAppointment(random, random.of(leads)));
    const contact = random.below(4) === 0 ? undefined : random.of(leads);
    tasks.push(await create('tasks', randomTask(random, contact)));
  }
  for (const kind of RECORDS) await spreadTimes(kind);
  for (const id of leads.slice(0, 6)) await tenant.api.delete(`/api/v1/leads/${id}`);
  for (const id of tasks.slice(0, 6)) await tenant.api.delete(`/api/v1/tasks/${id}`);
  records = {
    leads: await listed('leads'),
    appointments: await listed('appointments'),
    tasks: await listed('tasks'),
  };
});
afterAll(() => server.stop());

async function spreadTimes(kind: Kind): Promise<void> {
  await server.sql(
    `update ${kind} set created_at = timestamptz '2026-01-01Z' + n * interval '1 day',
       updated_at = timestamptz '2026-01-01Z' + n * interval '1 day'
     from (select id as each, row_number() over (order by id) - 3 as n from ${kind}
       where organization_id = $1) numbered where organization_id = $1 and id = each`,
    [tenant.id],
  );
}

/** Whole records: of leads, items of a list have some of the fields only. */
async function listed(kind: Kind): Promise<Row[]> {
  const answer = await tenant.api.get(`/api/v1/${kind}?fields=*&limit=100`);
  return dataOf<Row[]>(answer);
}

/** What each filter selects, and the counts by a field, by the evaluation in Python. */
function expectedOf(filters: readonly { record: Kind; filter: object; by: string }[]) {
  const script = path.join('test', 'platform', 'data', 'filters', 'naive.py');
  const input = JSON.stringify({ records, filters });
  const { stdout, stderr, status } = spawnSync('python3', [script], { input, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as { ids: string[]; counts: Counts }[];
}

/** The ids that a filter selects and the totals, in each way to read them. */
async function selected(kind: Kind, filter: object, by: string) {
  const query = new URLSearchParams({ filter: JSON.stringify(filter), limit: '100' });
  const answer = await tenant.api.get(`/api/v1/${kind}?${query}`);
  if (answer.status !== 200) return { status: answer.status, body: answer.body as unknown };
  const { data, meta } = answer.body as { data: Row[]; meta: { total: number } };
  const byCursor = await idsByCursor(tenant.api, `/api/v1/${kind}`, {
    filter: JSON.stringify(filter),
    limit: '40',
  });
  const counted = new URLSearchParams({ filter: JSON.stringify(filter), by });
  const counts = await tenant.api.get(`/api/v1/${kind}/counts?${counted}`);
  const ids = {
    counts: dataOf<{ value: string | null; count: number }[]>(counts).map(({ value, count }) => [
      value,
      count,
    ]),
    page: data.map(({ id }) => id).sort(),
    total: meta.total,
    byCursor: byCursor.sort(),
  };
  return kind === 'leads' ? { ...ids, exported: await exported(filter) } : ids;
}

/** The ids that a filter selects by the evaluation of webhooks; undefined if it has relations, which webhooks do not take. */
function evaluatedIds(kind: Kind, given: object): string[] | undefined {
  const target = filterTargetNamed(kind)!;
  const { filter } = readFilter(given, { target, hasRelations: false });
  if (!filter) return undefined;
  const typed = withDefinitions(filter, NO_DEFINITIONS);
  const isMatch = (record: Row) => matches(typed, { ...record }, 'US');
  return records[kind]
    .filter(isMatch)
    .map(({ id }) => id)
    .sort();
}

async function exported(filter: object): Promise<string[]> {
  const query = new URLSearchParams({ filter: JSON.stringify(filter), format: 'ndjson' });
  const answer = await tenant.api.get(`/api/v1/leads/export?${query}`);
  expect({ status: answer.status, error: answer.body.error as unknown }).toEqual({ status: 200 });
  const lines = (answer.body as string).split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as Row).id).sort();
}

describe('random filters', () => {
  it('select the records of a naive evaluation, by pages with totals, by cursor, in counts, in exports and for webhooks', async () => {
    const filters = Array.from({ length: Number(FILTERS) }, () => {
      const record = random.of(RECORDS);
      return { record, filter: randomFilter(random, record), by: random.of(GROUPINGS[record]) };
    });
    const expected = expectedOf(filters);
    for (const [index, { record, filter, by }] of filters.entries()) {
      const { counts } = expected[index]!;
      const ids = expected[index]!.ids.toSorted();
      const found = { counts, page: ids, total: ids.length, byCursor: ids };
      const evaluated = evaluatedIds(record, filter);
      expect({ filter, evaluated, ...(await selected(record, filter, by)) }).toEqual({
        filter,
        evaluated: evaluated && ids,
        ...found,
        ...(record === 'leads' && { exported: ids }),
      });
    }
    // Filters that select some of the records show more than others.
    expect(expected.filter(({ ids }) => ids.length > 0).length).toBeGreaterThan(filters.length / 3);
  });
});
