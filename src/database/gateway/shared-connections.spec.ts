import type pg from 'pg';
import { SharedConnections } from './shared-connections.js';

/** Time without a response after which a connection gets no further statements. */
const UNRESPONSIVE_MS = 10;

/** A statement that runs until the test ends it. */
interface RunningStatement {
  readonly connection: number;
  end(): void;
  fail(error: Error): void;
}

let statements: RunningStatement[];
let opened: number;
let release: jest.Mock;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick'] });
  statements = [];
  opened = 0;
  release = jest.fn();
});
afterEach(() => jest.useRealTimers());

/** Connections of a pool with a maximum size. Their clients have a number. */
function connectionsOf(max: number, preferred: number, connect = openClient): SharedConnections {
  return new SharedConnections({ options: { max }, connect } as unknown as pg.Pool, preferred);
}

function openClient(): Promise<pg.PoolClient> {
  const client = { number: ++opened, release };
  return Promise.resolve(client as unknown as pg.PoolClient);
}

/** Sends a number of statements. */
async function send(shared: SharedConnections, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const running = shared.run(
      (client) =>
        new Promise<void>((resolve, reject) => {
          const { number } = client as unknown as { number: number };
          statements.push({ connection: number, end: resolve, fail: reject });
        }),
    );
    running.catch(() => undefined);
  }
  await settle();
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

const used = () => statements.map(({ connection }) => connection);

it('sends the preferred number of statements on a connection before it opens another one', async () => {
  await send(connectionsOf(3, 2), 5);
  expect(used()).toEqual([1, 1, 2, 2, 3]);
});

it('uses the connection with the fewest statements when no other one may be opened', async () => {
  const shared = connectionsOf(2, 1);
  await send(shared, 5);
  expect(used()).toEqual([1, 2, 1, 2, 1]);
});

it('sends no further statements on a connection that does not respond', async () => {
  const shared = connectionsOf(2, 16);
  await send(shared, 1);
  jest.advanceTimersByTime(UNRESPONSIVE_MS);
  await send(shared, 2);
  expect(used()).toEqual([1, 2, 2]);
  statements[0]!.end();
  await settle();
  await send(shared, 1);
  expect(used()).toEqual([1, 2, 2, 2]);
});

it('uses a connection again that has responded to one of its statements', async () => {
  const shared = connectionsOf(2, 16);
  await send(shared, 2);
  jest.advanceTimersByTime(UNRESPONSIVE_MS);
  statements[0]!.end();
  await settle();
  await send(shared, 1);
  expect(used()).toEqual([1, 1, 1]);
});

it('uses unresponsive connections when there are no others', async () => {
  const shared = connectionsOf(1, 1);
  await send(shared, 1);
  jest.advanceTimersByTime(UNRESPONSIVE_MS);
  await send(shared, 1);
  expect(used()).toEqual([1, 1]);
});

it('releases a connection after its last statement', async () => {
  await send(connectionsOf(1, 1), 2);
  statements[0]!.end();
  await settle();
  expect(release).not.toHaveBeenCalled();
  statements[1]!.fail(new Error('refused'));
  await settle();
  expect(release).toHaveBeenCalledTimes(1);
});

it.each<[string, (shared: SharedConnections) => void]>([
  [
    'it has failed',
    () => {
      statements[0]!.fail(new Error('lost'));
    },
  ],
  [
    'the connections are renewed',
    (shared) => {
      shared.renew();
    },
  ],
])('does not use a connection for further statements after %s', async (_, lose) => {
  const shared = connectionsOf(2, 16);
  await send(shared, 2);
  lose(shared);
  await settle();
  await send(shared, 1);
  expect(used()).toEqual([1, 1, 2]);
});

it('does not use a connection again that could not be opened', async () => {
  const connect = jest
    .fn<Promise<pg.PoolClient>, []>()
    .mockRejectedValueOnce(new Error('refused'))
    .mockImplementation(openClient);
  const shared = connectionsOf(1, 16, connect);
  const failing = shared.run(() => Promise.resolve());
  await expect(failing).rejects.toThrow('refused');
  await send(shared, 1);
  expect(used()).toEqual([1]);
});
