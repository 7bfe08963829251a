import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type pg from 'pg';
import { isAccepting } from '../../src/ops/embedded-postgres/connection.js';
import { until } from '../support/servers/product.js';
import { expectRecovery, type Fault, LONG_MS } from './support/recovery.js';
import { openPostgres } from './support/postgres.js';
import { FaultEnvironment } from './support/environment.js';

// Broken on purpose for docs/operating/runbook.md#the-database-cannot-be-used and docs/operating/runbook.md#a-lock-blocks-requests

/** Duration of a fault that makes no request wait. */
const SHORT_MS = 1_000;

const TOO_MANY_CONNECTIONS = '53300';

const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-faults-'));
let environment: FaultEnvironment;

beforeAll(async () => {
  environment = await FaultEnvironment.start(await openPostgres(directory));
});
afterAll(async () => {
  await environment.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('a restart of PostgreSQL', () => {
  it.each([
    ['PostgreSQL restarted, fast', 'SIGINT'],
    ['PostgreSQL restarted, immediate', 'SIGQUIT'],
    ['PostgreSQL killed', 'SIGKILL'],
  ] as const)('%s', async (name, signal) => {
    await expectRecovery(environment, name, async ({ postgres }) => {
      const { pid } = postgres;
      process.kill(pid, signal);
      const isBack = async () => postgres.pid !== pid && (await isAccepting(postgres.connection));
      await until(isBack, { everyMs: 5 });
    });
  });
});

describe('a fault of the connections to PostgreSQL', () => {
  it.each<[string, Fault]>([
    [
      'connections reset',
      async ({ proxy }) => {
        for (let n = 0; n < 10; n++) {
          proxy.reset();
          await after(100);
        }
      },
    ],
    [
      'connections refused',
      async ({ proxy }) => {
        proxy.setOpen(false);
        await after(SHORT_MS);
        proxy.setOpen(true);
      },
    ],
    [
      'PostgreSQL unreachable, packets dropped',
      async ({ proxy }) => {
        proxy.pauseTraffic();
        await after(LONG_MS);
        proxy.resumeTraffic();
      },
    ],
    [
      'no packets until the end',
      async ({ proxy }) => {
        proxy.blackhole();
        // The first waiting requests detect the loss for all.
        await after(LONG_MS);
      },
    ],
    [
      '400 ms a round trip',
      async ({ proxy }) => {
        proxy.delayMs = 200;
        await after(LONG_MS);
        proxy.delayMs = 0;
      },
    ],
  ])('%s', async (name, fault) => {
    await expectRecovery(environment, name, fault);
  });
});

describe('other clients of PostgreSQL', () => {
  it.each<[string, Fault]>([
    [
      'a row locked',
      async (_, load) => {
        await locked(
          'select from leads where id = $1 for update',
          load.writeLog.changed.slice(0, 1),
        );
      },
    ],
    [
      'a table locked',
      async () => {
        await locked('lock table leads in access exclusive mode');
      },
    ],
    [
      'pool exhausted by slow statements',
      async () => {
        const client = await environment.client();
        await client.query(SLOW_WRITES);
        await after(LONG_MS);
        await client.query('drop function slow cascade');
        await client.end();
      },
    ],
    [
      'max_connections of PostgreSQL exhausted',
      async ({ proxy }) => {
        proxy.setOpen(false);
        const clients = await takeAllConnections();
        proxy.setOpen(true);
        await after(SHORT_MS);
        await Promise.all(clients.map((client) => client.end()));
      },
    ],
  ])('%s', async (name, fault) => {
    await expectRecovery(environment, name, fault);
  });
});

const SLOW_WRITES = `
  create function slow() returns trigger language plpgsql
    as 'begin perform pg_sleep(2); return new; end';
  create trigger slow before insert or update on leads for each row execute function slow()`;

async function locked(statement: string, values?: string[]): Promise<void> {
  const client = await environment.client();
  await client.query('begin');
  await client.query(statement, values);
  await after(LONG_MS);
  await client.query('rollback');
  await client.end();
}

async function takeAllConnections(): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  try {
    for (;;) taken.push(await environment.client());
  } catch (error) {
    expect(error).toMatchObject({ code: TOO_MANY_CONNECTIONS });
    return taken;
  }
}
