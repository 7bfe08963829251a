import { Injectable, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import {
  type EventBatch,
  OnDurableEvent,
} from '../../../../src/modules/events/event-handler.decorator.js';
import type { RecordedEvent } from '../../../../src/modules/events/recorded-event.js';
import type { Call } from '../../../../src/platform/data/call.js';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { readAllEvents, withoutKeyNames } from '../../../support/events.js';
import { until } from '../../../support/servers/product.js';

// Broken on purpose for docs/operating/runbook.md#work-in-the-background-is-late

interface Handled {
  readonly handler: string;
  readonly organization: string;
  readonly event: RecordedEvent;
  /** Events that were read together share it. */
  readonly memo?: EventBatch['memo'];
}

let handled: Handled[] = [];
/** Fails the next calls of the durable handler. */
let failures = 0;

@Injectable()
class Handlers {
  @OnEvent('lead.*')
  onLead(event: RecordedEvent, call: Call) {
    this.record('in process', event, call);
    throw new Error('for a test');
  }

  @OnDurableEvent('test.tasks', { types: ['task.created', 'task.completed'] })
  onTask(call: Call, event: RecordedEvent, { memo }: EventBatch) {
    this.record('durable', event, call, memo);
    if (failures-- > 0) throw new Error('for a test');
  }

  @OnDurableEvent('test.titles', {
    types: ['task.created', 'task.updated'],
    changed: ['title'],
  })
  onTitle(call: Call, event: RecordedEvent) {
    this.record('titles', event, call);
  }

  @OnDurableEvent('test.selected', { types: ['task.created'], organizations: 'finds_duplicates' })
  onSelected(call: Call, event: RecordedEvent) {
    this.record('selected', event, call);
  }

  private record(
    handler: string,
    event: RecordedEvent,
    { tenant: { id: organization } }: Call,
    memo?: Handled['memo'],
  ) {
    handled.push({ handler, organization, event, memo });
  }
}

@Module({ providers: [Handlers] })
class HandlersModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [HandlersModule] });
});
beforeEach(async () => {
  tenant = await app.organization();
  handled = [];
  failures = 0;
});
afterAll(() => app.stop());

/** The events that a handler has received of the tenant. */
const receivedBy = (handler: string) =>
  handled.filter((one) => one.handler === handler && one.organization === tenant.id);

describe('@OnEvent', () => {
  it('receives the events that the feed shows, although an earlier call has failed', async () => {
    const { id } = await createLead(tenant.api);
    await tenant.api.delete(`${LEADS}/${id}`);
    const events = await readAllEvents(tenant.api, 2);
    await until(() => Promise.resolve(receivedBy('in process').length === 2));
    expect(receivedBy('in process').map(({ event }) => event)).toEqual(withoutKeyNames(events));
  });

  it('does not receive the events of another instance', async () => {
    const other = await TestApp.start({ database: app.database });
    await createLead(other.client(tenant.key.key));
    await createLead(tenant.api);
    const [, own] = await readAllEvents(tenant.api, 2);
    await until(() => Promise.resolve(receivedBy('in process').length > 0));
    expect(receivedBy('in process').map(({ event }) => event.id)).toEqual([own?.id]);
    await other.stop();
  });
});

describe('@OnDurableEvent', () => {
  const createTask = (title: string) => tenant.api.post('/api/v1/tasks', { title });

  it('receives the events of its types in the order of the feed', async () => {
    for (const title of ['One', 'Two', 'Three']) await createTask(title);
    await createLead(tenant.api);
    const events = await readAllEvents(tenant.api, 4);
    await until(() => Promise.resolve(receivedBy('durable').length === 3));
    const expected = withoutKeyNames(events.slice(0, 3));
    expect(receivedBy('durable').map(({ event }) => event)).toEqual(expected);
  });

  it('receives the events of several publications together while there are many', async () => {
    const started = performance.now();
    for (let published = 1; published <= 10; published++) {
      await createTask('Busy');
      await readAllEvents(tenant.api, published);
    }
    await until(() => Promise.resolve(receivedBy('durable').length === 10));
    const runs = new Set(receivedBy('durable').map(({ memo }) => memo)).size;
    expect(runs).toBeLessThanOrEqual(1 + (performance.now() - started) / 200);
  });

  it('receives an event again until it succeeds, before the next one', async () => {
    failures = 1;
    const failed = async () => {
      const text = await (await fetch(`${app.url}/metrics`)).text();
      const name = /latitude_event_handler_failures_total\{handler="test.tasks"\} (\d+)/;
      return Number(name.exec(text)?.[1]);
    };
    const before = await failed();
    await createTask('One');
    await createTask('Two');
    await until(() => Promise.resolve(receivedBy('durable').length === 3));
    expect(await failed()).toBe(before + 1);
    const titles = receivedBy('durable').map(({ event }) => event.record.title);
    expect(titles).toEqual(['One', 'One', 'Two']);
  });

  it('receives the changes of its fields, and new records', async () => {
    const { id } = (await createTask('One')).body.data as { id: string };
    const update = (changes: object) => tenant.api.put(`/api/v1/tasks/${id}`, changes);
    await update({ description: 'None of its fields' });
    await update({ title: 'Two', priority: 'high' });
    await until(() => Promise.resolve(receivedBy('titles').length === 2));
    const types = receivedBy('titles').map(({ event: { type, changed } }) => [type, changed]);
    expect(types).toEqual([
      ['task.created', []],
      ['task.updated', ['title', 'priority']],
    ]);
  });

  it('receives the events of organizations that a column selects', async () => {
    const { api } = await app.organization();
    await createTask('Left out');
    await api.post('/api/v1/tasks', { title: 'Left out' });
    await app.sql('update organizations set finds_duplicates = true where id = $1', [tenant.id]);
    await createTask('One');
    const selected = () => handled.filter(({ handler }) => handler === 'selected');
    // An event from before the change is received if it is read after it.
    await until(() =>
      Promise.resolve(selected().some(({ event }) => event.record.title === 'One')),
    );
    expect(selected().every(({ organization }) => organization === tenant.id)).toBe(true);
  });

  it('receives each event in one of several instances', async () => {
    const other = await TestApp.start({ database: app.database, modules: [HandlersModule] });
    const api = other.client(tenant.key.key);
    const titles = Array.from({ length: 20 }, (_, n) => `Task ${n}`);
    await Promise.all(
      titles.map((title, n) => (n % 2 ? createTask(title) : api.post('/api/v1/tasks', { title }))),
    );
    const events = await readAllEvents(tenant.api, 20);
    await until(() => Promise.resolve(receivedBy('durable').length >= 20));
    expect(receivedBy('durable').map(({ event }) => event.id)).toEqual(events.map(({ id }) => id));
    await other.stop();
  });
});

describe('startup', () => {
  @Injectable()
  class Unknown {
    @OnDurableEvent('test.unknown', { types: ['lead.renamed'] })
    handle() {
      return undefined;
    }
  }

  @Module({ providers: [Unknown] })
  class UnknownModule {}

  it('fails if a handler names an unknown event type', async () => {
    await expect(TestApp.start({ modules: [UnknownModule] })).rejects.toThrow(
      'The event handler test.unknown names the unknown event type lead.renamed. The event types are',
    );
  });
});
