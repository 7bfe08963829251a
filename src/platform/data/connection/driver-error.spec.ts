import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import pg from 'pg';
import { connectionOptions } from './data-source-options.js';
import { type DatabaseFailure, translateDriverError } from './driver-error.js';
import { ResilientClient } from './driver-pool.js';

const TIMEOUT_MS = 20;

/** The replies of PostgreSQL to a client that it accepts: AuthenticationOk and ReadyForQuery. */
const ACCEPTED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/** Whether the server accepts clients before it falls silent. */
let acceptsClients = false;
let server: net.Server;
let pool: pg.Pool;

beforeEach(async () => {
  server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => acceptsClients && socket.write(ACCEPTED));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await pool.end();
  server.close();
});

function openPool(options: pg.PoolConfig = {}): pg.Pool {
  const { port } = server.address() as AddressInfo;
  const address = { host: '127.0.0.1', port, user: 'a', database: 'a', Client: ResilientClient };
  const opened = new pg.Pool({ ...connectionOptions(TIMEOUT_MS), ...address, max: 1, ...options });
  return opened.on('error', () => undefined);
}

/** Returns what a failed step becomes in a read, or in a write whose outcome is unknown. */
async function failureOf(step: Promise<unknown>, fallback: 'query_failed' | 'create_failed') {
  const error = translateDriverError(await step.catch((thrown: unknown) => thrown), fallback);
  const { code, status, headers } = error as DatabaseFailure;
  return { code, status, headers };
}

const OVERLOADED = { code: 'overloaded', status: 503, headers: { 'Retry-After': '1' } };

describe.each(['query_failed', 'create_failed'] as const)(
  'a connection that is not open in time is overloaded, instead of %s',
  (fallback) => {
    it('if the server does not reply', async () => {
      acceptsClients = false;
      pool = openPool();
      // The second call waits for the connection of the first one.
      const failures = [pool.connect(), pool.connect()].map((step) => failureOf(step, fallback));
      expect(await Promise.all(failures)).toEqual([OVERLOADED, OVERLOADED]);
    });

    it('if a client of its own gets no reply', async () => {
      acceptsClients = false;
      pool = openPool();
      const client = new pg.Client(pool.options);
      expect(await failureOf(client.connect(), fallback)).toEqual(OVERLOADED);
    });

    it('if the server accepts the client, and does not set up the session', async () => {
      acceptsClients = true;
      pool = openPool();
      expect(await failureOf(pool.connect(), fallback)).toEqual(OVERLOADED);
    });
  },
);

it('a connection that the server closes is not overloaded', async () => {
  server.on('connection', (socket) => socket.destroy());
  pool = openPool({ connectionTimeoutMillis: 0 });
  expect(await failureOf(pool.connect(), 'query_failed')).toMatchObject({ code: 'query_failed' });
});
