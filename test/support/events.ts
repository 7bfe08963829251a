import type { RecordedEvent } from '../../src/modules/events/recorded-event.js';
import type { ApiClient } from '../../src/testing/api-client.js';

export const EVENTS = '/api/v1/events';

export interface EventsPage {
  readonly data: readonly RecordedEvent[];
  readonly meta: { readonly next: string; readonly has_more: boolean };
}

/** Reads a page of events. */
export async function readEvents(api: ApiClient, query = '', path = EVENTS): Promise<EventsPage> {
  const { status, body } = await api.get(`${path}?${query}`);
  expect({ status, body: body as unknown }).toMatchObject({ status: 200 });
  return body as EventsPage;
}

/** Reads events page by page, waiting for more, until there are as many as expected. */
export async function readAllEvents(
  api: ApiClient,
  count: number,
  query = '',
): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  let after = '';
  while (events.length < count) {
    const page = await readEvents(api, `limit=100&wait=10&${query}${after}`);
    if (page.data.length === 0) break;
    events.push(...page.data);
    after = `&after=${page.meta.next}`;
  }
  expect(events).toHaveLength(count);
  return events;
}

/** Events as those receive them who do not read the feed. */
export const withoutKeyNames = (events: readonly RecordedEvent[]): RecordedEvent[] =>
  events.map(({ actor: { key_name: _, ...actor }, ...event }) => ({ ...event, actor }));
