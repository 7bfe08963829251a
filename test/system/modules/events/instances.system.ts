import { createLead, dataOf, LEADS, updateLead } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { mcpHelpers } from '../../../support/mcp/mcp-helpers.js';
import { EVENTS, readAllEvents, readEvents } from '../../../support/events.js';
import { resourceUpdated, Subscriber } from '../../../support/mcp/resource-subscriber.js';
import { EventFollower } from '../../../../src/modules/events/event-follower.js';
import { positionOf } from '../../../../src/modules/events/event-id.js';
import { until } from '../../../support/servers/product.js';
import { expectShorter } from '../../../support/times.js';
import { EventPublisher } from '../../../../src/modules/events/event-publisher.js';
import type { RecordedEvent } from '../../../../src/modules/events/recorded-event.js';

let one: TestApp;
let two: TestApp;
let tenant: Tenant;
const { callerOf } = mcpHelpers(() => two);

beforeAll(async () => {
  one = await TestApp.start();
  two = await TestApp.start({ database: one.database });
});
beforeEach(async () => {
  tenant = await one.organization();
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

/** A client of the second instance. */
const second = () => two.client(tenant.key.key);

describe('two instances', () => {
  it('answer a waiting reader as soon as the other one has written an event', async () => {
    const waiting = second().get(`${EVENTS}?wait=25`);
    await readEvents(second());
    const { id } = await createLead(tenant.api);
    const written = performance.now();
    expect((await waiting).body).toMatchObject({ data: [{ record: { id } }] });
    expectShorter(performance.now() - written, 1_000);
  });

  it.each(['sessions', 'stateless'] as const)(
    'notify subscribers of changes through the other one (%s)',
    async (mode) => {
      const lead = await createLead(tenant.api);
      const [created] = await readAllEvents(tenant.api, 1);
      const isKnown = () => two.app.get(EventFollower).head >= positionOf(created!.id)!;
      await until(() => Promise.resolve(isKnown()));
      const uri = `lead://${lead.id}`;
      const follower = await Subscriber.of(mode, callerOf(tenant), [uri, 'lead://list']);
      expect(follower.acknowledged).toEqual([uri, 'lead://list']);
      await updateLead(tenant.api, lead.id, { first_name: 'Grace' });
      expect(await follower.next()).toEqual(resourceUpdated(uri));
      await createLead(tenant.api);
      expect(await follower.next()).toEqual(resourceUpdated('lead://list'));
      follower.disconnect();
    },
  );

  it('replay the changes in between to a session that moves to the other instance', async () => {
    const [lead, unchanged] = [await createLead(tenant.api), await createLead(tenant.api)];
    const first = mcpHelpers(() => one).callerOf(tenant);
    const session = await first.openSession();
    for (const uri of [`lead://${lead.id}`, 'task://list', 'appointment://list']) {
      await first.rpc(session, 'resources/subscribe', { uri });
    }
    await updateLead(tenant.api, lead.id, { first_name: 'Grace' });
    dataOf(
      await tenant.api.post('/api/v1/tasks', { title: 'Call', contact_id: unchanged.id }),
      201,
    );
    await one.app.get(EventPublisher).publish();

    const stream = await callerOf(tenant).openStream(session);
    const uris: string[] = [];
    while (uris.length < 2) {
      const { data } = (await stream.next())!;
      // The first event has no data.
      if (data !== '') uris.push((JSON.parse(data) as { params: { uri: string } }).params.uri);
    }
    expect(uris).toEqual([`lead://${lead.id}`, 'task://list']);
    stream.disconnect();
  });

  it('publish the events of each record in the order of its changes', async () => {
    const leads = await Promise.all([1, 2, 3, 4].map(() => createLead(tenant.api)));
    const write = async (lead: { id: string }, n: number) => {
      for (let i = 0; i < 10; i++) {
        const api = (i + n) % 2 ? tenant.api : second();
        dataOf(await api.put(`${LEADS}/${lead.id}`, { notes: `${i}` }));
      }
    };
    await Promise.all(leads.map(write));
    const events = await readAllEvents(tenant.api, 44);
    for (const { id } of leads) {
      const notes = events
        .filter(({ record, type }) => record.id === id && type === 'lead.updated')
        .map(({ record }) => record.notes);
      expect(notes).toEqual(Array.from({ length: 10 }, (_, i) => `${i}`));
    }
  });

  it('show every event once and in order to readers that continue at random positions', async () => {
    const total = 120;
    let written = 0;
    const writer = async (api: Tenant['api']) => {
      while (written < total) {
        written++;
        await createLead(api);
      }
    };
    const read = async () => {
      const seen: RecordedEvent[] = [];
      let after = '';
      while (seen.length < total) {
        const api = Math.random() < 0.5 ? tenant.api : second();
        const limit = 1 + Math.floor(Math.random() * 20);
        const page = await readEvents(api, `limit=${limit}&wait=5${after}`);
        // A reader that is killed continues after the last event that it has stored.
        const stored = page.data.slice(0, Math.ceil(Math.random() * page.data.length));
        seen.push(...stored);
        const next = stored.length === page.data.length ? page.meta.next : stored.at(-1)?.id;
        if (next !== undefined) after = `&after=${next}`;
      }
      return seen.map(({ id }) => id);
    };
    const [, , ...readers] = await Promise.all([
      writer(tenant.api),
      writer(second()),
      ...[1, 2, 3].map(read),
    ]);
    const all = (await readAllEvents(tenant.api, total)).map(({ id }) => id);
    expect([...new Set(all)].sort()).toEqual(all);
    for (const ids of readers) expect(ids).toEqual(all);
  });
});
