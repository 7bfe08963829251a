import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { WorkerDatabase } from '../gateway/worker-database.js';

const DAY_US = 86_400_000_000;

/** How many days of events are kept. */
const KEPT_DAYS = 30;

/** For how many days partitions are created ahead. */
const DAYS_AHEAD = 3;

/** How long the events of a restored backup may take to move to a partition. */
const TIMEOUT_MS = 600_000;

/**
 * Locks the positions. A statement that attaches or drops a partition waits for its lock for a limited time, because
 * readers wait behind it.
 */
const LOCK = [`set local lock_timeout = '2s'`, 'select from event_position for update'];

const DUPLICATE_TABLE = '42P07';

/**
 * Creates the row of positions, or advances it to the current time. The feed of events rounds it to the hour and gives
 * it to clients as their cursor, so that the cursor of a client without new events does not expire.
 */
const ADVANCE = `
  insert into event_position (last) values ((extract(epoch from clock_timestamp()) * 1000000)::bigint)
  on conflict (only_row) do update set last = greatest(event_position.last, excluded.last)
  returning last::float8 as last, (extract(epoch from clock_timestamp()) * 1000000)::float8 as now`;

/** The days of the partitions, since 1970. */
const FIND_DAYS = `
  select substring(relname from 'events_(\\d+)$')::int as day
  from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = 'events'::regclass and relname ~ '^events_\\d+$' order by 1`;

/** The days of events that have no partition of their own. */
const FIND_DAYS_WITHOUT_PARTITION = `
  select distinct (position / ${DAY_US})::int as day from events_default order by 1`;

/** Creates, fills and drops the partitions of `events`, each of which holds a day (UTC) of positions. */
@Injectable()
export class EventPartitionsRepository {
  constructor(private readonly database: WorkerDatabase) {}

  /**
   * Creates the partitions of the next days and of events that have none, such as those of a restored
   * backup, and drops the oldest partition if it has expired. One instance does so at a time.
   */
  async maintain(): Promise<void> {
    const [position] = await this.run<{ last: number; now: number }>(ADVANCE);
    if (!position) return;
    const { last, now } = position;
    const today = Math.floor(last / DAY_US);
    const existing = await this.days(FIND_DAYS);
    const wanted = Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => today + index);
    for (const day of new Set([...wanted, ...(await this.days(FIND_DAYS_WITHOUT_PARTITION))])) {
      if (!existing.includes(day)) await this.create(day);
    }
    await this.dropExpired(Math.floor(now / DAY_US) - KEPT_DAYS);
  }

  private async days(text: string): Promise<number[]> {
    return (await this.database.query<{ day: number }>(text)).map(({ day }) => day);
  }

  private async create(day: number): Promise<void> {
    const name = partitionOf(day);
    const [from, to] = [day * DAY_US, (day + 1) * DAY_US];
    try {
      await this.run(
        `create table ${name} (like events including defaults)`,
        `with moved as (delete from events_default where position >= ${from} and position < ${to} returning *)
         insert into ${name} select * from moved`,
        `alter table events attach partition ${name} for values from (${from}) to (${to})`,
      );
    } catch (error) {
      // Another instance has created it.
      if (!(error instanceof pg.DatabaseError) || error.code !== DUPLICATE_TABLE) throw error;
    }
  }

  /**
   * Drops at most one partition, so that a clock that is set forward by mistake removes one day of
   * events an hour and not all of them.
   */
  private async dropExpired(firstKept: number): Promise<void> {
    const [oldest] = await this.days(FIND_DAYS);
    if (oldest === undefined || oldest >= firstKept) return;
    await this.run(
      `drop table if exists ${partitionOf(oldest)}`,
      `update event_position set expired_before = greatest(expired_before, ${(oldest + 1) * DAY_US})`,
    );
  }

  /** Runs statements in one transaction with the lock of the publisher. @returns the rows of the last one */
  private run<Row>(...texts: readonly string[]): Promise<Row[]> {
    const statements = [...LOCK, ...texts].map((text) => ({ text }));
    return this.database.run<Row>(statements, { timeoutMs: TIMEOUT_MS });
  }
}

/** @param day days since 1970 */
function partitionOf(day: number): string {
  return `events_${day}`;
}
