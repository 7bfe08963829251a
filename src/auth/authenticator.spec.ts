import { generateKey } from './api-key-format.js';
import type { AuthRepository, ApiKeyRecord } from './auth.repository.js';
import { Authenticator } from './authenticator.js';

const KEY = generateKey();

/** How long a key is remembered, and after which it is looked up again while it is used. */
const REMEMBERED_MS = 900;
const RENEWED_MS = 450;

const LIVE: ApiKeyRecord = {
  id: 'key',
  name: 'Zapier',
  scopes: ['leads:read'],
  user_id: null,
  expires_at: null,
  organization_id: 'organization',
  organization_name: 'Acme',
  phone_region: 'US',
};

const findLiveKey = jest.fn<Promise<ApiKeyRecord | undefined>, []>();
let authenticator: Authenticator;

beforeEach(async () => {
  jest.useFakeTimers();
  findLiveKey.mockReset().mockResolvedValue(LIVE);
  const touch = () => Promise.resolve();
  authenticator = new Authenticator({ findLiveKey, touch } as unknown as AuthRepository);
  await authenticator.authenticate(KEY);
});
afterEach(() => jest.useRealTimers());

/** Whether someone who sends the key has to wait. */
async function hasToWait(): Promise<boolean> {
  const found = authenticator.authenticate(KEY);
  expect(await found).toMatchObject({ key: { id: LIVE.id } });
  return found instanceof Promise;
}

it('looks a key up again when it has not been used for a while', async () => {
  expect(await hasToWait()).toBe(false);
  jest.advanceTimersByTime(REMEMBERED_MS);
  expect(await hasToWait()).toBe(true);
  expect(findLiveKey).toHaveBeenCalledTimes(2);
});

it('looks a key up again that is used, once, before anyone has to wait', async () => {
  jest.advanceTimersByTime(RENEWED_MS);
  const waits = await Promise.all([hasToWait(), hasToWait(), hasToWait()]);
  expect(findLiveKey).toHaveBeenCalledTimes(2);
  jest.advanceTimersByTime(REMEMBERED_MS - 1);
  expect([...waits, await hasToWait()]).toEqual([false, false, false, false]);
});

it('counts the time from when the look-up began', async () => {
  jest.advanceTimersByTime(RENEWED_MS);
  findLiveKey.mockReturnValueOnce(new Promise((resolve) => setTimeout(resolve, 400, LIVE)));
  await hasToWait();
  await jest.advanceTimersByTimeAsync(400);
  jest.advanceTimersByTime(REMEMBERED_MS - 400);
  expect(await hasToWait()).toBe(true);
});

it('forgets a key at once that is found to be revoked', async () => {
  jest.advanceTimersByTime(RENEWED_MS);
  findLiveKey.mockResolvedValue(undefined);
  await hasToWait();
  await jest.advanceTimersByTimeAsync(0);
  expect(await authenticator.authenticate(KEY)).toBeUndefined();
});

it('remembers a key for no longer where the database cannot be asked, and asks again', async () => {
  jest.advanceTimersByTime(RENEWED_MS);
  const failure = new Error('the database is away');
  findLiveKey.mockRejectedValue(failure);
  expect(await hasToWait()).toBe(false);
  await jest.advanceTimersByTimeAsync(0);
  expect(await hasToWait()).toBe(false);
  expect(findLiveKey).toHaveBeenCalledTimes(3);
  jest.advanceTimersByTime(REMEMBERED_MS - RENEWED_MS);
  await expect(authenticator.authenticate(KEY)).rejects.toThrow(failure);
});
