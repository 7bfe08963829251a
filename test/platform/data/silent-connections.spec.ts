import pg from 'pg';
import { DataSource } from 'typeorm';
import { SystemDatabase } from '../../../src/platform/data/gateway/system-database.js';
import { TimeBudget } from '../../../src/platform/data/gateway/policies.js';
import { JobQueueRepository } from '../../../src/platform/jobs/job-queue.repository.js';
import { configOf } from '../../../src/testing/databases.js';
import { McpHttpClient } from '../../../src/testing/mcp-client.js';
import { dataOf } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { TcpProxy } from '../../support/servers/tcp-proxy.js';

/** The most connections of an instance with one connection for background work. */
const FEW_CONNECTIONS = 5;

/** How long a test waits for a condition. */
const MAX_WAIT_MS = 4_000;

/** Longer than every timeout of a statement. */
const ALL_TIMEOUTS_MS = 15_000;

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
});
afterEach(() => jest.useRealTimers());
afterAll(() => app.stop());

/** Blocks all statements on a table until the returned client ends. */
async function lockTable(table: string): Promise<pg.Client> {
  const client = new pg.Client(configOf(app.database));
  await client.connect();
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  return client;
}

/**
 * Waits until a statement of an instance waits for a table. It uses no timer, because a test replaces them.
 * @param text part of the statement
 */
async function untilWaiting(instance: TestApp, text: string): Promise<void> {
  const { applicationName } = instance.app.get(DataSource).options as { applicationName: string };
  const waiting = `select from pg_stat_activity
    where application_name = $1 and wait_event = 'relation' and position($2 in query) > 0`;
  const end = performance.now() + MAX_WAIT_MS;
  while ((await app.sql(waiting, [applicationName, text])).length === 0) {
    if (performance.now() > end) throw new Error(`no statement with "${text}" waits`);
  }
}

/** An instance behind a proxy, with the deadlines of a server. */
async function startBehindProxy() {
  const proxy = await TcpProxy.to(app.database);
  const instance = await TestApp.start({ database: proxy.target, timeBudget: new TimeBudget() });
  const stop = async () => {
    await instance.stop();
    await proxy.close();
  };
  return { proxy, instance, stop };
}

describe('background work that waits', () => {
  it('delays no request', async () => {
    const instance = await TestApp.start({
      database: app.database,
      settings: { databaseMaxConnections: FEW_CONNECTIONS },
      timeBudget: new TimeBudget(),
    });
    const lock = await lockTable('event_position');
    await untilWaiting(instance, 'event_position');
    await new McpHttpClient(instance.url, tenant.key.key).openSession();
    const own = await instance.client(tenant.key.key).get('/api/v1/organization');
    expect(dataOf(own)).toMatchObject({ id: tenant.id });
    await untilWaiting(instance, 'event_position');
    await lock.end();
    await instance.stop();
  });
});

interface Sender {
  readonly table: string;
  readonly text: string;
  readonly send: (instance: TestApp) => Promise<unknown>;
}

describe('a statement whose connection does not respond', () => {
  it.each<[string, Sender]>([
    [
      'of a request',
      {
        table: 'mcp_sessions',
        text: 'select from mcp_sessions',
        send({ app }) {
          return app.get(SystemDatabase).write({ text: this.text, values: [] });
        },
      },
    ],
    [
      'of background work',
      {
        table: 'job_schedules',
        text: 'set locked_until = null',
        send: ({ app }) => app.get(JobQueueRepository).releaseSchedule('none', new Date()),
      },
    ],
  ])('%s fails, and the next one uses a new connection', async (_, sender) => {
    const { proxy, instance, stop } = await startBehindProxy();
    const send = () => sender.send(instance);
    // Two connections, one of which is idle when the other one does not respond.
    await Promise.all([send(), send()]);
    const lock = await lockTable(sender.table);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance', 'Date'] });
    const failure = send().catch((error: unknown) => error);
    await untilWaiting(instance, sender.text);
    proxy.blackhole();
    await lock.end();
    jest.advanceTimersByTime(ALL_TIMEOUTS_MS);
    jest.useRealTimers();
    expect(await failure).toBeInstanceOf(Error);
    await send();
    await stop();
  });
});
