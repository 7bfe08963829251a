import { randomUUID } from 'node:crypto';
import { EventPublisher } from '../../../src/modules/events/event-publisher.js';
import { WebhooksJobs } from '../../../src/modules/webhooks/webhooks.jobs.js';
import { ScheduledPurgeModule } from '../../../src/ops/server/scheduled-purge.js';
import { IdempotencyRepository } from '../../../src/platform/http/response/idempotency.repository.js';
import { createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { readEvents } from '../../support/events.js';
import { until } from '../../support/servers/product.js';
import { createWebhook, deliveriesOf, publish } from '../../support/webhooks.js';

const ENV = {
  PURGE_AFTER: '30d',
  EVENTS_RETENTION: '60d',
  RESPONSES_RETENTION: '48h',
  DELIVERIES_RETENTION: '7d',
};

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ env: ENV, modules: [ScheduledPurgeModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('a server with settings of retention', () => {
  it('keeps events for EVENTS_RETENTION', async () => {
    const store = (daysAgo: number) =>
      app.sql(
        `insert into events (position, organization_id, type, record_id, record, changed)
         values ($1, $2, 'lead.created', $3::uuid, json_build_object('id', $3::uuid), '{}')`,
        [(Date.now() - daysAgo * 86_400_000) * 1_000, tenant.id, randomUUID()],
      );
    const created = async () => {
      const { data } = await readEvents(tenant.api, 'types=lead.created');
      return data.length;
    };
    await store(62);
    await store(59);
    // The first run gives both events a partition.
    await app.app.get(EventPublisher).maintainPartitions();
    await app.app.get(EventPublisher).maintainPartitions();
    expect(await created()).toBe(1);
  });

  it('repeats a response for RESPONSES_RETENTION, after which it is removed', async () => {
    const age = (hours: number) =>
      app.sql(`update idempotency_keys set created_at = now() - $1 * interval '1 hour'`, [hours]);
    const headers = { 'Idempotency-Key': randomUUID() };
    const create = () => tenant.api.post(LEADS, { first_name: 'Ada' }, { headers });
    const { id } = dataOf<{ id: string }>(await create(), 201);
    await age(47);
    await app.app.get(IdempotencyRepository).deleteExpired();
    expect(dataOf(await create(), 201)).toMatchObject({ id });
    await age(48);
    await app.app.get(IdempotencyRepository).deleteExpired();
    expect(dataOf<{ id: string }>(await create(), 201).id).not.toBe(id);
  });

  it('keeps deliveries for DELIVERIES_RETENTION', async () => {
    const { id } = await createWebhook(tenant, 'https://hooks.example/a');
    const old = await publish(app, tenant);
    const kept = await publish(app, tenant);
    const age = (event: string, days: number) =>
      app.sql(
        `update webhook_deliveries set created_at = now() - $2 * interval '1 day' where event_id = $1`,
        [event, days],
      );
    await age(old.event_id, 8);
    await age(kept.event_id, 6);
    await app.app.get(WebhooksJobs).cleanUp(await app.call(tenant));
    expect(await deliveriesOf(tenant, id)).toMatchObject([{ event_id: kept.event_id }]);
  });

  it('purges every day what was deleted before PURGE_AFTER', async () => {
    const deleteLead = async (daysAgo: number) => {
      const { id } = await createLead(tenant.api);
      dataOf(await tenant.api.delete(`${LEADS}/${id}`));
      await app.sql(`update leads set deleted_at = now() - $2 * interval '1 day' where id = $1`, [
        ...[id, daysAgo],
      ]);
      return id;
    };
    const [purged, kept] = [await deleteLead(31), await deleteLead(29)];
    const isStored = async (id: string) =>
      (await app.sql('select from leads where id = $1', [id])).length > 0;
    await app.sql(`update job_schedules set next_run_at = now() where name = 'latitude.purge'`);
    await until(async () => !(await isStored(purged)));
    expect(await isStored(kept)).toBe(true);
  });
});
