import { Socket } from 'node:net';
import pg from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { logger } from '../../config/logger.js';
import { TimeoutError, withTimeout } from '../../config/timeout.js';
import { POOL_TIMEOUT, SetupTimeout } from './driver-error.js';
import { type PipelineStatement, sendStatements } from './statement-pipeline.js';
import { UTC_TYPES } from './utc-times.js';

/** How long the server may take to close a connection. Behind a firewall, its reply may never arrive. */
const END_TIMEOUT_MS = 1_000;

const NOOP = (): void => undefined;

/** The arguments of the overloads of `query`. */
type QueryArguments = [config: unknown, values?: unknown, callback?: unknown];

/**
 * A client that does not end the process if its connection is lost: only its statements fail. A statement waits until the
 * one before it has ended. The times that it reads do not depend on the time zone of the process.
 */
export class ResilientClient extends pg.Client {
  private readonly createdAt = performance.now();
  private readonly socket: Socket;
  /** Functions that each send a waiting statement, oldest first. pg 9 will refuse a statement while another one runs. */
  private readonly waitingSends: (() => void)[] = [];
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
      this.waitingSends.shift()?.();
    });
    this.once('end', () => {
      this.hasEnded = true;
      // After the end, pg rejects each of these.
      for (const send of this.waitingSends.splice(0)) send();
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
    const returnsPromise =
      !isSubmittable(config) && !others.some((one) => typeof one === 'function');
    if (returnsPromise) {
      return new Promise((resolve) => {
        this.waitingSends.push(() => {
          resolve(send());
        });
      });
    }
    this.waitingSends.push(send);
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
    const cancelTimer = destroyAfter(END_TIMEOUT_MS, this);
    this.once('end', cancelTimer);
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

/**
 * Work on a connection. `limitTo` destroys the connection if it is in use after this time, and calls a function
 * then, by default `onUnresponsive` of the pool.
 */
type ConnectionWork<T> = (
  client: pg.PoolClient,
  limitTo: (ms: number, onDestroy?: () => void) => void,
) => Promise<T>;

/** A pool whose clients are `ResilientClient`s, as `withPool` and the options of the data source make it. */
export class ConnectionPool extends pg.Pool {
  /** Called when a connection was destroyed because it did not respond in time. */
  onUnresponsive: () => void = () => undefined;
  private readonly idle = new Set<pg.PoolClient>();

  constructor(config: pg.PoolConfig) {
    super(config);
    this.on('release', (_error, client) => {
      // The settings of the open transaction would apply to the next user. The pool removes a client that is ending.
      if (hasOpenTransaction(client)) void client.end();
      this.idle.add(client);
    });
    this.on('acquire', (client) => this.idle.delete(client));
    this.on('remove', (client) => this.idle.delete(client));
  }

  /**
   * Runs work on a connection of its own.
   * @param withinMs how long it may wait for the connection, in addition to the timeout of the pool
   */
  async use<T>(work: ConnectionWork<T>, withinMs = Infinity): Promise<T> {
    const connecting = this.connect();
    const client = await connectedWithin(connecting, withinMs, (late) => {
      late.release();
    });
    let cancelTimer = (): void => undefined;
    try {
      return await work(client, (ms, onDestroy = this.onUnresponsive) => {
        cancelTimer();
        cancelTimer = destroyAfter(ms, client, onDestroy);
      });
    } finally {
      cancelTimer();
      client.release();
    }
  }

  /**
   * Sends statements on a connection of its own, under one Sync.
   * @param limit the time after which the connection is destroyed, as `connectionMs`
   * @param statements called when a connection is free
   * @param withinMs as of `use`
   * @returns the rows of each statement
   * @throws LostConnectionError, any error of the driver
   */
  send<Row>(
    limit: { readonly connectionMs: number },
    statements: () => readonly PipelineStatement[],
    withinMs?: number,
  ): Promise<Row[][]> {
    return this.use((client, limitTo) => {
      limitTo(limit.connectionMs);
      return sendStatements<Row>(client, statements());
    }, withinMs);
  }

  closeIdle(): void {
    for (const client of this.idle) {
      destroyConnection(client);
      // The error makes the pool remove the connection at once.
      client.emit('error', new Error('closed by Latitude, because another connection was lost'));
    }
    this.idle.clear();
  }

  /** Logs the idle connections that are lost, until the pool ends. */
  reportLostConnections(): this {
    return this.on('error', ({ message }) => {
      if (!this.ending) logger.warn({ reason: message }, 'a database connection was lost');
    });
  }
}

/**
 * Waits for a connection of a pool.
 * @param release gives back a connection that comes too late
 * @throws Error the same as that of a pool without a free connection
 */
export async function connectedWithin<C>(
  connecting: Promise<C>,
  ms: number,
  release: (late: C) => unknown,
): Promise<C> {
  if (ms === Infinity) return connecting;
  try {
    return await withTimeout(connecting, ms);
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    connecting.then(release, () => undefined);
    throw new Error(POOL_TIMEOUT, { cause: error });
  }
}

/** The pools that TypeORM has created, by the drivers whose class it used. They report lost connections. */
const POOLS = new WeakMap<object, ConnectionPool>();

/** Returns the options of one data source, whose pool `poolOf` returns. */
export function withPool(): Pick<DataSourceOptions, 'driver'> {
  const driver = {
    ...pg,
    Pool: class extends ConnectionPool {
      constructor(config: pg.PoolConfig) {
        super(config);
        POOLS.set(driver, this.reportLostConnections());
      }
    },
  };
  return { driver };
}

/** Returns the pool of an initialized data source. */
export function poolOf({ options }: DataSource): ConnectionPool {
  const pool = POOLS.get(options.driver as object);
  if (!pool) throw new Error('the data source was not created with withPool()');
  return pool;
}
