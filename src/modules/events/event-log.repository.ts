import { Injectable } from '@nestjs/common';
import { sqlStateOf } from '../../platform/data/connection/driver-error.js';
import { ORGANIZATION_COLUMNS } from '../../platform/data/call.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import type { DurableEventOptions } from './event-handler.decorator.js';
import { EVENT_COLUMNS, type EventOfOrganization } from './stored-event.js';

/** Maximum number of events that one statement publishes, so that statements are short. */
export const EVENTS_PER_PUBLICATION = 1_000;

/** The parts of an event that determine who is notified of it. */
export interface EventMark {
  readonly position: number;
  readonly organization_id: string;
  readonly type: string;
  readonly record_id: string;
  /** The instance that wrote it. */
  readonly origin: number;
}

/** A type of events that is due in an organization. */
export interface DueEvents {
  readonly organization_id: string;
  readonly type: string;
}

/** The state of the published events of all instances after a publication. */
export interface Publication {
  /** The events that this instance has published, in their order. */
  readonly published: readonly EventMark[];
  /** Position of the last event before these. */
  readonly previous: number;
  /** Position of the last published event. Every event up to it is visible. */
  readonly last: number;
  /** Events before this position are removed. */
  readonly expiredBefore: number;
  /** When the oldest event was written that was unpublished before the publication; null if there was none. */
  readonly oldestWaiting: Date | null;
}

const STATE = `
  select last::float8 as last, expired_before::float8 as "expiredBefore",
    (select created_at from event_outbox order by seq limit 1) as "oldestWaiting"
  from event_position`;

/** The columns of an event that is not published. */
const WRITTEN_COLUMNS = `organization_id, type, record_id, record, changed, key_id, channel, request_id, grant_id,
  client_id, origin, created_at, contactable, remind_before_minutes, traceparent`;

/** The setting that tells the statement of a publication whether its transaction has locked the positions. */
const PUBLISHER_SETTING = 'app.event_publisher';

/** Locks the row of positions, unless another instance has locked it. */
const LOCK = `select set_config('${PUBLISHER_SETTING}',
  (select 'on' from event_position for update skip locked), true)`;

// Positions are the time in microseconds, and always higher than the last one: they also grow after the
// restore of an older backup, and when a standby takes over.
const PUBLISH = `
  with start as materialized (
    select greatest(last + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint) as position
    from event_position where current_setting('${PUBLISHER_SETTING}', true) = 'on'),
  moved as (
    delete from event_outbox
    where seq = any(array(select seq from event_outbox order by seq limit ${EVENTS_PER_PUBLICATION}))
      and exists (select from start)
    returning seq, ${WRITTEN_COLUMNS}),
  published as (
    insert into events (position, ${WRITTEN_COLUMNS})
    select start.position + row_number() over (order by seq) - 1, ${WRITTEN_COLUMNS} from moved, start
    returning position, organization_id, type, record_id, origin),
  advanced as (
    update event_position set last = (select max(position) from published)
    where exists (select from published))
  select coalesce((select json_agg(published order by position) from published), '[]') as published,
    last::float8 as previous, coalesce((select max(position) from published), last)::float8 as last
  from event_position`;

/** The index has all columns, so that the moments of suspended organizations, which wait, cost little. */
const FIND_SCHEDULED = `
  select organization_id, type from scheduled_events
  where due_at <= now() and type = any($1)
    and not exists (select from organizations where id = organization_id and suspended)
  group by organization_id, type`;

const DAY_US = 86_400_000_000;

/** For how many days partitions are created ahead. */
const DAYS_AHEAD = 3;

/** How long the events of a restored backup may take to move to a partition. */
const MAINTENANCE_MS = 600_000;

/**
 * Locks the positions for a change of partitions. A statement that attaches or drops a partition waits for its lock for a
 * limited time, because readers wait behind it.
 */
const LOCK_PARTITIONS = [`set local lock_timeout = '2s'`, 'select from event_position for update'];

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

/**
 * Numbers events after their commit, reads and expires them, for all organizations. A partition of `events` holds a day
 * (UTC) of positions. One instance publishes at a time. It holds the lock of `event_position` until its commit, so that no
 * reader ever sees a position below one that it has seen.
 */
@Injectable()
export class EventLogRepository {
  constructor(private readonly database: SystemDatabase) {}

  /** Publishes a batch of waiting events, unless another instance publishes at this moment. */
  async publish(): Promise<Publication> {
    const [state] = await this.database.inBackground<Partial<Publication>>(STATE);
    const { last = 0, expiredBefore = 0, oldestWaiting = null } = state ?? {};
    const nothing = { published: [], previous: last, last, expiredBefore, oldestWaiting };
    if (!oldestWaiting) return nothing;
    // The second statement sees what was committed before the lock.
    const statements = [{ text: LOCK }, { text: PUBLISH }];
    const [result] = await this.database.allInBackground<Partial<Publication>>(statements);
    return { ...nothing, ...result };
  }

