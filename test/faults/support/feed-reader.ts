import type { ApiClient } from '../../../src/testing/api-client.js';
import { type EventsPage, readEvents } from '../../support/events.js';

/** Reads the events of an organization, and continues after a kill of the server. */
export class FeedReader {
  readonly ids: string[] = [];
  private readonly created = new Set<string>();
  private after = '';

  /** Reads all events after the last one that was read. */
  async readOn(api: ApiClient): Promise<void> {
    let page: EventsPage;
    do {
      page = await readEvents(api, `limit=100&wait=2&types=lead.created${this.after}`);
      for (const { id, record } of page.data) {
        this.ids.push(id);
        this.created.add(record.id);
      }
      this.after = `&after=${page.meta.next}`;
    } while (page.data.length > 0);
  }

  /** Expects one event for each lead, in the order of ids. */
  async expectComplete(api: ApiClient): Promise<void> {
    expect([...new Set(this.ids)].sort()).toEqual(this.ids);
    const { body } = await api.get('/api/v1/leads?limit=1');
    const { total } = (body as { meta: { total: number } }).meta;
    expect([this.ids.length, this.created.size]).toEqual([total, total]);
  }
}
