import pg from 'pg';
import { createDatabase, configOf, dropDatabase, urlOf } from '../../../src/testing/databases.js';
import { createLead, expectError, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { captureLog } from '../../support/captured-log.js';
import { latitude, runCommand } from '../../support/command-line.js';
import { until } from '../../support/servers/product.js';

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly remedy?: string;
}

const log = captureLog('warn');

let app: TestApp;
let env: Record<string, string>;
beforeAll(async () => {
  app = await TestApp.start({ settings: { logLevel: 'warn' } });
  env = { DATABASE_URL: urlOf(app.database) };
});
afterAll(() => app.stop());

const metrics = async () => (await fetch(`${app.url}/metrics`)).text();

/** What `latitude doctor` says of one check. */
async function examine(name: string, variables = env): Promise<Check | undefined> {
  const { stdout } = await runCommand(['--json', 'doctor'], variables);
  return (JSON.parse(stdout) as { checks: Check[] }).checks.find((check) => check.name === name);
}

/** Waits until /health/ready has this status. Its result is kept for a second. */
const untilReady = (status: number) =>
  until(async () => (await app.client().get('/health/ready')).status === status);

// docs/operating/runbook.md#the-role-of-requests-lacks-grants
it('a role without grants is seen and mended as the runbook says', async () => {
  const { api } = await app.organization();
  await app.sql('revoke select on leads from latitude_app');
  expectError(await api.get(LEADS), 500, 'query_failed');
  await untilReady(503);
  expect((await app.client().get('/health/ready')).body).toMatchObject({
    reason: 'database',
    detail: 'The role that requests use lacks grants on tables or may not be used.',
  });
  const text = await metrics();
  expect(text).toContain('\nlatitude_ready 0\n');
  expect(text).toMatch(/latitude_errors_total\{code="query_failed"\} [1-9]/);
  expect(log.join('')).toContain('"sqlstate":"42501"');
  expect(await examine('grants')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('leads') as string,
  });

  await latitude(env, 'migrate');
  await untilReady(200);
  expect((await api.get(LEADS)).status).toBe(200);
  expect(await examine('grants')).toMatchObject({ status: 'ok' });
});

// docs/operating/runbook.md#searches-or-lists-are-slow
describe('a database without what makes lists and searches fast', () => {
  const other: { database?: Awaited<ReturnType<typeof createDatabase>> } = {};
  beforeAll(async () => {
    other.database = await createDatabase();
  });
  afterAll(() => dropDatabase(other.database!));

  it.each([
    ['leakproof', 'alter function pg_catalog.textlike(text, text) not leakproof'],
    ['indexes', 'drop index leads_sorted_by_last_name'],
    ['indexes', 'drop index leads_search'],
  ])('is seen by %s after: %s', async (name, breakage) => {
    const variables = { DATABASE_URL: urlOf(other.database!) };
    const client = new pg.Client(configOf(other.database!));
    await client.connect();
    await client.query(breakage);
    const found = await examine(name, variables);
    expect(found?.status).toMatch(/^(warning|failed)$/);
    await client.query(found!.remedy!.replace(/^[A-Z][^:]*: /, ''));
    expect(await examine(name, variables)).toMatchObject({ status: 'ok' });
    await client.end();
  });
});

// docs/operating/runbook.md#work-in-the-background-is-late
it('events that a transaction keeps from being published are seen, and published after it', async () => {
  const { api } = await app.organization();
  const client = new pg.Client(configOf(app.database));
  await client.connect();
  await client.query('begin; select from event_position for update');
  await createLead(api);
  await app.sql(`update event_outbox set created_at = created_at - interval '10 minutes'`);
  const age = async () =>
    Number(/^latitude_events_oldest_unpublished_seconds (\S+)/m.exec(await metrics())?.[1]);
  await until(async () => (await age()) > 600);
  expect(await examine('events')).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/waited for 6\d\d s to be published/) as string,
  });

  await client.query('rollback');
  await client.end();
  await until(async () => (await age()) === 0);
  expect(await examine('events')).toMatchObject({ status: 'ok' });
});
