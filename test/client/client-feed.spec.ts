import {
  type LatitudeClient,
  LatitudeTimeoutError,
  type RecordEvent,
  type SyncState,
} from '../../src/client/index.js';
import {
  answer,
  clientOf,
  error,
  failureOf,
  RESET,
  resultOf,
  sent,
  type Step,
} from '../support/scripted-client.js';

beforeEach(() => {
  sent.length = 0;
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function page(next: string, ids: readonly string[] = []): Response {
  return answer(200, { data: ids.map((id) => ({ id })), meta: { next, has_more: false } });
}

function queries(): Record<string, string>[] {
  return sent.map(({ url }) => Object.fromEntries(new URL(url).searchParams));
}

/** Reads some events and ends the iteration. */
async function take(feed: AsyncGenerator<RecordEvent>, count: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of feed) if (ids.push(id) === count) break;
  return ids;
}

describe('follow', () => {
  it('after latest, waits only after a known position', async () => {
    const { events } = clientOf([page('5'), RESET, page('6', ['6']), page('7', ['7'])]);
    const feed = events.follow({ after: 'latest', types: 'lead.created' });
    expect(await resultOf(take(feed, 2))).toEqual(['6', '7']);
    const wanted = { types: 'lead.created', limit: '100' };
    expect(queries()).toEqual([
      { ...wanted, after: 'latest', wait: '0' },
      { ...wanted, after: '5', wait: '25' },
      { ...wanted, after: '5', wait: '25' },
      { ...wanted, after: '6', wait: '25' },
    ]);
  });

  it('yields events of the page of latest, which can occur while the server reads it', async () => {
    const { events } = clientOf([page('6', ['6']), page('7', ['7'])]);
    const feed = events.follow({ after: 'latest', limit: 1, wait: 5 });
    expect(await resultOf(take(feed, 2))).toEqual(['6', '7']);
    expect(queries()).toEqual([
      { after: 'latest', limit: '1', wait: '0' },
      { after: '6', limit: '1', wait: '5' },
    ]);
  });

  it('waits and reads full pages if wait and limit are undefined', async () => {
    const feed = clientOf([page('6', ['6'])]).events.follow({ wait: undefined, limit: undefined });
    expect(await resultOf(take(feed, 1))).toEqual(['6']);
    expect(queries()).toEqual([{ wait: '25', limit: '100' }]);
  });
});

describe('sync', () => {
  const list = (next: string, ids: readonly string[], has_more: boolean) =>
    answer(200, { data: ids.map((id) => ({ id })), meta: { next, has_more } });
  const event = (type: string, id: string) => ({ id: `e${id}`, type, record: { id } });
  const feed = (next: string, data: readonly object[], has_more = false) =>
    answer(200, { data, meta: { next, has_more } });
  const types = 'lead.created,lead.updated,lead.deleted';

  async function pagesOf(client: LatitudeClient, state?: SyncState) {
    const pages = [];
    for await (const one of client.leads.sync(state)) pages.push(one);
    return pages;
  }

  it('notes the last event, reads the list by cursor, and then the events since', async () => {
    const client = clientOf([
      feed('10', []),
      list('1_a', ['a'], true),
      RESET,
      list('2_b', ['b'], false),
      feed('11', [event('lead.updated', 'a'), event('lead.deleted', 'b')], true),
      feed('12', [event('lead.deleted', 'a'), event('lead.created', 'c')]),
    ]);
    expect(await resultOf(pagesOf(client))).toEqual([
      { changed: [{ id: 'a' }], deleted: [], state: { events: '10', list: '1_a' } },
      { changed: [{ id: 'b' }], deleted: [], state: { events: '10' } },
      { changed: [{ id: 'a' }], deleted: ['b'], state: { events: '11' } },
      { changed: [{ id: 'c' }], deleted: ['a'], state: { events: '12' } },
    ]);
    const ofList = { fields: '*', limit: '100' };
    expect(queries()).toEqual([
      { after: 'latest', limit: '1' },
      { ...ofList, after: '' },
      { ...ofList, after: '1_a' },
      { ...ofList, after: '1_a' },
      { after: '10', types, limit: '100' },
      { after: '11', types, limit: '100' },
    ]);
  });

  it('continues in the list or in the events, where its state says', async () => {
    const inList = clientOf([list('2_b', [], false), feed('10', [])]);
    await resultOf(pagesOf(inList, { events: '10', list: '1_a' }));
    const inFeed = clientOf([feed('11', [])]);
    await resultOf(pagesOf(inFeed, { events: '10' }));
    expect(queries().map(({ after }) => after)).toEqual(['1_a', '10', '10']);
  });
});

describe('a query with an array', () => {
  it('repeats the parameter', async () => {
    const client = clientOf([answer(200, { data: [], meta: {} })]);
    await resultOf(client.leads.list({ tag: ['roof', 'a&b'], status: undefined }));
    expect(new URL(sent[0]!.url).search).toBe('?tag=roof&tag=a%26b');
  });
});

describe('the timeout of a request for events', () => {
  const timeouts = [
    ['by default', {}, {}, 10_000],
    ['of the client', { timeoutMs: 1_500 }, {}, 1_500],
    ['of the call', { timeoutMs: 1_500 }, { timeoutMs: 700 }, 700],
  ] as const;

  it.each(timeouts)('%s, begins after the wait', async (_, client, call, timeoutMs) => {
    const { events } = clientOf(['silence'], { maxAttempts: 1, ...client });
    const start = Date.now();
    const failure = await failureOf(events.list({ wait: 20 }, call));
    expect(failure).toBeInstanceOf(LatitudeTimeoutError);
    expect(Date.now() - start).toBe(timeoutMs + 20_000);
  });

  it.each(timeouts)('%s, applies to each page of follow', async (_, client, call, timeoutMs) => {
    const { events } = clientOf(['silence'], { maxAttempts: 1, ...client });
    const start = Date.now();
    await failureOf(events.follow({}, call).next());
    expect(Date.now() - start).toBe(timeoutMs + 25_000);
  });

  it.each([-1, NaN])('does not end before the server refuses the wait %d', async (wait) => {
    const refusal: Step = error(400, 'validation_error');
    const failure = await failureOf(clientOf([refusal]).events.list({ wait }));
    expect(failure).toMatchObject({ code: 'validation_error' });
  });
});
