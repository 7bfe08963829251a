import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { UUID } from '../../platform/fields/kinds/uuid.js';
import type { Page } from '../../platform/data/lists/page.js';
import type { Call } from '../../platform/data/call.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import type { DeliveryDto, DeliveryListQuery } from './delivery.dto.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import type { WebhookDto } from './webhook.dto.js';
import { TEST_TYPE, WebhookDispatcher } from './webhook-dispatcher.service.js';
import { WebhooksService } from './webhooks.service.js';

/** Deliveries of webhooks (docs/contract/webhooks.md#deliveries). */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly repository: DeliveriesRepository,
    private readonly queue: DeliveryQueueRepository,
    private readonly dispatcher: WebhookDispatcher,
    private readonly database: TenantDatabase,
  ) {}

  /** @throws ApiError `not_found`, `query_failed` */
  async list(call: Call, webhookId: string, query: DeliveryListQuery): Promise<Page<DeliveryDto>> {
    await this.webhooks.get(call, webhookId);
    return this.repository.list(call, webhookId, query);
  }

  /**
   * Sends a test event, with the webhook as its record, in one attempt after the response.
   * @throws ApiError `not_found`, `webhook_disabled`, `create_failed`
   */
  test(call: Call, webhookId: string): Promise<DeliveryDto> {
    return this.database.transaction(call, async (inner) => {
      const webhook = await this.enabledWebhook(inner, webhookId);
      const event = testEvent(call, webhook);
      const [id] = await this.dispatcher.add(inner, [webhookId], {
        eventId: event.id,
        type: TEST_TYPE,
        // A new id and not that of the webhook, so that a test does not wait for another test.
        recordId: uuidv7(),
        body: JSON.stringify(event),
      });
      if (id === undefined) throw new ApiError('webhook_disabled');
      return orNotFound(await this.repository.find(inner, id), 'delivery');
    });
  }

  /**
   * Attempts a delivery again. A pending one is attempted at once. One that has ended is queued behind the other
   * deliveries of its record.
   * @throws ApiError `not_found`, `webhook_disabled`, `create_failed`
   */
  redeliver(call: Call, webhookId: string, id: string): Promise<DeliveryDto> {
    return this.database.transaction(call, async (inner) => {
      await this.enabledWebhook(inner, webhookId);
      orNotFound(await this.queue.requeue(inner, webhookId, id), 'delivery');
      await this.dispatcher.sendJob(inner, webhookId);
      return orNotFound(await this.repository.find(inner, id), 'delivery');
    });
  }

  private async enabledWebhook(call: Call, id: string): Promise<WebhookDto> {
    const webhook = await this.webhooks.get(call, id);
    if (!webhook.enabled) throw new ApiError('webhook_disabled');
    return webhook;
  }
}

function testEvent({ actor: { key, channel }, requestId }: Call, webhook: WebhookDto) {
  // The actor of a command has a name in place of a key.
  const key_id = UUID.test(key.id) ? key.id : null;
  return {
    id: `test_${randomUUID()}`,
    type: TEST_TYPE,
    created_at: new Date(),
    record: webhook,
    changed: [],
    actor: {
      key_id,
      channel: key_id && channel,
      request_id: requestId ?? null,
      grant_id: null,
      client_id: null,
    },
  };
}
