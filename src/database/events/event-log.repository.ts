import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { ADMINISTRATION } from '../connection/administration.js';
import { asWorker, queryAsWorker } from '../tenant-role/as-worker.js';
import { EVENT_COLUMNS, type EventOfOrganization } from './stored-event.js';

/** Events that one transaction publishes, so that each is short. */
export const EVENTS_PER_PUBLICATION = 1_000;

/** What this instance knows of the published events of all instances. */
export interface LogState {
  /** Position of the last published event. Every event up to it is visible. */
  readonly last: number;
  /** Events before this position are removed. */
  readonly expiredBefore: number;
  /** When the oldest unpublished event was written; null if there is none. */
  readonly oldestWaiting: Date | null;
}

/** The parts of an event that determine who is notified of it. */
export interface EventMark {
  readonly position: number;
  readonly organization_id: string;
  readonly type: string;
  readonly record_id: string;
  /** The instance that wrote it. */
  readonly origin: number;
}

const STATE = `
  select last::float8 as last, expired_before::float8 as "expiredBefore",
    (select created_at from event_outbox order by seq limit 1) as "oldestWaiting"
  from event_position`;

// Positions are the time in microseconds, and always higher than the last one: they also grow after the
// restore of an older backup, and when a standby takes over.
const PUBLISH = `
  with moved as (
    delete from event_outbox where seq = any(array(select seq from event_outbox order by seq limit ${EVENTS_PER_PUBLICATION}))
    returning *),
  start as materialized (
    select greatest($1::bigint + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint) as position),
  numbered as (
    select start.position + row_number() over (order by seq) - 1 as position, moved.* from moved, start),
  published as (
    insert into events (position, organization_id, type, record_id, record, changed, key_id, channel,
      request_id, origin, created_at)
    select position, organization_id, type, record_id, record, changed, key_id, channel,
      request_id, origin, created_at from numbered)
  update event_position set last = coalesce((select max(position) from numbered), last)
  returning last::float8 as last, (select count(*) from numbered)::int as published`;

/**
 * Numbers events after their commit and reads them, for all organizations. One instance publishes at a
 * time. It holds the lock of `event_position` until its commit, so that no reader ever sees a position below
 * one that it has seen.
 */
@Injectable()
export class EventLogRepository {
  constructor(@InjectDataSource(ADMINISTRATION) private readonly dataSource: DataSource) {}

  /**
   * Publishes a batch of waiting events, unless another instance publishes at this moment.
   * @returns the state, and how many events were published
   */
  async publish(): Promise<LogState & { published: number }> {
    const [state] = await queryAsWorker<LogState>(this.dataSource, STATE);
    const { last = 0, expiredBefore = 0, oldestWaiting = null } = state ?? {};
    const idle = { last, expiredBefore, oldestWaiting, published: 0 };
    if (!oldestWaiting) return idle;
    return asWorker(this.dataSource, async (manager) => {
      const [lock] = await manager.query<{ last: number }[]>(
        'select last::float8 as last from event_position for update skip locked',
      );
      if (!lock) return idle;
      const [[done]] = await manager.query<[{ last: number; published: number }[], number]>(
        PUBLISH,
        [lock.last],
      );
      return { ...idle, ...done };
    });
  }

  /** The events after a position and up to another one, in their order. */
  readMarks(after: number, upTo: number, limit: number): Promise<EventMark[]> {
    return queryAsWorker(
      this.dataSource,
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

  /**
   * The whole events of some types after a position, in their order.
   * @param types undefined for all types
   */
  readAfter(
    after: number,
    upTo: number,
    types: readonly string[] | undefined,
    limit: number,
  ): Promise<EventOfOrganization[]> {
    const condition = 'position > $1 and position <= $2 and ($3::text[] is null or type = any($3))';
    return this.read(condition, [after, upTo, types ?? null], limit);
  }

  private read(
    condition: string,
    values: readonly unknown[],
    limit?: number,
  ): Promise<EventOfOrganization[]> {
    const text = `select ${EVENT_COLUMNS}, organization.name as organization_name, phone_region
      from events join organizations organization on organization.id = organization_id
      where ${condition} order by events.position ${limit === undefined ? '' : `limit ${limit}`}`;
    return queryAsWorker(this.dataSource, text, values);
  }
}
