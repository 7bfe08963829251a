import type { Duplex } from 'node:stream';
import pg from 'pg';
import { sendTimesAsUtc, UTC_TYPES } from './utc-times.js';

/** How long a server has to say goodbye: one that a firewall cut off never does. */
const END_TIMEOUT_MS = 1_000;

/**
 * A client whose lost connection fails its statements and never the process, and whose times do not
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
   * Sends what the connection begins with. A pooler without a free server connection accepts clients
   * and keeps their first statement waiting.
   * @param withinMs how long it may take since the client began to connect
   * @throws whatever the driver does; the connection is closed then
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

/** Ends a connection without a word to the server, which may not be listening. */
export function destroyConnection(client: pg.ClientBase): void {
  streamOf(client).destroy();
}

/** The connection itself, which the declarations of pg leave out. */
export function streamOf(client: pg.ClientBase): Duplex {
  return (client as unknown as { connection: { stream: Duplex } }).connection.stream;
}
