import type pg from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { Readiness } from '../../../../src/platform/data/readiness.js';
import { TimeBudget } from '../../../../src/platform/data/gateway/policies.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { createDatabase, databaseOf } from '../../../../src/testing/databases.js';
import { LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { until } from '../../../support/servers/product.js';
import { TcpProxy } from '../../../support/servers/tcp-proxy.js';

// Broken on purpose for docs/operating/runbook.md#the-database-cannot-be-used and docs/operating/runbook.md#connections-are-exhausted

const LIVE = '/health/live';
const READY = '/health/ready';

describe('readiness without a database', () => {
  let proxy: TcpProxy;
  let app: TestApp;
  beforeAll(async () => {
    proxy = await TcpProxy.to(await createDatabase());
    const timeBudget = new TimeBudget();
    app = await TestApp.start({ database: proxy.target, timeBudget });
  });
  afterAll(async () => {
    await app.stop();
    await proxy.close();
  });

  const becomesReady = () => until(async () => (await app.client().get(READY)).status === 200);

  it('is 503 while the database is not reachable, and 200 again afterwards', async () => {
    proxy.setOpen(false);
    expect((await app.client().get(LIVE)).status).toBe(200);
    const answer = await app.client().get(READY);
    expect(answer.status).toBe(503);
    expect(answer.body).toEqual({
      status: 'unavailable',
      reason: 'database',
      detail: 'The database cannot be reached.',
    });
    const metrics = async () => (await fetch(`${app.url}/metrics`)).text();
    expect(await metrics()).toContain('\nlatitude_ready 0\n');
    proxy.setOpen(true);
    await becomesReady();
    expect(await metrics()).toContain('\nlatitude_ready 1\n');
  });

  it('is 503 after a second without a response of the database, and opens a new connection', async () => {
    await becomesReady();
    proxy.blackhole();
    // The clock stands still at a time when the cached check is too old. One new check serves all requests.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 2_000);
    const answers = await Promise.all(Array.from({ length: 30 }, () => app.client().get(READY)));
    jest.restoreAllMocks();
    for (const { status, body } of answers) {
      expect(status).toBe(503);
      // The check times out before the connection does.
      expect(body.detail).toBe('The database does not answer in time.');
    }
    await becomesReady();
  });
});

describe('readiness with a database that fails requests', () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await TestApp.start();
    await becomes(app, 200);
  });
  afterEach(() => app.stop());

  it.each(['select', 'insert'])(
    'is 503 while the role latitude_app has no privilege to %s leads',
    async (right) => {
      await app.sql(`revoke ${right} on leads from latitude_app`);
      const answer = await becomes(app, 503);
      expect(answer.body).toMatchObject({ status: 'unavailable', reason: 'database' });
      expect(answer.body.detail).toContain('grants');
      await app.sql(`grant ${right} on leads to latitude_app`);
      await becomes(app, 200);
    },
  );

  it('is 503 while the database is read-only', async () => {
    const setReadOnly = async (value: 'on' | 'off') => {
      const name = databaseOf(app.database);
      await app.sql(`begin read write;
        alter database ${name} set default_transaction_read_only = ${value};
        commit`);
      await app.sql(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
    };
    await setReadOnly('on');
    await until(async () => {
      const { status, body } = await app.client().get(READY);
      return status === 503 && String(body.detail).includes('read-only');
    });
    await setReadOnly('off');
    await becomes(app, 200);
  });

  it('caches the check for a second', async () => {
    const readiness = app.app.get<unknown, { check: () => unknown }>(Readiness);
    const checks = jest.spyOn(readiness, 'check');
    const started = performance.now();
    await Promise.all(Array.from({ length: 100 }, () => app.client().get(READY)));
    const seconds = Math.ceil((performance.now() - started) / 1_000);
    expect(checks.mock.calls.length).toBeLessThanOrEqual(seconds + 1);
    checks.mockRestore();
  });
});

describe('readiness with all connections in use', () => {
  let app: TestApp;
  let api: Tenant['api'];
  let release: () => void;
  let begun: number;

  beforeEach(async () => {
    app = await TestApp.start();
    ({ api } = await app.organization());
    release = await takeEveryConnection(app);
    begun = performance.now();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    release();
    await app.stop();
  });

  /** Stops the clock, a number of seconds after every connection was taken. */
  const setClock = (seconds: number) => {
    jest.spyOn(performance, 'now').mockReturnValue(begun + seconds * 1_000);
  };

  it('is 200 while statements complete', async () => {
    for (const seconds of [0, 3, 6, 9]) {
      setClock(seconds);
      expect((await api.post(LEADS, { first_name: 'Ada' })).status).toBe(201);
      expect(await app.client().get(READY)).toMatchObject({ status: 200, body: { status: 'ok' } });
    }
  });

  it('is 503 after 5 seconds without progress, and 200 when a connection is free', async () => {
    const ready = async (seconds: number) => {
      setClock(seconds);
      return app.client().get(READY);
    };
    expect((await ready(0)).status).toBe(200);
    expect((await ready(2)).status).toBe(200);
    const answer = await ready(6);
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ reason: 'database', detail: expect.stringContaining('5') });
    release();
    expect((await ready(8)).status).toBe(200);
  });
});

/** Waits until readiness has a status. */
async function becomes(app: TestApp, status: number): Promise<Answer> {
  let answer: Answer | undefined;
  await until(async () => (answer = await app.client().get(READY)).status === status);
  return answer!;
}

/** Uses every connection of the pool. */
async function takeEveryConnection(app: TestApp): Promise<() => void> {
  const pool = (app.app.get(DataSource).driver as PostgresDriver).master as pg.Pool;
  const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  return () => {
    for (const client of taken.splice(0)) client.release();
  };
}
