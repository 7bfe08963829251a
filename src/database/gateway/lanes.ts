import type { Socket } from 'node:net';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { CONNECTION_SETTINGS, POOL_WAIT_MS } from '../connection/data-source-options.js';
import { activeQueryOf, streamOf } from '../connection/pg-internals.js';
import { destroyConnection, ResilientClient } from '../connection/resilient-client.js';
import { poolOf } from '../connection/typeorm-internals.js';

/** How long a pipelined statement waits for a lock. Statements behind it wait, too. */
const PIPELINED_LOCK_MS = 50;

/**
 * Make every statement of bounded cost use an index, whatever the size of the organization, and even
 * before the first statistics exist.
 */
export const TENANT_LANE_SETTINGS = [
  CONNECTION_SETTINGS,
  `set lock_timeout = ${PIPELINED_LOCK_MS}`,
  'set plan_cache_mode = force_generic_plan',
  ...['seqscan', 'bitmapscan', 'sort'].map((method) => `set enable_${method} = off`),
].join('; ');

/** How long a statement may wait for its result. A connection that a firewall dropped stays silent. */
const LONGEST_SILENCE_MS = 1_500;
const LOOK_EVERY_MS = 250;
const MOST_LOOKS = LONGEST_SILENCE_MS / LOOK_EVERY_MS;

/** Fewer looks suffice after another connection was lost. */
const MOST_SUSPECT_LOOKS = 2;

/** All lanes to one database, because a network failure usually affects all of them. */
const lanesTo = new WeakMap<DataSource, Set<Lane>>();

/**
 * Pipelined connections that statements share. A statement is sent at once, and results arrive in the
 * order of the statements. Use them only for statements of bounded cost, because a slow statement
 * delays those behind it. Transactions and all other statements take a connection of the pool.
 */
export class Lanes {
  private readonly lanes: readonly Lane[];
  private readonly watch: NodeJS.Timeout;
  private turn = 0;

  /**
   * @param count how many connections
   * @param setUp SQL that initializes each connection
   */
  constructor(dataSource: DataSource, count: number, setUp: string) {
    const connect = () => openConnection(dataSource, setUp);
    const all = lanesTo.get(dataSource) ?? new Set();
    lanesTo.set(dataSource, all);
    const onLoss = () => {
      for (const lane of all) lane.suspect();
    };
    this.lanes = Array.from({ length: count }, () => new Lane(connect, onLoss));
    for (const lane of this.lanes) all.add(lane);
    this.watch = setInterval(() => {
      const lost = this.lanes.filter((lane) => lane.look());
      if (lost.length > 0) for (const lane of all) lane.doubt();
    }, LOOK_EVERY_MS).unref();
  }

  /** Sends a statement on the next lane. The callback of the statement gets its result or error. */
  submit(query: pg.Submittable & { fail(error: Error): void }): void {
    this.turn = (this.turn + 1) % this.lanes.length;
    const lane = this.lanes[this.turn];
    const client = lane?.current();
    if (client instanceof pg.Client) client.query(query);
    else
      client?.then(
        (opened) => opened.query(query),
        (error: unknown) => {
          query.fail(error as Error);
        },
      );
  }

  async close(): Promise<void> {
    clearInterval(this.watch);
    await Promise.all(this.lanes.map((lane) => lane.close()));
  }
}

/** The pipelined connections to one database, of every `Lanes`. */
export function pipelinedConnections(dataSource: DataSource): { total: number; idle: number } {
  const lanes = [...(lanesTo.get(dataSource) ?? [])].filter((lane) => lane.isOpen);
  return { total: lanes.length, idle: lanes.filter((lane) => lane.isIdle).length };
}

/** One connection. It is opened when it is first needed, and again after it was lost. */
class Lane {
  private client: pg.Client | Promise<pg.Client> | undefined;
  private overdue: unknown;
  private looks = 0;
  private heard: number | undefined;
  private quietLooks = 0;
  private isSuspect = false;

  /** @param onLoss called when the connection was lost or could not be opened */
  constructor(
    private readonly connect: () => Promise<pg.Client>,
    private readonly onLoss: () => void,
  ) {}

  /** Whether the connection is open or opening. */
  get isOpen(): boolean {
    return this.client !== undefined;
  }

  get isIdle(): boolean {
    return this.client instanceof pg.Client && activeQueryOf(this.client) === undefined;
  }

  current(): pg.Client | Promise<pg.Client> {
    return (this.client ??= this.open());
  }

  /**
   * Destroys the connection if a statement has waited too long for its result.
   * @returns whether it did
   */
  look(): boolean {
    const client = this.client instanceof pg.Client ? this.client : undefined;
    const awaited = client && activeQueryOf(client);
    this.looks = awaited && awaited === this.overdue ? this.looks + 1 : 0;
    this.overdue = awaited;
    const heard = client && heardOn(client);
    this.quietLooks = heard === this.heard ? this.quietLooks + 1 : 0;
    if (this.quietLooks === 0) this.isSuspect = false;
    this.heard = heard;
    const isLost = this.looks >= (this.isSuspect ? MOST_SUSPECT_LOOKS : MOST_LOOKS);
    if (isLost) this.giveUp();
    return isLost;
  }

  /** Shortens the timeout after another connection was lost, until data arrives on this one. */
  suspect(): void {
    this.isSuspect = true;
    if (this.client instanceof pg.Client) this.heard = heardOn(this.client);
  }

  /** Destroys an idle connection that may be lost, too. It is opened again when it is needed. */
  doubt(): void {
    if (this.overdue === undefined && this.quietLooks >= MOST_LOOKS) this.giveUp();
  }

  async close(): Promise<void> {
    const client = await Promise.resolve(this.client).catch(() => undefined);
    await client?.end();
  }

  private giveUp(): void {
    if (this.client instanceof pg.Client) destroyConnection(this.client);
  }

  private open(): Promise<pg.Client> {
    const forget = (lost: unknown) => {
      if (this.client !== lost) return;
      this.client = undefined;
      this.onLoss();
    };
    const opening = this.connect();
    opening.then(
      (client) => {
        this.client = client;
        client.once('error', () => {
          forget(client);
        });
        client.once('end', () => {
          forget(client);
        });
      },
      () => {
        forget(opening);
      },
    );
    return opening;
  }
}

function heardOn(client: pg.Client): number {
  return (streamOf(client) as Socket).bytesRead;
}

/** Opens a connection with the options of the pool. */
async function openConnection(dataSource: DataSource, setUp: string): Promise<pg.Client> {
  const client = new ResilientClient({ ...poolOf(dataSource).options, pipeline: true });
  await client.connect();
  await client.setUp(setUp, POOL_WAIT_MS);
  writeOnceATick(client);
  return client;
}

/** Sends everything that is written in one turn of the event loop at once. */
function writeOnceATick(client: pg.Client): void {
  const stream = streamOf(client);
  const cork = stream.cork.bind(stream);
  const uncork = stream.uncork.bind(stream);
  let isCorked = false;
  stream.cork = () => {
    if (isCorked) return;
    isCorked = true;
    cork();
    setImmediate(() => {
      isCorked = false;
      uncork();
    });
  };
  stream.uncork = () => undefined;
}
