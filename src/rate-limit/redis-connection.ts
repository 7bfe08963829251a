import type { RedisClientType } from '@redis/client';
import { logger } from '../config/logger.js';
import { withTimeout } from '../config/timeout.js';
import { runWindowScript } from './window-script.js';
import type { SharedWindows, WindowReply, WindowRequest } from './windows.js';

/** Prefix of each key in Redis. */
const PREFIX = 'latitude:limits:';

/** The time after which Redis counts as down. */
const REPLY_TIMEOUT_MS = 1_000;

/** Interval of attempts to connect, and of a `PING` on an idle connection. */
const RETRY_MS = 1_000;

/** A connection to Redis that is replaced after each failure. */
export class RedisConnection implements SharedWindows {
  readonly spanMachines = true;
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

  /** Connects. Without a reply of Redis it tries again later. */
  async open(): Promise<void> {
    await this.tryToConnect();
    if (!this.client) warnOfLocalLimits();
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
      return await runOn(client, requests);
    } catch (error) {
      this.giveUp(client, error);
      throw error;
    }
  }

  private async tryToConnect(): Promise<void> {
    const { createClient } = await import('@redis/client');
    const client = createClient({
      url: this.url,
      disableOfflineQueue: true,
      pingInterval: RETRY_MS,
      socket: { connectTimeout: RETRY_MS, reconnectStrategy: false },
    });
    client.on('error', (error) => {
      this.giveUp(client, error);
    });
    try {
      await withTimeout(client.connect(), REPLY_TIMEOUT_MS);
      // Only the script shows that this server can count: a replica cannot.
      await runOn(client, [{ key: 'check', ttl: RETRY_MS, limit: 1, asked: 1 }]);
      if (this.isClosed) throw new Error('The server stops.');
      this.client = client;
      logger.info('Redis replies: instances share the rate limits');
    } catch {
      this.tryLater(client);
    }
  }

  /** Gives up a connection, unless there is another one already. */
  private giveUp(client: RedisClientType, error: unknown): void {
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

function runOn(
  client: RedisClientType,
  requests: readonly WindowRequest[],
): Promise<WindowReply[]> {
  const prefixed = requests.map((request) => ({ ...request, key: PREFIX + request.key }));
  const replies = runWindowScript((args) => client.sendCommand(args), prefixed);
  return withTimeout(replies, REPLY_TIMEOUT_MS);
}

function warnOfLocalLimits(error?: unknown): void {
  logger.warn({ err: error }, 'Redis does not reply: each instance has rate limits of its own');
}
