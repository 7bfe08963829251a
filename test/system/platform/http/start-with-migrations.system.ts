import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import type { DatabaseTarget } from '../../../../src/platform/data/connection/data-source-options.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import { ApiClient } from '../../../../src/testing/api-client.js';
import { LEADS } from '../../../../src/testing/factories.js';
import { freePort } from '../../../support/servers/free-port.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import {
  configOf,
  createDatabase,
  dropDatabase,
  urlOf,
} from '../../../../src/testing/databases.js';
import { captureLog } from '../../../support/captured-log.js';
import { Product, type RunningServer, until } from '../../../support/servers/product.js';

/** The advisory lock that an instance holds while it migrates. */
const MIGRATION_LOCK = 7_284_913;

describe('a server that starts with pending migrations', () => {
  const product = new Product();
  let database: DatabaseTarget;
  let blocker: pg.Client;
  let server: RunningServer;
  let port: number;

  beforeEach(async () => {
    database = await createDatabase('empty');
    blocker = new pg.Client(configOf(database));
    await blocker.connect();
    port = await freePort();
  });
  afterEach(async () => {
    await blocker.end();
    if (!server.hasEnded) await server.stop();
    await dropDatabase(database);
  });
  afterAll(() => product.remove());

  const start = () => {
    const env = { DATABASE_URL: urlOf(database), PORT: String(port) };
    server = product.spawnServer(env);
  };
  const client = () => new ApiClient(`http://127.0.0.1:${port}`);
  const isLive = async () => {
    const status = await client()
      .get('/health/live')
      .then((answer) => answer.status)
      .catch(() => undefined);
    return status === 200;
  };

  it('is live and not ready, answers 503, and then serves requests on the same connections', async () => {
    await blocker.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    start();
    await until(isLive);
    const ready = await client().get('/health/ready?probe=1');
    expect(ready).toMatchObject({
      status: 503,
      body: { status: 'unavailable', reason: 'migrating' },
    });
    expect(ready.headers.get('cache-control')).toBe('no-store');
    expect((await client().request('HEAD', '/health/live')).status).toBe(200);

    const refused = await client().post(LEADS, { first_name: 'Ada' });
    expectEnvelope(refused, { status: 503, code: 'overloaded', retryable: true });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit-limit')).not.toBeNull();
    await server.untilPrinted(/waiting for another instance/);

    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const first = await get(port, '/health/ready', agent);
    expect(first.status).toBe(503);
    // A target that Express cannot read as a path.
    expect(await get(port, 'foo://bar', agent)).toMatchObject({ status: 503 });
    await blocker.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    await server.untilPrinted(/Latitude listens on/);
    const last = await get(port, '/health/ready', agent);
    expect(last).toEqual({ status: 200, localPort: first.localPort });
    agent.destroy();
    const unknown = await client().get(LEADS);
    expectEnvelope(unknown, { status: 401, code: 'unauthorized' });
  });

  it('stops on a signal while it waits for another instance, and exits with 0', async () => {
    await blocker.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    start();
    await server.untilPrinted(/waiting for another instance/);
    expect(await server.stop()).toBe(0);
    expect(server.stdout).toMatch(/"msg":"Latitude has stopped"\}\n$/);
    expect(await isLive()).toBe(false);
  });

  it('logs the number, name and duration of each migration, and slow ones also while they run', async () => {
    await blocker.query(`create table migrations
      (id serial primary key, timestamp bigint not null, name varchar not null)`);
    await blocker.query('begin; lock table migrations in share mode');
    start();
    await server.untilPrinted(/still running/);
    expect(await isLive()).toBe(true);
    const [first, ...others] = lines(server, 'a migration is still running');
    expect(others).toEqual([]);
    // The baseline has the name of the last migration that it replaces.
    expect(first).toMatchObject({ number: 1, migration: 'McpSessionEnds1766016000000' });
    await blocker.query('rollback');
    await server.untilPrinted(/Latitude listens on/);
    const complete = lines(server, 'a migration is complete');
    const numbers = complete.map(({ number, of }) => `${number}/${of}`);
    expect(numbers).toEqual(complete.map((_, n) => `${n + 1}/${complete.length}`));
    expect(complete[0]!.ms).toBeGreaterThan(4_900);
  });
});

interface Line {
  readonly msg: string;
  readonly migration: string;
  readonly number: number;
  readonly of: number;
  readonly ms: number;
}

function lines(server: RunningServer, message: string): Line[] {
  const all = server.stdout.split('\n').filter((line) => line.startsWith('{'));
  return all.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === message);
}

async function get(port: number, path: string, agent: http.Agent) {
  const request = http.get({ host: '127.0.0.1', port, path, agent });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { localPort } = response.socket;
  await text(response);
  return { status: response.statusCode, localPort };
}

describe('startup without a usable database', () => {
  const lines = captureLog();

  it('fails at once and logs no retry', async () => {
    const database = await createDatabase('empty');
    await dropDatabase(database);
    const starting = TestApp.start({ database, settings: { logLevel: 'error' } });
    await expect(starting).rejects.toThrow('does not exist');
    expect(lines.filter((line) => line.includes('Retrying'))).toEqual([]);
  });
});
