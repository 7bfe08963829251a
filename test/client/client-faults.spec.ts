import { faker } from '@faker-js/faker/locale/en';
import type * as Deadlines from '../../src/client/deadline.js';
import { type EventsPage, LatitudeClient, LatitudeError } from '../../src/client/index.js';
import { HTTP_FAULTS, HttpFaultProxy } from '../support/servers/http-fault-proxy.js';
import { type Tenant, TestServer } from '../../src/testing/test-server.js';

// Retries are not delayed here. Other tests cover the delays.
jest.mock('../../src/client/retry-policy.js', () => ({
  ...jest.requireActual<object>('../../src/client/retry-policy.js'),
  retryDelay: () => 1,
}));

// An attempt times out as soon as its request stalls. Other tests cover the timeout.
const mockExpiries = new WeakMap<AbortSignal, () => void>();
jest.mock('../../src/client/deadline.js', () => {
  const actual = jest.requireActual<typeof Deadlines>('../../src/client/deadline.js');
  const withDeadline: typeof actual.withDeadline = (signals, timeoutMs, work) => {
    const expiry = new AbortController();
    return actual.withDeadline([...signals, expiry.signal], timeoutMs, (signal) => {
      mockExpiries.set(signal, () => {
        expiry.abort(new actual.DeadlineExceeded('the request stalled'));
      });
      return work(signal);
    });
  };
  return { ...actual, withDeadline };
});

const CREATES = 100;
const CALLERS = 50;

let app: TestServer;
let tenant: Tenant;
let proxy: HttpFaultProxy;
let client: LatitudeClient;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
  faker.seed(1);
  const attempts: (() => void)[] = [];
  proxy = await HttpFaultProxy.to(app.url, {
    choose: () => faker.helpers.maybe(() => faker.helpers.arrayElement(HTTP_FAULTS)),
    onStall: ({ headers }) => attempts[Number(headers['x-attempt'])]?.(),
  });
  client = new LatitudeClient({
    baseUrl: proxy.url,
    apiKey: tenant.key.key,
    // With so many attempts, it is practically impossible that all of them fail.
    maxAttempts: 60,
    fetch: (url, init) => {
      const attempt = attempts.push(mockExpiries.get(init!.signal!)!) - 1;
      const headers = { ...(init!.headers as Record<string, string>), 'X-Attempt': `${attempt}` };
      return fetch(url, { ...init, headers });
    },
  });
});
afterEach(() => proxy.close());
afterAll(() => app.stop());

describe('the client behind a proxy that injects every fault into half of the requests', () => {
  it('creates every lead exactly once', async () => {
    const emails = Array.from({ length: CREATES }, (_, n) => `lead-${n}@example.com`);
    const left = [...emails];
    const caller = async () => {
      for (let email = left.pop(); email !== undefined; email = left.pop()) {
        const lead = await client.leads.create({ first_name: 'Ada', email });
        expect(lead).toMatchObject({ email, first_name: 'Ada' });
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));

    const stored: string[] = [];
    for await (const { email } of client.leads.all({ sort_dir: 'asc' })) stored.push(email!);
    expect(stored.sort()).toEqual(emails.sort());
    for (const fault of HTTP_FAULTS) expect(proxy.counts.get(fault)).toBeGreaterThan(0);
  });

  it('creates every task exactly once, by its Idempotency-Key alone', async () => {
    const create = (n: number) => client.tasks.create({ title: `Call ${n}` });
    await Promise.all(Array.from({ length: 40 }, (_, n) => create(n)));
    const { meta } = await client.tasks.list();
    expect(meta.total).toBe(40);
  });

  it('updates and deletes records', async () => {
    const leads = await Promise.all(
      Array.from({ length: 10 }, (_, n) => client.leads.create({ first_name: `Ada ${n}` })),
    );
    const change = ({ id }: { id: string }) => client.leads.update(id, { company: 'Navy' });
    for (const lead of await Promise.all(leads.map(change))) expect(lead.company).toBe('Navy');
    const removed = await Promise.all(leads.map(({ id }) => client.leads.delete(id)));
    expect(removed).toEqual(leads.map(({ id }) => ({ id, deleted: true })));
    expect((await client.leads.list()).meta.total).toBe(0);
  });
});

describe('the client with a direct connection to the server', () => {
  beforeEach(() => {
    client = new LatitudeClient({ baseUrl: app.url, apiKey: tenant.key.key });
  });

  it('returns the organization of its key', async () => {
    expect(await client.me()).toMatchObject({ organization: { id: tenant.id } });
  });

  it('books and cancels an appointment', async () => {
    const lead = await client.leads.create({ first_name: 'Ada' });
    const times = { start_time: '2026-12-01T08:00:00Z', end_time: '2026-12-01T09:00:00Z' };
    const { id } = await client.appointments.create({ lead_id: lead.id, ...times });
    expect(await client.appointments.cancel(id)).toEqual({ id, cancelled: true });
    expect(await client.appointments.get(id)).toMatchObject({ status: 'cancelled' });
  });

  it('follows events from now on without a gap, if the response with the first event is lost', async () => {
    let creation: Promise<unknown> | undefined;
    let isLost = false;
    const { events } = new LatitudeClient({
      baseUrl: app.url,
      apiKey: tenant.key.key,
      fetch: async (url, init) => {
        if ((url as string).includes('wait=25'))
          creation ??= client.leads.create({ first_name: 'Ada' });
        const response = await fetch(url, init);
        const { data } = (await response.clone().json()) as EventsPage;
        if (isLost || data.length === 0) return response;
        isLost = true;
        throw new TypeError('fetch failed');
      },
    });
    const { value } = await events.follow({ after: 'latest' }).next();
    expect(value).toMatchObject({ type: 'lead.created', record: { first_name: 'Ada' } });
    expect(isLost).toBe(true);
    await creation;
  });

  it('reports a duplicate with the field and the existing record', async () => {
    const { id } = await client.leads.create({ first_name: 'Ada', email: 'ada@example.com' });
    const again = client.leads.create({ first_name: 'Ada', email: 'ada@example.com' });
    await expect(again).rejects.toBeInstanceOf(LatitudeError);
    await expect(again).rejects.toMatchObject({
      status: 409,
      code: 'duplicate',
      details: [{ field: 'email', existing_id: id }],
      requestId: expect.any(String),
    });
  });
});
