import type { Authenticator } from '../../auth/authenticator.js';
import { setLogLevel } from '../../config/logger.js';
import { KeyWatch } from './session-revalidation.js';
import type { Listener, Listeners } from '../subscriptions/listeners.js';
import type { Session } from './session.js';
import type { Sessions } from './sessions.js';

/** Within this time, what a key has opened ends with it. */
const SECOND_MS = 1_000;

const valid = new Map([
  ['alice', []],
  ['bob', []],
]);
const opened = (keyId: string) => ({ keyId, followScopes: () => undefined });
const sessions = [opened('alice'), opened('bob')] as unknown as Session[];
const listeners = [opened('bob'), opened('alice')] as unknown as Listener[];

const findScopes = jest.fn<Promise<ReadonlyMap<string, readonly string[]>>, []>();
const ended: unknown[] = [];
const end = (one: unknown) => ended.push(one);
let watch: KeyWatch;

beforeEach(() => {
  jest.useFakeTimers();
  setLogLevel('silent');
  ended.length = 0;
  findScopes.mockReset().mockResolvedValue(valid);
  watch = new KeyWatch(
    { all: () => sessions, end, endIdle: () => undefined } as unknown as Sessions,
    { all: () => listeners, end } as unknown as Listeners,
    { scopesOf: findScopes } as unknown as Authenticator,
  );
  watch.onApplicationBootstrap();
});
afterEach(() => {
  watch.onModuleDestroy();
  jest.useRealTimers();
});

it('ends what a key has opened within a second after it is no longer valid, and nothing else', async () => {
  await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
  expect(ended).toEqual([]);
  findScopes.mockResolvedValue(new Map([['alice', []]]));
  await jest.advanceTimersByTimeAsync(SECOND_MS);
  expect(ended).toEqual([sessions[1], listeners[0]]);
});

it('ends nothing where the keys cannot be looked up, and looks again', async () => {
  findScopes.mockRejectedValueOnce(new Error('the database is away'));
  await jest.advanceTimersByTimeAsync(SECOND_MS);
  expect(ended).toEqual([]);
  findScopes.mockResolvedValue(new Map());
  await jest.advanceTimersByTimeAsync(SECOND_MS);
  expect(ended).toHaveLength(4);
});

it('looks no more once the application stops', async () => {
  watch.onModuleDestroy();
  await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
  expect(findScopes).not.toHaveBeenCalled();
});
