import { Socket } from 'node:net';
import pg from 'pg';
import { TimeoutError, withTimeout } from '../../config/timeout.js';
import { UTC_TYPES } from './utc-times.js';

/** How long the server may take to close a connection. Behind a firewall, its reply may never arrive. */
const END_TIMEOUT_MS = 1_000;

const NOOP = (): void => undefined;

/** A connection was not set up in time. */
export class SetupTimeout extends Error {
  override readonly message = 'the connection was not set up in time';
}

/** The arguments of the overloads of `query`. */
type QueryArguments = [config: unknown, values?: unknown, callback?: unknown];

/**
 * A client that does not end the process if its connection is lost: only its statements fail. A statement waits until the
 * one before it has ended. The times that it reads do not depend on the time zone of the process.
 */
export class ResilientClient extends pg.Client {
  private readonly createdAt = performance.now();
  private readonly socket: Socket;
  /** Send the statements that wait, in their order. pg 9 will refuse a statement while another one runs. */
  private readonly waiting: (() => void)[] = [];
  private isBusy = false;
  private hasEnded = false;

  constructor(config?: pg.ClientConfig) {
    // pg listens only from the start of the connection, and a client can be closed before.
    const socket = new Socket().on('error', () => undefined);
    super({ types: UTC_TYPES, ...config, stream: () => socket });
    this.socket = socket;
    this.on('error', () => undefined);
    this.on('drain', () => {
      this.isBusy = false;
      this.waiting.shift()?.();
    });
    this.once('end', () => {
      this.hasEnded = true;
      // pg refuses them.
      for (const send of this.waiting.splice(0)) send();
    });
  }

  /** Implements all overloads of pg, whose results differ. */
  override query(...query: QueryArguments): never {
    return this.sendInTurn(query) as never;
  }

  private sendInTurn(query: QueryArguments): unknown {
    const send = () => {
      const result: unknown = super.query(...(query as [never]));
      this.isBusy = true;
      return result;
    };
    const [config, ...others] = query;
    if (!this.isBusy || this.hasEnded || config == null) return send();
    const hasResult = !isSubmittable(config) && !others.some((one) => typeof one === 'function');
    if (hasResult) {
      return new Promise((resolve) => {
        this.waiting.push(() => {
          resolve(send());
        });
      });
    }
    this.waiting.push(send);
    return isSubmittable(config) ? config : undefined;
  }

  /** Closes the connection without notifying the server, which may be unreachable. */
  destroy(): void {
    this.socket.destroy();
  }

  /**
   * Runs the first SQL of the connection. It has a timeout, because a pooler without a free server
   * connection accepts clients and delays their first statement.
   * @param withinMs timeout since the client was created
   * @throws any error of the driver; the connection is closed then
   */
  async setUp(sql: string, withinMs: number): Promise<void> {
    const remainingMs = Math.max(1, withinMs - (performance.now() - this.createdAt));
    try {
      await withTimeout(super.query(sql), remainingMs);
    } catch (error) {
      this.destroy();
      throw error instanceof TimeoutError ? new SetupTimeout() : error;
    }
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    this.once('end', destroyAfter(END_TIMEOUT_MS, this));
    if (!callback) return super.end();
    super.end(callback);
    return undefined;
  }
}

/** Closes a connection of a pool without notifying the server. */
export function destroyConnection(client: pg.ClientBase): void {
  (client as ResilientClient).destroy();
}

/**
 * Closes a connection after a time, because a firewall may have dropped it.
 * @param ms Infinity: never
 * @param onDestroy called when the connection is closed
 * @returns a function that cancels the timer
 */
export function destroyAfter(
  ms: number,
  client: pg.ClientBase,
  onDestroy: () => unknown = NOOP,
): () => void {
  if (ms === Infinity) return NOOP;
  let afterPoll: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    // After a pause of the process, timers run before the replies that have arrived are read.
    afterPoll = setImmediate(() => {
      destroyConnection(client);
      onDestroy();
    });
  }, ms).unref();
  return () => {
    clearTimeout(timer);
    clearImmediate(afterPoll);
  };
}

export function hasOpenTransaction(client: pg.ClientBase): boolean {
  return ['T', 'E'].includes(client.getTransactionStatus() ?? 'I');
}

/** Whether a query is an object with its own `submit`, such as a cursor. */
export function isSubmittable(config: unknown): config is pg.Submittable {
  return typeof (config as Partial<pg.Submittable> | undefined)?.submit === 'function';
}
