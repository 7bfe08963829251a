import { createHash } from 'node:crypto';
import type { RedisClientType } from '@redis/client';
import { type RateWindow, windowOf } from './rate-limit.storage.js';

/** Prefix of each key in Redis. */
const PREFIX = 'latitude:limits:';

/** A request of one key. */
export interface WindowRequest {
  readonly key: string;
  /** Length of the window in milliseconds. */
  readonly ttl: number;
  readonly limit: number;
  /** How many requests it counts as; 0 only reads the window, a negative number returns requests. */
  readonly amount: number;
}

/**
 * Counts requests in Redis in one step, as `MemoryRateLimitStorage.count` does. Each has three arguments: the length of
 * its window in ms, its limit, and its amount. A reply has four values: the counted requests, 1 if the request is blocked,
 * the end of the window, and the time until then, in ms by the clock of Redis.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local replies = {}
for index, key in ipairs(KEYS) do
  local ttl, limit = tonumber(ARGV[index * 3 - 2]), tonumber(ARGV[index * 3 - 1])
  local amount = tonumber(ARGV[index * 3])
  local hits = tonumber(redis.call('GET', key) or 0)
  local left = redis.call('PTTL', key)
  if left < 0 then
    hits, left = 0, ttl
  end
  local blocked = amount > 0 and hits + amount > limit
  if amount ~= 0 and not blocked then
    hits = math.max(0, hits + amount)
    redis.call('SET', key, hits, 'PX', math.max(left, 1))
  end
  for _, value in ipairs({ hits, blocked and 1 or 0, now + left, left }) do
    replies[#replies + 1] = value
  end
end
return replies
`;

const SHA1 = createHash('sha1').update(SCRIPT).digest('hex');

const VALUES_PER_REPLY = 4;

/** Counts or reads all requests in one round trip. */
export async function runWindowScript(
  client: RedisClientType,
  requests: readonly WindowRequest[],
): Promise<RateWindow[]> {
  const keys = requests.map(({ key }) => PREFIX + key);
  const args = requests.flatMap(({ ttl, limit, amount }) => [ttl, limit, amount]);
  const parameters = [keys.length, ...keys, ...args].map(String);
  const values = (await client
    .sendCommand(['EVALSHA', SHA1, ...parameters])
    .catch((error: unknown) => {
      // Redis forgets scripts when it restarts.
      if (!String(error).includes('NOSCRIPT')) throw error;
      return client.sendCommand(['EVAL', SCRIPT, ...parameters]);
    })) as number[];
  return requests.map(({ limit }, index) => {
    const reply = values.slice(index * VALUES_PER_REPLY);
    const [hits = 0, isBlocked = 0, endsAt = 0, msLeft = 0] = reply;
    return windowOf({ hits, limit, endsAt }, msLeft, isBlocked === 1);
  });
}
