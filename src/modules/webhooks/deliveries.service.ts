import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Call, InTransaction, Tenant, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { Page } from '../../platform/data/lists/page.js';
import { originOf } from '../../platform/data/records/record-statements.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { NO_DEFINITIONS } from '../../platform/data/filters/with-definitions.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { nullsForMissing } from '../../platform/fields/changes.js';
import { defineJob } from '../../platform/jobs/job.js';
import { JobsService } from '../../platform/jobs/jobs.service.js';
import { FieldDefinitionsService } from '../custom-fields/field-definitions.service.js';
import { EventActorDto } from '../events/event.dto.js';
import { EventTypes } from '../events/event-types.js';
import { CONTACT_SCOPE, type RecordedEvent } from '../events/recorded-event.js';
import {
  DeliveriesRepository,
  type NewDelivery,
  type NewEvent,
  type Receiver,
} from './deliveries.repository.js';
import type { DeliveryDto, DeliveryListQuery } from './delivery.dto.js';
import { type Judge, type JudgedEvent, judgeOf } from './webhook-choice.js';
import type { WebhookDto } from './webhook.dto.js';
import { WebhooksRepository } from './webhooks.repository.js';

/** Delivers the due events of a webhook. A run mostly waits for responses, so its concurrency is high. */
export const DELIVER = defineJob<{ webhookId: string }>('webhooks.deliver', {
  retries: 1_000_000_000,
  backoff: { delay: '1s', maxDelay: '1m' },
  concurrency: 50,
  waitsWhileSuspended: true,
});

/** By what filters are read, beside the organization. */
type QueueingCall = TenantCall & {
  readonly tenant: Pick<Tenant, 'phoneRegion' | 'definitionsVersion'>;
};

/** A receiver without a judge has a filter that is not valid any more. */
type JudgingReceiver = Receiver & { readonly judge: Judge | undefined };

/** The type of test events, which every webhook receives. */
export const TEST_TYPE = 'webhook.test';

