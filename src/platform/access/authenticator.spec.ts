import { generateKey } from './api-key-format.js';
import type { CredentialStore, KeyRecord } from './credential-store.js';
import { SettingsRateLimitPolicy } from './limits/rate-limit-policy.js';
import { Authenticator } from './authenticator.js';
import type { OrganizationCalls } from './organization-calls.service.js';

const KEY = generateKey();

/** Lifetime of a cached key, and the age at which a key in use is looked up again. */
const REMEMBERED_MS = 900;
const RENEWED_MS = 450;

const RECORD: KeyRecord = {
  id: 'key',
  name: 'Zapier',
  scopes: ['leads:read'],
  user_id: null,
  expires_at: null,
  organization_id: 'organization',
  organization_name: 'Acme',
  phone_region: 'US',
  time_zone: 'UTC',
  unknown_fields: 'allow',
  definitions_version: 0,
};

const findKeyByHash = jest.fn<Promise<KeyRecord | undefined>, []>();
let authenticator: Authenticator;

beforeEach(async () => {
  jest.useFakeTimers();
  findKeyByHash.mockReset().mockResolvedValue(RECORD);
  const updateLastUsed = () => Promise.resolve();
  const repository = { findKeyByHash, updateLastUsed } as unknown as CredentialStore;
  const tokens = { acceptsTokens: false } as OrganizationCalls;
  authenticator = new Authenticator(repository, new SettingsRateLimitPolicy(), tokens);
  await authenticator.authenticate(KEY);
});
afterEach(() => jest.useRealTimers());

/** Whether authentication waits for a lookup. */
async function hasToWait(): Promise<boolean> {
  const found = authenticator.authenticate(KEY);
  expect(await found).toMatchObject({ actor: { key: { id: RECORD.id } } });
  return found instanceof Promise;
}

it('looks up a key again after its cache entry has expired', async () => {
  expect(await hasToWait()).toBe(false);
  jest.advanceTimersByTime(REMEMBERED_MS);
  expect(await hasToWait()).toBe(true);
  expect(findKeyByHash).toHaveBeenCalledTimes(2);
});

it('refreshes a key in use once, in the background', async () => {
  jest.advanceTimersByTime(RENEWED_MS);
  const waits = await Promise.all([hasToWait(), hasToWait(), hasToWait()]);
  expect(findKeyByHash).toHaveBeenCalledTimes(2);
  jest.advanceTimersByTime(REMEMBERED_MS - 1);
  expect([...waits, await hasToWait()]).toEqual([false, false, false, false]);
});

it('measures the age from the start of the lookup', async () => {
  jest.advanceTimersByTime(RENEWED_MS);
  findKeyByHash.mockReturnValueOnce(new Promise((resolve) => setTimeout(resolve, 400, RECORD)));
  await hasToWait();
  await jest.advanceTimersByTimeAsync(400);
  jest.advanceTimersByTime(REMEMBERED_MS - 400);
  expect(await hasToWait()).toBe(true);
});

it('removes a revoked key from the cache at once', async () => {
  jest.advanceTimersByTime(RENEWED_MS);
  findKeyByHash.mockResolvedValue(undefined);
  await hasToWait();
  await jest.advanceTimersByTimeAsync(0);
  expect(await authenticator.authenticate(KEY)).toBeUndefined();
});

it('does not extend the lifetime when the lookup fails, and tries again', async () => {
  jest.advanceTimersByTime(RENEWED_MS);
  const failure = new Error('the database is away');
  findKeyByHash.mockRejectedValue(failure);
  expect(await hasToWait()).toBe(false);
  await jest.advanceTimersByTimeAsync(0);
  expect(await hasToWait()).toBe(false);
  expect(findKeyByHash).toHaveBeenCalledTimes(3);
  jest.advanceTimersByTime(REMEMBERED_MS - RENEWED_MS);
  await expect(authenticator.authenticate(KEY)).rejects.toThrow(failure);
});
