import type { Transport } from './transport.js';
import type { CallOptions, EventQuery, EventsPage, RecordEvent } from './types.js';

const MAX_WAIT_SECONDS = 25;
const MAX_LIMIT = 100;

/** Reads what changed. Every method rejects with a `LatitudeError`, or a `TypeError` for an invalid option. */
export class Events {
  constructor(private readonly transport: Transport) {}

  /**
   * One page of events, oldest first. `meta.next` is the `after` of the next page. The timeout of an attempt
   * is `timeoutMs` in addition to `wait`.
   */
  async list(query: EventQuery = {}, options?: CallOptions): Promise<EventsPage> {
    const { wait = 0 } = query;
    const waitMs = wait > 0 ? wait * 1_000 : 0;
    return this.transport.send({ method: 'GET', path: '/api/v1/events', query, waitMs }, options);
  }

  /**
   * Iterates over all events and waits for more, until the loop or the signal ends it. Store the id
   * of an event after its work is done, and pass it as `after` to continue from there. `after: 'latest'`
   * begins when the server answers the first request.
   */
  async *follow(query: EventQuery = {}, options?: CallOptions): AsyncGenerator<RecordEvent, void> {
    const { limit = MAX_LIMIT, wait = MAX_WAIT_SECONDS } = query;
    let { after } = query;
    for (;;) {
      // If a request that waits after `latest` were repeated, it would skip the events since its first attempt.
      const page = { ...query, limit, wait: after === 'latest' ? 0 : wait, after };
      const { data, meta } = await this.list(page, options);
      yield* data;
      after = meta.next;
    }
  }
}