  /** Which of these types are due, in organizations that are not suspended. */
  findScheduled(types: readonly string[]): Promise<DueEvents[]> {
    return this.database.inBackground(FIND_SCHEDULED, [types]);
  }

  /** The events after a position and up to another one, in their order. */
  readMarks(after: number, upTo: number, limit: number): Promise<EventMark[]> {
    return this.database.inBackground(
      `select position::float8 as position, organization_id, type, record_id, origin from events
       where position > $1 and position <= $2 order by events.position limit $3`,
      [after, upTo, limit],
    );
  }

  /** The whole events at these positions, in their order. */
  readAt(positions: readonly number[]): Promise<EventOfOrganization[]> {
    return this.read('position = any($1::bigint[])', [positions]);
  }

  /** The whole events of a record, in their order. */
  readOfRecord(recordId: string): Promise<EventOfOrganization[]> {
    return this.read('record_id = $1', [recordId]);
  }

  /** The whole events after a position and up to another one, in their order. */
  readAfter(
    after: number,
    upTo: number,
    { types, changed, organizations }: DurableEventOptions,
    limit: number,
  ): Promise<EventOfOrganization[]> {
    const condition = `position > $1 and position <= $2 and ($3::text[] is null or type = any($3))
      and ($4::text[] is null or changed = '{}' or changed && $4)
      ${organizations ? `and organization.${organizations}` : ''}`;
    return this.read(condition, [after, upTo, types ?? null, changed ?? null], limit);
  }

  private read(
    condition: string,
    values: readonly unknown[],
    limit?: number,
  ): Promise<EventOfOrganization[]> {
    const text = `select ${EVENT_COLUMNS}, ${ORGANIZATION_COLUMNS}
      from events join organizations organization on organization.id = organization_id
      where ${condition} order by events.position ${limit === undefined ? '' : `limit ${limit}`}`;
    return this.database.inBackground(text, values);
  }

  /**
   * Creates the partitions of the next days and of events that have none, such as those of a restored
   * backup, and drops the oldest partition if it has expired. One instance does so at a time.
   * @param retentionMs how long events are kept, rounded up to whole days
   */
  async maintainPartitions(retentionMs: number): Promise<void> {
    const [position] = await this.runMaintenance<{ last: number; now: number }>(ADVANCE);
    if (!position) return;
    const { last, now } = position;
    const today = Math.floor(last / DAY_US);
    const existing = await this.days(FIND_DAYS);
    const wanted = Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => today + index);
    for (const day of new Set([...wanted, ...(await this.days(FIND_DAYS_WITHOUT_PARTITION))])) {
      if (!existing.includes(day)) await this.createPartition(day);
    }
    await this.dropExpired(Math.floor(now / DAY_US) - Math.ceil((retentionMs * 1_000) / DAY_US));
  }

  private async days(text: string): Promise<number[]> {
    return (await this.database.inBackground<{ day: number }>(text)).map(({ day }) => day);
  }

  private async createPartition(day: number): Promise<void> {
    const name = partitionOf(day);
    const [from, to] = [day * DAY_US, (day + 1) * DAY_US];
    try {
      await this.runMaintenance(
        `create table ${name} (like events including defaults)`,
        `with moved as (delete from events_default where position >= ${from} and position < ${to} returning position, ${WRITTEN_COLUMNS})
         insert into ${name} (position, ${WRITTEN_COLUMNS}) select position, ${WRITTEN_COLUMNS} from moved`,
        `alter table events attach partition ${name} for values from (${from}) to (${to})`,
      );
    } catch (error) {
      // Another instance has created it.
      if (sqlStateOf(error) !== DUPLICATE_TABLE) throw error;
    }
  }

  /**
   * Drops at most one partition, so that a clock that is set forward by mistake removes one day of
   * events an hour and not all of them.
   */
  private async dropExpired(firstKept: number): Promise<void> {
    const [oldest] = await this.days(FIND_DAYS);
    if (oldest === undefined || oldest >= firstKept) return;
    await this.runMaintenance(
      `drop table if exists ${partitionOf(oldest)}`,
      `update event_position set expired_before = greatest(expired_before, ${(oldest + 1) * DAY_US})`,
    );
  }

  /** Runs statements in one transaction with the lock of the publisher. @returns the rows of the last one */
  private runMaintenance<Row>(...texts: readonly string[]): Promise<Row[]> {
    const statements = [...LOCK_PARTITIONS, ...texts].map((text) => ({ text }));
    return this.database.allInBackground<Row>(statements, { timeoutMs: MAINTENANCE_MS });
  }
}

/** @param day days since 1970 */
function partitionOf(day: number): string {
  return `events_${day}`;
}
