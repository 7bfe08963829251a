import { randomUUID } from 'node:crypto';
import { eventIdOf, positionOf } from '../../../../src/modules/events/event-id.js';
import { EventFollower } from '../../../../src/modules/events/event-follower.js';
import { EventPublisher } from '../../../../src/modules/events/event-publisher.js';
import { createLead, expectError } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { EVENTS, readAllEvents, readEvents } from '../../../support/events.js';
import { until } from '../../../support/servers/product.js';

const DAY_US = 86_400_000_000;

let app: TestApp;
let tenant: Tenant;

beforeEach(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
});
afterEach(() => app.stop());

const maintain = () => app.app.get(EventPublisher).maintainPartitions();

/** Stores a published event and returns its position. */
async function storeEvent(daysAgo: number): Promise<number> {
  const position = (Date.now() - daysAgo * 86_400_000) * 1_000;
  await app.sql(
    `insert into events (position, organization_id, type, record_id, record, changed)
     values ($1, $2, 'lead.created', $3::uuid, json_build_object('id', $3::uuid), '{}')`,
    [position, tenant.id, randomUUID()],
  );
  return position;
}

/** The positions in each partition of events. */
async function partitions(): Promise<Map<string, number[]>> {
  const rows = await app.sql<{ name: string; positions: string[] }>(
    `select child.relname as name,
       array(select position::text from events where events.tableoid = child.oid order by position) as positions
     from pg_inherits join pg_class child on child.oid = inhrelid
     where inhparent = 'events'::regclass`,
  );
  return new Map(rows.map(({ name, positions }) => [name, positions.map(Number)]));
}

describe('the partitions of events', () => {
  it('exist for today and the next three days after startup', async () => {
    const today = Math.floor(Date.now() / 86_400_000);
    const names = [0, 1, 2, 3].map((days) => `events_${today + days}`);
    expect([...(await partitions()).keys()].sort()).toEqual([...names, 'events_default'].sort());
  });

  it('receive the events that had no partition, such as after a restore', async () => {
    const positions = [await storeEvent(10), await storeEvent(10), await storeEvent(5)];
    expect((await partitions()).get('events_default')).toEqual(positions);
    await maintain();
    const stored = await partitions();
    expect(stored.get('events_default')).toEqual([]);
    const [first, , last] = positions.map((position) => Math.floor(position / DAY_US));
    expect(stored.get(`events_${first}`)).toEqual(positions.slice(0, 2));
    expect(stored.get(`events_${last}`)).toEqual(positions.slice(2));
    const { data } = await readEvents(tenant.api);
    expect(data.map(({ id }) => positionOf(id))).toEqual(positions);
  });

  it('are dropped one at a time after 30 days, and the feed says that the events are gone', async () => {
    const [oldest, old, kept] = [await storeEvent(33), await storeEvent(32), await storeEvent(29)];
    const after = (position: number) => `after=${eventIdOf(position)}`;
    await maintain();
    await app.app.get(EventPublisher).publish();
    expectError(await tenant.api.get(`${EVENTS}?${after(oldest)}`), 410, 'cursor_expired');
    expect((await readEvents(tenant.api, after(old))).data).toHaveLength(1);
    await maintain();
    await app.app.get(EventPublisher).publish();
    expectError(await tenant.api.get(`${EVENTS}?${after(old)}`), 410, 'cursor_expired');
    const { data } = await readEvents(tenant.api);
    expect(data.map(({ id }) => positionOf(id))).toEqual([kept]);
    await maintain();
    expect((await readEvents(tenant.api)).data).toHaveLength(1);
  });

  it('receive events after a clock that was set forward is right again', async () => {
    const ahead = (Date.now() + 400 * 86_400_000) * 1_000;
    // The event of the key of the organization takes its position before.
    await app.app.get(EventPublisher).publish();
    await app.sql('update event_position set last = $1', [ahead]);
    await createLead(tenant.api);
    await maintain();
    await createLead(tenant.api);
    const events = await readAllEvents(tenant.api, 2);
    expect(events.map(({ id }) => positionOf(id))).toEqual([ahead + 1, ahead + 2]);
    // An instance accepts positions in the future up to the last one that it knows of.
    await until(() => Promise.resolve(app.app.get(EventFollower).head === ahead + 2));
    const { meta } = await readEvents(tenant.api, `after=${events[0]?.id}`);
    expect((await readEvents(tenant.api, `after=${meta.next}`)).data).toEqual([]);
    expect((await partitions()).get('events_default')).toEqual([]);
  });
});
