import { queryString } from './resource.js';
import type { Transport } from './transport.js';
import type { CallOptions, EventQuery, EventsPage, RecordEvent } from './types.js';

const MAX_WAIT_SECONDS = 25;
const MAX_LIMIT = 100;

/** Timeout of a response, in addition to the wait for an event. */
const RESPONSE_MS = 10_000;

/** Reads what changed. Every method rejects with a `LatitudeError`, or a `TypeError` for an invalid option. */
export class Events {
  constructor(private readonly transport: Transport) {}

  /** One page of events, oldest first. `meta.next` is the `after` of the next page. */
  async list(query: EventQuery = {}, options: CallOptions = {}): Promise<EventsPage> {
    const path = `/api/v1/events${queryString(query)}`;
    const timeoutMs = options.timeoutMs ?? (query.wait ?? 0) * 1_000 + RESPONSE_MS;
    const call = { method: 'GET', path } as const;
    const { body } = await this.transport.send(call, { ...options, timeoutMs });
    return body as EventsPage;
  }

  /**
   * Iterates over all events and waits for more, until the loop or the signal ends it. Store the id
   * of an event after its work is done, and pass it as `after` to continue from there.
   */
  async *follow(query: EventQuery = {}, options?: CallOptions): AsyncGenerator<RecordEvent, void> {
    let { after } = query;
    for (;;) {
      const page = { wait: MAX_WAIT_SECONDS, limit: MAX_LIMIT, ...query, after };
      const { data, meta } = await this.list(page, options);
      yield* data;
      after = meta.next;
    }
  }
}