/** Deliveries of webhooks (docs/contract/webhooks.md#deliveries). */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly webhooks: WebhooksRepository,
    private readonly repository: DeliveriesRepository,
    private readonly jobs: JobsService,
    private readonly types: EventTypes,
    private readonly definitions: FieldDefinitionsService,
    private readonly database: TenantDatabase,
  ) {}

  /** @throws ApiError `not_found`, `query_failed` */
  async list(call: Call, webhookId: string, query: DeliveryListQuery): Promise<Page<DeliveryDto>> {
    orNotFound(await this.webhooks.find(call, webhookId), 'webhook');
    return this.repository.list(call, webhookId, query);
  }

  /**
   * Queues events for the webhooks that receive them, choose them and have their scopes. Call it with the events of a
   * record in their order.
   * @param isBulk whether they are of a job, and are delivered behind other events
   * @param memo caches the webhooks of organizations, for events that were read together
   * @returns the enabled webhooks whose filter is not valid any more
   * @throws ApiError `query_failed`, `create_failed`
   */
  async queue(
    call: QueueingCall,
    events: readonly NewEvent[],
    isBulk = false,
    memo = new Map<string, unknown>(),
  ): Promise<string[]> {
    const known = memo.get(call.tenant.id) as readonly JudgingReceiver[] | undefined;
    const receivers = known ?? (await this.receivers(call));
    memo.set(call.tenant.id, receivers);
    const deliveries = events.flatMap((event) => {
      const scope = this.types.scopeOf(event.type) ?? '';
      const receiving = receivers.filter(
        (receiver) => receiver.scopes.includes(scope) && mayReceive(receiver, event),
      );
      return chosenBy(receiving, event).map((receiver) => this.deliveryOf(event, receiver));
    });
    if (deliveries.length > 0) {
      await this.database.transaction(call, (inner) => this.add(inner, deliveries, isBulk));
    }
    const invalid = receivers.filter(({ disabled_at, judge }) => disabled_at === null && !judge);
    return invalid.map(({ id }) => id);
  }

  private deliveryOf(event: NewEvent, { id, scopes }: Receiver): NewDelivery {
    const isWhole = scopes.includes(CONTACT_SCOPE) || !this.types.isOfTime(event.type);
    const { body } = event;
    return { ...event, webhook_id: id, body: isWhole ? body : withoutContact(body) };
  }

  private async receivers(call: QueueingCall): Promise<JudgingReceiver[]> {
    const receivers = await this.repository.receivers(call);
    const hasFilter = receivers.some(({ filter }) => filter);
    const defined = hasFilter ? await this.definitions.filterFieldsOf(call) : NO_DEFINITIONS;
    const context = { types: this.types, defined };
    return receivers.map((receiver) => {
      return { ...receiver, judge: judgeOf(receiver, context, call.tenant.phoneRegion) };
    });
  }

  /**
   * Sends a test event, with the webhook as its record, in one attempt after the response.
   * @throws ApiError `not_found`, `webhook_disabled`, `create_failed`
   */
  test(call: Call, webhookId: string): Promise<DeliveryDto> {
    return this.database.transaction(call, async (inner) => {
      const webhook = await this.enabledWebhook(inner, webhookId);
      const event = testEvent(call, webhook);
      const delivery = {
        webhook_id: webhookId,
        event_id: event.id,
        type: TEST_TYPE,
        // A new id and not that of the webhook, so that a test does not wait for another test.
        record_id: uuidv7(),
        body: JSON.stringify(event),
        traceparent: call.traceparent,
      };
      const [id] = await this.add(inner, [delivery], false);
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
      orNotFound(await this.repository.requeue(inner, webhookId, id), 'delivery');
      await this.sendJob(inner, webhookId);
      return orNotFound(await this.repository.find(inner, id), 'delivery');
    });
  }

  /**
   * Makes retries of a webhook due now.
   * @throws ApiError `create_failed`
   */
  async resume(call: InTransaction, webhookId: string): Promise<void> {
    await this.repository.resume(call, webhookId);
    await this.sendJob(call, webhookId);
  }

  /**
   * Sends the job that delivers the due events of a webhook.
   * @param seconds delay of the job
   * @throws ApiError `create_failed`
   */
  async sendJob(call: TenantCall, webhookId: string, seconds = 0): Promise<void> {
    const delay = seconds > 0 ? (`${seconds}s` as const) : undefined;
    await this.jobs.send(call, DELIVER, { webhookId }, { key: webhookId, runAgain: true, delay });
  }

  /** @returns the ids of the deliveries, without those of disabled webhooks and those that existed */
  private async add(
    call: InTransaction,
    events: readonly NewDelivery[],
    isBulk: boolean,
  ): Promise<string[]> {
    const { webhooks, deliveries } = await this.repository.add(call, events, isBulk);
    for (const id of webhooks) await this.sendJob(call, id);
    return deliveries;
  }

  private async enabledWebhook(call: Call, id: string): Promise<WebhookDto> {
    const webhook = orNotFound(await this.webhooks.find(call, id), 'webhook');
    if (!webhook.enabled) throw new ApiError('webhook_disabled');
    return webhook;
  }
}

/** The body of an event for a webhook that may not learn whether the lead may be contacted. */
function withoutContact(body: string): string {
  return JSON.stringify({ ...(JSON.parse(body) as RecordedEvent), contactable: undefined });
}

function testEvent(call: Call, webhook: WebhookDto) {
  const { key_name: _, ...actor } = nullsForMissing(EventActorDto, originOf(call));
  return {
    id: `test_${randomUUID()}`,
    type: TEST_TYPE,
    created_at: new Date(),
    record: webhook,
    changed: [],
    actor,
  };
}

/** The receivers that choose an event, which its body tells. */
function chosenBy(receivers: readonly JudgingReceiver[], { body }: NewEvent) {
  if (receivers.every(({ filter, changed }) => !filter && !changed)) return receivers;
  const event = JSON.parse(body) as JudgedEvent;
  return receivers.filter(({ judge }) => judge?.(event));
}

/**
 * Whether a webhook subscribes to an event that can have been made before it was disabled. The insert decides this. Here it
 * spares organizations whose webhooks are disabled the transaction.
 */
function mayReceive({ types, disabled_at }: Receiver, { type, created_at }: NewEvent): boolean {
  const isOpen = created_at === undefined || disabled_at === null || created_at <= disabled_at;
  return isOpen && types.includes(type);
}
