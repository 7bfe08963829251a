import { setLogLevel } from '../config/logger.js';
import type { CredentialStore } from './credential-store.js';
import { KeyRevalidation, type OpenResponse } from './key-revalidation.js';

/** What is open ends within this time after its key becomes invalid. */
const SECOND_MS = 1_000;

const activeKeys = new Map([
  ['alice', []],
  ['bob', ['leads:read']],
]);

const findScopes = jest.fn<Promise<ReadonlyMap<string, readonly string[]>>, []>();
const findSuspended = jest.fn<Promise<ReadonlySet<string>>, []>();
const ended: string[] = [];
let revalidation: KeyRevalidation;

const heldBy = (id: string, key: Partial<OpenResponse['key']> = {}) => ({
  key: { id, name: id, expiresAt: null, userId: null, ...key },
  tenant: { id: 'organization' },
  updateScopes: jest.fn(),
  end: () => ended.push(id),
});

beforeEach(() => {
  jest.useFakeTimers();
  setLogLevel('silent');
  ended.length = 0;
  findScopes.mockReset().mockResolvedValue(activeKeys);
  findSuspended.mockReset().mockResolvedValue(new Set());
  const repository = { findScopes, findSuspended };
  revalidation = new KeyRevalidation(repository as unknown as CredentialStore);
  revalidation.onApplicationBootstrap();
});
afterEach(() => {
  revalidation.onModuleDestroy();
  jest.useRealTimers();
});

describe('KeyRevalidation', () => {
  it('ends what an invalid key holds open within a second, once and nothing else', async () => {
    for (const id of ['bob', 'alice']) revalidation.watch(heldBy(id));
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(ended).toEqual([]);
    findScopes.mockResolvedValue(new Map([['alice', []]]));
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toEqual(['bob']);
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(ended).toEqual(['bob']);
  });

  it('ends what a token holds open within a second after its organization is suspended', async () => {
    revalidation.watch(heldBy('carol', { subject: 'carol' }));
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(ended).toEqual([]);
    findSuspended.mockResolvedValue(new Set(['organization']));
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toEqual(['carol']);
  });

  it('ends what a token holds open when the token expires, without a lookup of the token', async () => {
    const expiresAt = new Date(Date.now() + 5 * SECOND_MS);
    revalidation.watch(heldBy('carol', { subject: 'carol', expiresAt }));
    await jest.advanceTimersByTimeAsync(4 * SECOND_MS);
    expect(ended).toEqual([]);
    await jest.advanceTimersByTimeAsync(2 * SECOND_MS);
    expect(ended).toEqual(['carol']);
    expect(findScopes).not.toHaveBeenCalled();
  });

  it('passes the scopes of a valid key', async () => {
    const held = heldBy('bob');
    revalidation.watch(held);
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(held.updateScopes).toHaveBeenCalledWith(['leads:read']);
  });

  it('ends nothing when the lookup of the keys fails, and tries again', async () => {
    revalidation.watch(heldBy('bob'));
    findScopes.mockRejectedValueOnce(new Error('the database is unavailable'));
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toEqual([]);
    findScopes.mockResolvedValue(new Map());
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toEqual(['bob']);
  });

  it('looks up nothing while nothing is open, and after the application stops', async () => {
    revalidation.watch(heldBy('bob'))();
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(findScopes).not.toHaveBeenCalled();
    revalidation.watch(heldBy('bob'));
    revalidation.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(findScopes).not.toHaveBeenCalled();
  });
});
