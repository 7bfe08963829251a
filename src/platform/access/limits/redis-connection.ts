import type { RedisClientType } from '@redis/client';
import { logger } from '../../config/logger.js';
import { SettingError } from '../../config/setting.js';
import { withTimeout } from '../../config/timeout.js';
import { runWindowScript, type WindowReply, type WindowRequest } from './window-script.js';

/** The time after which Redis counts as down. */
const REPLY_TIMEOUT_MS = 1_000;

/** Interval of attempts to connect, and of a `PING` on an idle connection. */
const RETRY_MS = 1_000;

/** Replies that only another value of `REDIS_URL` changes, and what is wrong with it. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/^NOAUTH /, 'has no password, but Redis requires one'],
  [/^WRONGPASS /, 'has a user or password that Redis refuses'],
  [/^ERR (invalid )?DB index/, 'has the number of a database that Redis does not have'],
];

/** A connection to Redis that is replaced after each failure. */
export class RedisConnection {
  private client: RedisClientType | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;

  /** @param onLost called when a connection has failed */
  constructor(
    private readonly url: string,
    private readonly onLost: () => void,
  ) {}

  get isOpen(): boolean {
    return this.client !== undefined;
  }

  /**
   * Connects. Without a reply of Redis it tries again later.
   * @throws SettingError if Redis refuses the URL
   */
  async open(): Promise<void> {
    const error = await this.tryToConnect();
    if (!error) return;
    const refusal = REFUSALS.find(([reply]) => reply.test(error.message));
    if (refusal) {
      this.close();
      throw new SettingError('REDIS_URL', refusal[1]);
    }
    warnOfLocalLimits(error);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.retry);
    this.client?.destroy();
    this.client = undefined;
  }

  /** @throws Error if Redis does not reply in time */
  async run(requests: readonly WindowRequest[]): Promise<WindowReply[]> {
    const { client } = this;
    if (!client) throw new Error('There is no connection.');
    try {
      return await withTimeout(runWindowScript(client, requests), REPLY_TIMEOUT_MS);
    } catch (error) {
      this.giveUp(client, error as Error);
      throw error;
    }
  }

  /** @returns why there is no connection */
  private async tryToConnect(): Promise<Error | undefined> {
    const client = await createRedisClient(this.url, RETRY_MS);
    client.on('error', (error: Error) => {
      this.giveUp(client, error);
    });
    try {
      await withTimeout(client.connect(), REPLY_TIMEOUT_MS);
      // Only the script shows that this server can count: a replica cannot.
      const check = runWindowScript(client, [{ key: 'check', ttl: RETRY_MS, limit: 1, asked: 1 }]);
      await withTimeout(check, REPLY_TIMEOUT_MS);
      if (this.isClosed) throw new Error('The server stops.');
      this.client = client;
      logger.info('Redis replies: instances share the rate limits');
      return undefined;
    } catch (error) {
      this.tryLater(client);
      return error as Error;
    }
  }

  /** Gives up a connection, unless there is another one already. */
  private giveUp(client: RedisClientType, error: Error): void {
    if (this.client !== client) return;
    this.client = undefined;
    this.onLost();
    warnOfLocalLimits(error);
    this.tryLater(client);
  }

  private tryLater(client: RedisClientType): void {
    if (client.isOpen) client.destroy();
    if (this.isClosed) return;
    this.retry = setTimeout(() => void this.tryToConnect(), RETRY_MS).unref();
  }
}

async function createRedisClient(url: string, pingInterval?: number): Promise<RedisClientType> {
  const { createClient } = await import('@redis/client');
  return createClient({
    url,
    disableOfflineQueue: true,
    pingInterval,
    socket: { connectTimeout: RETRY_MS, reconnectStrategy: false },
  });
}

/**
 * Reads what Redis says about itself, and writes nothing.
 * @returns the values by their names in `INFO`
 * @throws Error whose message has no part of the URL
 */
export async function readRedisInfo(url: string): Promise<Readonly<Record<string, string>>> {
  const client = await createRedisClient(url);
  client.on('error', () => undefined);
  try {
    await withTimeout(client.connect(), REPLY_TIMEOUT_MS);
    const info = await withTimeout(client.info(), REPLY_TIMEOUT_MS);
    const lines = info.split('\r\n').map((line) => line.split(':', 2));
    return Object.fromEntries(lines) as Record<string, string>;
  } catch (error) {
    const refusal = REFUSALS.find(([reply]) => reply.test((error as Error).message));
    throw new Error(refusal ? `REDIS_URL ${refusal[1]}` : reasonOf(error as Error), {
      cause: error,
    });
  } finally {
    if (client.isOpen) client.destroy();
  }
}

function warnOfLocalLimits(error: Error): void {
  logger.warn(
    `Redis cannot be used (${reasonOf(error)}): each instance has rate limits of its own`,
  );
}

/** A code if there is one. The text of a reply can repeat what was sent, such as the password. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  const reply = /^[A-Z]{2,}\b/.exec(message);
  return code ?? reply?.[0] ?? message.replace(/\.$/, '');
}
