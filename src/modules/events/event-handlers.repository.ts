import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { LEASE } from '../../platform/jobs/leases.js';

/** The leases of handlers. `run_at` of a claimed handler is the end of its lease. */
export const HANDLER_LEASES = {
  name: 'event_handlers',
  until: 'run_at',
  key: { name: 'text', claim: 'uuid' },
  isLeased: 'claim is not null',
};

/** A durable handler that this instance has taken. */
export interface ClaimedHandler {
  readonly name: string;
  /** Identifies the claim. */
  readonly claim: string;
  /** Position of the last event that it has processed. */
  readonly position: number;
  /** How often it has failed since then. */
  readonly failures: number;
}

const IS_CLAIM = 'name = $1 and claim = $2';

/** Stores the positions of durable handlers, each of which runs in one instance at a time. */
@Injectable()
export class EventHandlersRepository {
  constructor(private readonly database: SystemDatabase) {}

  /** Stores new handlers. They begin with the events that are published from now on. */
  async register(names: readonly string[]): Promise<void> {
    await this.database.inBackground(
      `insert into event_handlers (name, position)
       select name, coalesce((select last from event_position), 0) from unnest($1::text[]) as name
       on conflict do nothing`,
      [names],
    );
  }

  /** Takes the handlers that have events to process and that no other instance runs. */
  claim(names: readonly string[]): Promise<ClaimedHandler[]> {
    return this.query<ClaimedHandler>(
      `update event_handlers set claim = $2, run_at = now() + ${LEASE}
       where name = any($1) and run_at <= now() and position < (select last from event_position)
       returning name, claim, position::float8 as position, failures`,
      [names, randomUUID()],
    );
  }

  /**
   * Stores the progress of a handler.
   * @returns whether the claim is still valid
   */
  async advance({ name, claim }: ClaimedHandler, position: number): Promise<boolean> {
    const advanced = await this.query(
      `update event_handlers set position = $3, failures = 0, last_error = null
       where ${IS_CLAIM} returning name`,
      [name, claim, position],
    );
    return advanced.length > 0;
  }

  /**
   * Releases a handler that has not failed.
   * @param position of the last event that it has processed; undefined if there was none
   */
  async release({ name, claim }: ClaimedHandler, position?: number): Promise<void> {
    await this.query(
      `update event_handlers set claim = null, run_at = now(), position = coalesce($3, position),
         failures = case when $3 is null then failures else 0 end where ${IS_CLAIM}`,
      [name, claim, position ?? null],
    );
  }

  /** Releases a handler that has failed. It runs again after a delay. */
  async retry({ name, claim }: ClaimedHandler, error: string, delayMs: number): Promise<void> {
    await this.query(
      `update event_handlers set claim = null, failures = failures + 1, last_error = $3,
         run_at = now() + $4 * interval '1 ms' where ${IS_CLAIM}`,
      [name, claim, error, delayMs],
    );
  }

  /** If a crash undoes the stored progress of a handler, the handler receives the events again. */
  private query<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.database.inBackground<Row>(text, values, { mayBeUndone: true });
  }
}
