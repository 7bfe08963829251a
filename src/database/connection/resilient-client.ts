import pg from 'pg';
import { streamOf } from './pg-internals.js';
import { sendTimesAsUtc, UTC_TYPES } from './utc-times.js';

/** How long the server may take to close a connection. Behind a firewall it may never do so. */
const END_TIMEOUT_MS = 1_000;

/**
 * A client that survives lost connections: statements fail, but the process does not. Its times do not
 * depend on the time zone of the process.
 */
export class ResilientClient extends pg.Client {
  private readonly createdAt = performance.now();

  constructor(config?: pg.ClientConfig) {
    super({ types: UTC_TYPES, ...config });
    sendTimesAsUtc(this);
    this.on('error', () => undefined);
  }

  /**
   * Runs the first SQL of the connection. It has a timeout, because a pooler without a free server
   * connection accepts clients and delays their first statement.
   * @param withinMs timeout since the client was created
   * @throws any error of the driver; the connection is closed then
   */
  async setUp(sql: string, withinMs: number): Promise<void> {
    const overdue = setTimeout(
      () => {
        destroyConnection(this);
      },
      Math.max(1, withinMs - (performance.now() - this.createdAt)),
    );
    try {
      await this.query(sql);
    } catch (error) {
      destroyConnection(this);
      throw error;
    } finally {
      clearTimeout(overdue);
    }
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    const overdue = setTimeout(() => {
      destroyConnection(this);
    }, END_TIMEOUT_MS);
    this.once('end', () => {
      clearTimeout(overdue);
    });
    if (!callback) return super.end();
    super.end(callback);
    return undefined;
  }
}

/** Closes a connection without notifying the server, which may be unreachable. */
export function destroyConnection(client: pg.ClientBase): void {
  streamOf(client).destroy();
}
