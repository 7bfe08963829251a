import { createHash } from 'node:crypto';
import type { RedisClientType } from '@redis/client';

/** Prefix of each key in Redis. */
const PREFIX = 'latitude:limits:';

/** If fewer requests are left, they are counted one by one. Otherwise an instance may take some in advance. */
const COUNTED_SINGLY = 1_000;

/** An instance takes at most 1 / `ADVANCE_SHARE` of the requests that are left, and at most `MAX_ADVANCE`. */
const ADVANCE_SHARE = 100;
const MAX_ADVANCE = 256;

/** Requests of one key. */
export interface WindowRequest {
  readonly key: string;
  /** Length of the window in milliseconds. */
  readonly ttl: number;
  readonly limit: number;
  /** Number of requests to count; 0 only reads the window, a negative number returns requests. */
  readonly asked: number;
}

/** The state of a window in Redis. */
export interface WindowReply {
  /** Requests that were counted before. */
  readonly hits: number;
  /** Requests that are allowed now, which may be more than were asked for. */
  readonly allowed: number;
  /** End of the window in milliseconds since the epoch. */
  readonly endsAt: number;
  /** Milliseconds until the end of the window. */
  readonly msLeft: number;
}

/**
 * Counts requests in Redis in one step, each group in the window of its key. A group has three arguments: the
 * length of its window in ms, its limit, and the number of requests. A number of 0 only reads the window, a
 * negative number returns requests. A reply has the four values of a `WindowReply`, with times in ms by the
 * clock of Redis.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local replies = {}
for index, key in ipairs(KEYS) do
  local ttl, limit = tonumber(ARGV[index * 3 - 2]), tonumber(ARGV[index * 3 - 1])
  local asked = tonumber(ARGV[index * 3])
  local hits = tonumber(redis.call('GET', key) or 0)
  local left = redis.call('PTTL', key)
  if left < 0 then
    hits, left = 0, ttl
  end
  local allowed = 0
  if asked > 0 then
    local remaining = math.max(limit - hits, 0)
    local advance = 0
    if remaining - asked >= ${COUNTED_SINGLY} then
      advance = math.min(${MAX_ADVANCE}, math.floor(remaining / ${ADVANCE_SHARE}))
    end
    allowed = math.min(asked + advance, remaining)
  elseif asked < 0 then
    allowed = math.max(asked, -hits)
  end
  if allowed ~= 0 then
    redis.call('SET', key, hits + allowed, 'PX', math.max(left, 1))
  end
  replies[index] = { hits, allowed, now + left, left }
end
return replies
`;

const SHA1 = createHash('sha1').update(SCRIPT).digest('hex');

/** Counts or reads all requests in one round trip. */
export async function runWindowScript(
  client: RedisClientType,
  requests: readonly WindowRequest[],
): Promise<WindowReply[]> {
  const keys = requests.map(({ key }) => PREFIX + key);
  const args = requests.flatMap(({ ttl, limit, asked }) => [ttl, limit, asked]);
  const parameters = [keys.length, ...keys, ...args].map(String);
  const send = (...args: string[]): Promise<unknown> =>
    client.sendCommand([...args, ...parameters]);
  const replies = (await send('EVALSHA', SHA1).catch((error: unknown) => {
    // Redis forgets scripts when it restarts.
    if (!String(error).includes('NOSCRIPT')) throw error;
    return send('EVAL', SCRIPT);
  })) as number[][];
  return replies.map(([hits = 0, allowed = 0, endsAt = 0, msLeft = 0]) => {
    return { hits, allowed, endsAt, msLeft };
  });
}
