import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { ApiClient } from '../../src/testing/api-client.js';
import { createLead, dataOf } from '../../src/testing/factories.js';
import { createOrganization } from '../support/command-line.js';
import { COUNT_DIFFERENCES, COUNT_OVERLAPS, RandomBookings } from '../support/random-bookings.js';
import { Product, type RunningServer, UNLIMITED } from '../support/servers/product.js';
import { openPostgres, type Postgres } from './support/postgres.js';

const DURATION_MS = 60_000 * Number(process.env.FAULTS_ROUNDS);
const KILL_EVERY_MS = 4_000;
const CALLERS = 16;
const HOUR = 3_600_000;

interface Refusal {
  error: { code: string; details: [{ free: { start_time: string; end_time: string }[] }] };
}

const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-bookings-'));
let postgres: Postgres;
let product: Product;
let instances: [RunningServer, RunningServer];
let key: string;
let lead_id: string;

const api = (n: number) => new ApiClient(instances[n % 2]!.url, key);
const resource = async (fields: object = {}) =>
  dataOf<{ id: string }>(await api(0).post('/api/v1/resources', { name: 'Crew', ...fields }), 201)
    .id;

beforeAll(async () => {
  postgres = await openPostgres(directory);
  const { user, host, port, database } = postgres.connection;
  const url = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  product = new Product({ DATABASE_URL: url, ...UNLIMITED });
  instances = [await product.start(), await product.start()];
  ({ key } = await createOrganization(product.environment));
  lead_id = (await createLead(api(0))).id;
});

afterAll(async () => {
  await product.remove();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function countOf(sql: string): Promise<unknown> {
  const client = new pg.Client(postgres.connection);
  await client.connect();
  try {
    return Object.values((await client.query<Record<string, unknown>>(sql)).rows[0]!)[0];
  } finally {
    await client.end();
  }
}

it('of 200 callers for 20 slots over two instances, 20 get one', async () => {
  const hours = {
    monday: [{ start: '00:00', end: '24:00' }],
    tuesday: [{ start: '00:00', end: '24:00' }],
  };
  const resource_id = await resource({ hours });
  const booked: [start: number, end: number][] = [];
  let wrong = 0;
  let repeated = 0;
  const call = async (_: unknown, n: number) => {
    const start = Date.UTC(2040, 0, 2, n % 20);
    const time = { start_time: new Date(start), end_time: new Date(start + HOUR) };
    const before = [...booked];
    const book = () => api(n).post('/api/v1/appointments', { lead_id, resource_id, ...time });
    let answer = await book();
    // On a busy machine, the last callers have waited longer than an operation may take.
    while (answer.status === 503) {
      repeated++;
      answer = await book();
    }
    if (answer.status === 201) booked.push([start, start + HOUR]);
    else {
      const { code, details } = (answer.body as unknown as Refusal).error;
      if (code !== 'slot_taken') throw new Error(code);
      for (const { start_time, end_time } of details[0].free) {
        const [from, to] = [Date.parse(start_time), Date.parse(end_time)];
        if (before.some(([takenFrom, takenTo]) => takenFrom < to && takenTo > from)) wrong++;
      }
    }
    return answer.status;
  };
  const started = performance.now();
  const statuses = await Promise.all(Array.from({ length: 200 }, call));
  const ms = Math.round(performance.now() - started);
  expect(statuses.filter((status) => status === 201)).toHaveLength(20);
  expect(statuses.filter((status) => status === 409)).toHaveLength(180);
  expect(wrong).toBe(0);
  expect(await countOf(COUNT_OVERLAPS)).toBe(0);
  process.stdout.write(
    `bookings: 200 callers, 20 appointments, 180 slot_taken in ${ms} ms, ${repeated} repeated after 503\n`,
  );
});

it(
  'no two appointments overlap and none is lost while instances are killed',
  async () => {
    const hours = { monday: [{ start: '00:00', end: '24:00' }] };
    const resources = [
      await resource({ hours }),
      await resource({ hours }),
      await resource({ hours }),
    ];
    const bookings = new RandomBookings(lead_id, resources);
    const end = performance.now() + DURATION_MS;
    const isOver = () => performance.now() > end;
    const callers = Array.from({ length: CALLERS }, (_, n) => bookings.run(() => api(n), isOver));
    let kills = 0;
    for (let n = 0; !isOver(); n = 1 - n) {
      await after(KILL_EVERY_MS);
      instances[n]!.signal('SIGKILL');
      await instances[n]!.ended;
      instances[n] = await product.start();
      kills++;
    }
    await Promise.all(callers);
    expect(await countOf(COUNT_OVERLAPS)).toBe(0);
    expect(await countOf(COUNT_DIFFERENCES)).toBe(0);
    expect(await bookings.lost(api(0))).toEqual([]);
    const known = [
      'ok',
      'slot_taken',
      'not_found',
      'too_many_holds',
      'lost',
      'overloaded',
      'create_failed',
    ];
    expect([...bookings.codes.keys()].filter((code) => !known.includes(code))).toEqual([]);
    const codes = [...bookings.codes].map(([code, count]) => `${count} ${code}`).join(', ');
    process.stdout.write(
      `bookings: ${bookings.requests} requests (${codes}), ${kills} kills; no overlap, none lost\n`,
    );
  },
  DURATION_MS + 120_000,
);
