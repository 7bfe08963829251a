import { SetMetadata } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import type { RecordedEvent } from './recorded-event.js';

/** Which events a durable handler receives. */
export interface DurableEventOptions {
  /** Such as `['lead.created', 'lead.updated']`. Default: all. */
  readonly types?: readonly string[];
  /**
   * Such as `['email', 'phone']`: of the events with changed fields, only those in which one of these fields changed. Events
   * without changed fields, such as those of new records, are received as well. Default: all.
   */
  readonly changed?: readonly string[];
  /**
   * The name of a column of `organizations`: only events of organizations in which it is true. They are looked for once a
   * second. Default: of all, at once.
   */
  readonly organizations?: 'finds_duplicates';
}

export interface DurableHandler extends DurableEventOptions {
  readonly name: string;
}

export const DURABLE_HANDLER = Symbol('durable event handler');

/** Events that were read together. */
export interface EventBatch {
  /**
   * A cache for handlers of these events, such as for the settings of an organization. Its values are read
   * after all of these events were committed.
   */
  readonly memo: Map<string, unknown>;
  /** The events after this one, as long as they are of the same organization. The handler is called with each of them. */
  readonly following: () => Iterable<RecordedEvent>;
  /** The trace of the change that one of these events is about, as in the header `traceparent`. */
  readonly traceparentOf: (event: RecordedEvent) => string | undefined;
}

type Handler = (call: Call, event: RecordedEvent, batch: EventBatch) => unknown;

/**
 * Marks the method of a provider that receives events. It is called at least once for each event, with a
 * `Call` of the organization, one event after another in the order of the feed, in one instance at a time. If
 * it throws, it is called again with the same event after a delay, until it succeeds.
 * @param name unique in the application and never changed: the position of the handler is stored under it
 */
export function OnDurableEvent(
  name: string,
  options: DurableEventOptions = {},
): <H extends Handler>(
  target: object,
  method: string | symbol,
  handler: TypedPropertyDescriptor<H>,
) => void {
  return SetMetadata<symbol, DurableHandler>(DURABLE_HANDLER, { ...options, name });
}
