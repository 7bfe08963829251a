import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type pg from 'pg';
import { until } from '../support/servers/product.js';
import { FaultEnvironment } from './support/environment.js';
import { openPostgres } from './support/postgres.js';
import { RETRYABLE_CODES } from './support/recovery.js';
import { SharedLeads } from './support/shared-leads.js';

const ORGANIZATIONS = 8;
const DURATION_MS = 10_000 * Number(process.env.FAULTS_ROUNDS);
const PAUSE_MS = 300;

/** Ends two connections of the server in the middle of whatever they run. */
const END_CONNECTIONS = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name like 'latitude server %' order by random() limit 2`;

const RUNNING = `select from pg_stat_activity
  where application_name like 'latitude server %' and state <> 'idle'`;

const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-faults-'));
let environment: FaultEnvironment;
let client: pg.Client;

beforeAll(async () => {
  environment = await FaultEnvironment.start(await openPostgres(directory));
  client = await environment.client();
});
afterAll(async () => {
  await client.end();
  await environment.close();
  rmSync(directory, { recursive: true, force: true });
});

it('64 callers of 8 organizations share leads while connections are lost and tables are locked', async () => {
  const organizations: SharedLeads[] = [];
  for (let n = 0; n < ORGANIZATIONS; n++) {
    const { id, api } = await environment.organization();
    organizations.push(new SharedLeads(id, api, `o${n}x`));
  }
  await Promise.all(organizations.map((organization) => organization.prepare()));

  const end = performance.now() + DURATION_MS;
  const isOver = () => performance.now() > end;
  const callers = organizations.flatMap((organization) => organization.callers(isOver));
  let lost = 0;
  for (let n = 1; !isOver(); n++) {
    await after(PAUSE_MS);
    if (n % 6 > 0) lost += (await client.query(END_CONNECTIONS)).rows.length;
    else await lockLeads();
  }
  await Promise.all(callers);
  await until(async () => (await client.query(RUNNING)).rows.length === 0);

  for (const organization of organizations) await organization.expectConsistent(client);
  const refusals = organizations.flatMap((organization) => [...organization.refusals]);
  expect(refusals.filter(([code]) => !RETRYABLE_CODES.includes(code))).toEqual([]);
  expect(lost).toBeGreaterThan(0);
  const requests = organizations.reduce((sum, organization) => sum + organization.requests, 0);
  const refused = refusals.reduce((sum, [, count]) => sum + count, 0);
  process.stdout.write(
    `shared leads: ${requests} requests, ${refused} refused, ${lost} connections lost; nothing wrong\n`,
  );
});

async function lockLeads(): Promise<void> {
  await client.query('begin');
  await client.query('lock table leads');
  await after(PAUSE_MS);
  await client.query('commit');
}
