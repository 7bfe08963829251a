import { randomUUID } from 'node:crypto';
import type { NewEvent } from '../../src/modules/webhooks/deliveries.repository.js';
import { DeliveriesService } from '../../src/modules/webhooks/deliveries.service.js';
import type { Answer } from '../../src/testing/api-client.js';
import { dataOf } from '../../src/testing/factories.js';
import type { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { until } from './servers/product.js';

export const WEBHOOKS = '/api/v1/webhooks';

/** A webhook in responses of the API (docs/contract/webhooks.md#webhooks). */
export interface WebhookRecord {
  id: string;
  /** Only in responses that show it once. */
  secret?: string;
  url: string;
  types: string[];
  changed: string[] | null;
  filter: object | null;
  description: string | null;
  enabled: boolean;
  disabled_reason: string | null;
  failing_since: string | null;
  previous_secret_expires_at: string | null;
  created_at: string;
  updated_at: string;
}

/** A delivery in responses of the API (docs/contract/webhooks.md#deliveries). */
export interface DeliveryRecord {
  id: string;
  webhook_id: string;
  event_id: string;
  type: string;
  record_id: string;
  status: string;
  attempts: number;
  next_attempt_at: string | null;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number | null;
}

/** Creates a webhook. */
export async function createWebhook(
  { api }: Pick<Tenant, 'api'>,
  url: string,
  fields: object = {},
): Promise<WebhookRecord & { secret: string }> {
  return dataOf(await api.post(WEBHOOKS, { url, types: ['lead.updated'], ...fields }), 201);
}

/** The deliveries of a webhook, the oldest first. */
export async function deliveriesOf({ api }: Tenant, id: string): Promise<DeliveryRecord[]> {
  const path = `${WEBHOOKS}/${id}/deliveries?sort_dir=asc&limit=100`;
  return dataOf<DeliveryRecord[]>(await api.get(path));
}

/** Waits until a condition on the deliveries of a webhook holds. */
export async function untilDeliveries(
  tenant: Tenant,
  id: string,
  condition: (deliveries: DeliveryRecord[]) => boolean,
): Promise<DeliveryRecord[]> {
  let last: DeliveryRecord[] = [];
  await until(async () => condition((last = await deliveriesOf(tenant, id))));
  return last;
}

/** Publishes an event to the webhooks of an organization, as the outbox does. */
export async function publish(
  { app }: TestApp,
  { id }: Pick<Tenant, 'id'>,
  event: Partial<NewEvent> = {},
): Promise<NewEvent> {
  const event_id = randomUUID();
  const type = event.type ?? 'lead.updated';
  const published = {
    ...{ event_id, type, record_id: randomUUID() },
    body: JSON.stringify({ id: event_id, type }),
    ...event,
  };
  await app.get(DeliveriesService).queue({ tenant: { id, phoneRegion: 'US' } }, [published]);
  return published;
}

/** Makes retries of an organization due now. */
export async function passTime(app: TestApp, { id }: Pick<Tenant, 'id'>): Promise<void> {
  await app.sql(
    `update webhook_deliveries set next_attempt_at = now()
     where organization_id = $1 and next_attempt_at is not null`,
    [id],
  );
  await app.sql('update jobs set run_at = now() where organization_id = $1 and not is_running', [
    id,
  ]);
}

/** Expects a `validation_error` whose message contains this. */
export function expectInvalid({ status, body }: Answer, message: string): void {
  const { error } = body as { error: { code: string; message: string } };
  expect({ status, code: error.code }).toEqual({ status: 400, code: 'validation_error' });
  expect(error.message).toContain(message);
}
