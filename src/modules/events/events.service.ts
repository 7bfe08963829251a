import { Injectable } from '@nestjs/common';
import { KeyRevalidation, type OpenResponse } from '../../platform/access/key-revalidation.js';
import { insufficientScope } from '../../platform/access/scopes.js';
import { EventsRepository, type EventSelection } from './events.repository.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import { CursorPage } from '../../platform/data/lists/page.js';
import type { Call, TenantCall } from '../../platform/data/call.js';
import { EventFollower } from './event-follower.js';
import { type EventDto, type EventFeedQuery, type EventListQuery, LATEST } from './event.dto.js';
import { eventIdOf, positionOf } from './event-id.js';
import { EventTypes } from './event-types.js';
import { eventJsonOf, eventOf, type RecordedEvent } from './recorded-event.js';

/** Positions of events are times in microseconds. */
const HOUR_US = 3_600_000_000;

/** The number of created records that a list for agents has. */
const LATEST_CREATIONS = 20;

/**
 * Reads the events of an organization for REST. `/mcp` reads which records were created last, and which have changed, for
 * the subscriptions of agents.
 */
@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventsRepository,
    private readonly follower: EventFollower,
    private readonly types: EventTypes,
    private readonly keys: KeyRevalidation,
  ) {}

  /**
   * Reads the events of the kinds of records that the caller may read.
   * @param gone aborts when the client has closed the connection
   * @throws ApiError `validation_error`, `cursor_expired`, `query_failed`; after a wait also `unauthorized`,
   *   `insufficient_scope`
   */
  async feed(call: Call, query: EventFeedQuery, gone: AbortSignal): Promise<CursorPage<EventDto>> {
    // The key can end or get other scopes while the request waits.
    let { scopes } = call.actor;
    const keyEnd = new AbortController();
    const waited = new AbortController();
    const endWait = () => {
      waited.abort();
    };
    const reader: OpenResponse = {
      key: call.actor.key,
      tenant: call.tenant,
      updateScopes: (found) => {
        scopes = new Set(found);
      },
      end: () => {
        keyEnd.abort();
      },
    };
    // Refuses unknown types before the cursor is looked up.
    this.readableTypes(scopes, query.types);
    const after = await this.positionAfter(call, query.after);
    const over = AbortSignal.any([gone, keyEnd.signal, waited.signal]);
    const timer = setTimeout(endWait, query.wait * 1_000);
    if (query.wait === 0) endWait();
    let unwatch: (() => void) | undefined;
    try {
      for (;;) {
        const isOver = over.aborted || this.follower.isStopped;
        // Waits before it reads, so that no event between the two is missed.
        const next = this.follower.waitForNext(call.tenant.id, over);
        const types = this.readableTypes(scopes, query.types);
        const { page, size } = await this.page(call, scopes, { after, types, limit: query.limit });
        if (keyEnd.signal.aborted) throw new ApiError('unauthorized');
        if (!scopes.has('events:read')) throw insufficientScope('events:read');
        if (size > 0 || isOver) return page;
        if (!unwatch) {
          unwatch = this.keys.watch(reader);
          await this.keys.assertActive(call.actor);
        }
        await next;
      }
    } finally {
      clearTimeout(timer);
      endWait();
      unwatch?.();
    }
  }

  /**
   * Reads the events of one record, if the caller may read its kind.
   * @param record its id and its kind, such as `lead`
   * @param assertExists throws if there is no such record; called if it has no events of its kind
   * @throws ApiError `validation_error`, `cursor_expired`, `query_failed`, and errors of `assertExists`
   */
  async ofRecord(
    call: Call,
    { kind, id }: { readonly kind: string; readonly id: string },
    query: EventListQuery,
    assertExists: () => Promise<unknown>,
  ): Promise<CursorPage<EventDto>> {
    const after = await this.positionAfter(call, query.after);
    const isOfKind = (type: string) => type.startsWith(`${kind}.`);
    const { scopes } = call.actor;
    const types = this.types.readableBy(scopes).filter(isOfKind);
    const recordIds = [id];
    const selection = { after, types, recordIds, limit: query.limit };
    const { page, size } = await this.page(call, scopes, selection);
    if (size > 0) return page;
    const ofKind = this.types.all.filter(isOfKind);
    const [first] = await this.events.read(call, { recordIds, types: ofKind, limit: 1 });
    if (!first) await assertExists();
    return page;
  }

  /**
   * All events of records, oldest first.
   * @throws ApiError `query_failed`
   */
  async ofRecords(call: Call, ids: readonly string[]): Promise<RecordedEvent[]> {
    return (await this.events.read(call, { recordIds: ids })).map((stored) => eventOf(stored));
  }

  /** Whether creations of this kind of records, such as `lead`, write events. */
  hasCreations(kind: string): boolean {
    return this.types.scopeOf(creationOf(kind)) !== undefined;
  }

  /**
   * The records of a kind that were created last, the newest first.
   * @throws ApiError `query_failed`
   */
  async latestCreations(call: Call, kind: string) {
    const types = [creationOf(kind)];
    const selection = { types, first: 'newest', limit: LATEST_CREATIONS } as const;
    const created = await this.events.read(call, selection);
    return {
      created: created.map(({ record_id: id, record, created_at: publishedAt }) => {
        const { created_at = publishedAt } = JSON.parse(record) as { created_at?: string };
        return { uri: `${kind}://${id}`, created_at };
      }),
    };
  }

  /**
   * Finds which records have changed since a time, and of which kinds some were created.
   * @param ids of records
   * @param kinds such as `lead`
   * @throws ApiError `query_failed`
   */
  async changesSince(
    call: TenantCall,
    since: Date,
    { ids, kinds }: { ids: readonly string[]; kinds: readonly string[] },
  ): Promise<{ ids: string[]; kinds: string[] }> {
    const types = kinds.map(creationOf);
    const after = since.getTime() * 1_000;
    const rows = await this.events.findChanged(call, after, ids, types);
    // A caller that has the id of a record already knows of its creation.
    const changes = rows.filter(({ type }) => !type.endsWith('.created'));
    return {
      ids: ids.filter((id) => changes.some(({ record_id }) => record_id === id)),
      kinds: kinds.filter((kind) => rows.some(({ type }) => type === creationOf(kind))),
    };
  }

  private async page(
    call: Call,
    scopes: ReadonlySet<string>,
    selection: EventSelection & { readonly after: number; readonly limit: number },
  ) {
    const { after, limit } = selection;
    // Read before the events: those up to it are visible.
    const { head } = this.follower;
    const found = await this.events.read(call, { ...selection, limit: limit + 1 });
    const stored = found.slice(0, limit);
    const has_more = found.length > limit;
    const last = stored.at(-1)?.position ?? after;
    // A page without further events continues at the head, so that a quiet organization does not lose its cursor. The
    // head is rounded down to the hour, so that callers do not learn when other organizations write events.
    const known = has_more ? 0 : head - (head % HOUR_US);
    const next = eventIdOf(Math.max(last, known));
    const events = stored.map((event) => eventJsonOf(event, scopes));
    const page = new CursorPage<EventDto>(`[${events.join()}]`, { next, has_more });
    return { page, size: stored.length };
  }

  private readableTypes(scopes: ReadonlySet<string>, wanted: string | null | undefined): string[] {
    const readable = this.types.readableBy(scopes);
    if (!wanted) return readable;
    const names = wanted.split(',').map((name) => name.trim());
    const unknown = names.find((name) => this.types.scopeOf(name) === undefined);
    if (unknown !== undefined) {
      const message = `must be some of ${this.types.all.join(', ')}, separated by commas`;
      throw validationError([{ field: 'types', message }]);
    }
    return readable.filter((type) => names.includes(type));
  }

  private async positionAfter(call: Call, after: string | null | undefined): Promise<number> {
    if (!after) return 0;
    const { head, expiredBefore } = this.follower;
    if (after === LATEST) {
      const [last] = await this.events.read(call, { first: 'newest', limit: 1 });
      return Math.max(last?.position ?? 0, head - (head % HOUR_US));
    }
    const position = positionOf(after);
    const latest = Math.max(head, Date.now() * 1_000) + HOUR_US;
    if (position === undefined || position > latest) {
      const message = `must be meta.next of a page, the id of an event, or ${LATEST}`;
      throw validationError([{ field: 'after', message }]);
    }
    // Without events after the position, nothing has expired.
    if (position < Math.min(expiredBefore, head - (head % HOUR_US))) {
      throw new ApiError('cursor_expired');
    }
    return position;
  }
}

function creationOf(kind: string): string {
  return `${kind}.created`;
}
