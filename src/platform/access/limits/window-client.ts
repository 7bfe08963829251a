import type { CommandParser } from '@redis/client';

/** Prefix of each key in Redis. */
const PREFIX = 'latitude:limits:';

/** The time after which an attempt to connect has failed, and the interval of a `PING` on an idle connection. */
const INTERVAL_MS = 1_000;

/** The state of a window in Redis. */
export interface WindowReply {
  readonly hits: number;
  /** Whether the limit was already reached. The request is not counted then. */
  readonly isBlocked: boolean;
  /** End of the window in milliseconds since the epoch, by the clock of Redis. */
  readonly endsAt: number;
  /** Milliseconds until the end of the window. */
  readonly msLeft: number;
}

/**
 * Counts a request in the window of a key, or only reads the window. The arguments are the length of the window in
 * ms, its limit, and 1 or 0 requests. The reply has the four values of a `WindowReply`.
 */
const SCRIPT = `
local ttl, limit, asked = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local hits = tonumber(redis.call('GET', KEYS[1]) or 0)
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  hits, left = 0, ttl
end
local blocked = asked == 1 and hits >= limit
if asked == 1 and not blocked then
  hits = hits + 1
  redis.call('SET', KEYS[1], hits, 'PX', math.max(left, 1))
end
return { hits, blocked and 1 or 0, now + left, left }
`;

/** A client of Redis with the command `window`. */
export type WindowClient = Awaited<ReturnType<typeof createWindowClient>>;

/** Loads the package and creates a client that does not reconnect. */
export async function createWindowClient(url: string) {
  const { createClient, defineScript } = await import('@redis/client');
  const window = defineScript({
    SCRIPT,
    NUMBER_OF_KEYS: 1,
    parseCommand(parser: CommandParser, key: string, ttl: number, limit: number, asked: 0 | 1) {
      parser.pushKey(key);
      parser.push(String(ttl), String(limit), String(asked));
    },
    transformReply([hits, blocked, endsAt, msLeft]: [number, number, number, number]): WindowReply {
      return { hits, isBlocked: blocked === 1, endsAt, msLeft };
    },
  });
  return createClient({
    url,
    keyPrefix: PREFIX,
    disableOfflineQueue: true,
    pingInterval: INTERVAL_MS,
    socket: { connectTimeout: INTERVAL_MS, reconnectStrategy: false },
    scripts: { window },
  });
}
