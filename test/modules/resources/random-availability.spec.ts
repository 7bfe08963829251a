import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { freeTimes } from '../../../src/modules/resources/hours/free-time.js';
import { createLead, dataOf } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { Random } from '../../support/random.js';
import {
  randomPastQuestion,
  randomQuestion,
  type RandomQuestion,
  randomTimes,
} from './random-resources.js';

/** `npm run test:availability` sets both. */
const { RESOURCES = '25', SEED = '20261128' } = process.env;

const MINUTE = 60_000;
/** A key has at most 20 holds. */
const RESOURCES_OF_A_KEY = 8;

let server: TestServer;
const random = new Random(Number(SEED));
const questions = (question: (random: Random) => RandomQuestion) =>
  Array.from({ length: Number(RESOURCES) }, () => question(random));

beforeAll(async () => {
  server = await TestServer.shared();
});
afterAll(() => server.stop());

/** The local starts of free times, by the evaluation in Python. */
function expectedStarts(cases: readonly (RandomQuestion & { busy: readonly unknown[] })[]) {
  const script = path.join('test', 'modules', 'resources', 'naive_availability.py');
  const options = { input: JSON.stringify(cases), encoding: 'utf8', maxBuffer: 1e9 } as const;
  const { stdout, stderr, status } = spawnSync('python3', [script], options);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as string[][];
}

/** Books times of a new resource. */
async function bookedResource(tenant: Tenant, lead_id: string, question: RandomQuestion) {
  const { resource, ...window } = question;
  const body = { name: 'Crew', ...resource };
  const { id } = dataOf<{ id: string }>(await tenant.api.post('/api/v1/resources', body), 201);
  const busy: [Date, Date][] = [];
  let holds = 0;
  for (const [start_time, end_time] of randomTimes(random, question)) {
    const time = { resource_id: id, start_time, end_time };
    const isHold = random.below(3) === 0 && holds < 20 / RESOURCES_OF_A_KEY - 1;
    const answer = isHold
      ? await tenant.api.post('/api/v1/holds', { ...time, seconds: 900 })
      : await tenant.api.post('/api/v1/appointments', { lead_id, ...time });
    if (answer.status === 409) continue;
    const made = dataOf<{ id: string }>(answer, 201);
    if (isHold) holds++;
    if (random.below(4) > 0) busy.push([start_time, end_time]);
    else dataOf(await tenant.api.delete(`/api/v1/${isHold ? 'holds' : 'appointments'}/${made.id}`));
  }
  return { id, busy, window };
}

it('free times are those of a naive computation, also on days when clocks change', async () => {
  const asked = questions(randomQuestion);
  const cases = [];
  const found: string[][] = [];
  let tenant: Tenant | undefined;
  let lead_id = '';
  for (const [index, question] of asked.entries()) {
    if (!tenant || index % RESOURCES_OF_A_KEY === 0) {
      tenant = await server.organization();
      lead_id = (await createLead(tenant.api)).id;
    }
    const { id, busy, window } = await bookedResource(tenant, lead_id, question);
    const parameters = Object.entries({ resource_id: id, ...window });
    const query = new URLSearchParams();
    for (const [name, value] of parameters) query.set(name, String(value));
    const answer = await tenant.api.get(`/api/v1/availability?${query.toString()}`);
    const [free] = dataOf<[{ slots: { start_time: string; local_start: string }[] }]>(answer);
    for (const { start_time, local_start } of free.slots) {
      expect(new Date(local_start).toISOString()).toBe(start_time);
    }
    found.push(free.slots.map(({ local_start }) => local_start));
    cases.push({ ...question, busy });
  }
  for (const [index, expected] of expectedStarts(cases).entries()) {
    expect({ case: cases[index], free: found[index] }).toEqual({
      case: cases[index],
      free: expected,
    });
  }
  // Resources with free times show more than others.
  expect(found.filter(({ length }) => length > 0).length).toBeGreaterThan(found.length / 2);
});

it('free times of the past are those of a naive computation, also around days that were skipped', () => {
  const cases = questions(randomPastQuestion).map((question) => ({ ...question, busy: [] }));
  for (const [index, expected] of expectedStarts(cases).entries()) {
    const { resource, from, to, duration_minutes, step_minutes } = cases[index]!;
    const window = { start: Date.parse(from), end: Date.parse(to) };
    const lengths = { duration: duration_minutes * MINUTE, step: step_minutes * MINUTE };
    const found = [...freeTimes(resource, [], window, lengths)].map(({ start }) => start);
    expect({ case: cases[index], free: found }).toEqual({
      case: cases[index],
      free: expected.map((local) => Date.parse(local)),
    });
  }
});
