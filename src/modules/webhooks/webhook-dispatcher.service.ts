import { Injectable } from '@nestjs/common';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { defineJob } from '../../platform/jobs/job.js';
import { JobsService } from '../../platform/jobs/jobs.service.js';
import {
  DeliveryQueueRepository,
  type NewDelivery,
  type Receiver,
  receivesEventOf,
} from './delivery-queue.repository.js';
import { EventTypes } from '../events/event-types.js';

/** Delivers the due events of a webhook. A run mostly waits for responses, so its concurrency is high. */
export const DELIVER = defineJob<{ webhookId: string }>('webhooks.deliver', {
  retries: 1_000_000_000,
  backoff: { delay: '1s', maxDelay: '1m' },
  concurrency: 50,
});

/** The type of test events, which every webhook receives. */
export const TEST_TYPE = 'webhook.test';

/** Queues events for webhooks and starts their delivery. */
@Injectable()
export class WebhookDispatcher {
  constructor(
    private readonly database: TenantDatabase,
    private readonly queue: DeliveryQueueRepository,
    private readonly jobs: JobsService,
    private readonly types: EventTypes,
  ) {}

  /**
   * Returns the ids of the webhooks that receive an event, subscribe to its type and have its scope.
   * @param memo caches the webhooks of an organization, for events that were read together
   * @throws ApiError `query_failed`
   */
  async receiversOf(
    call: TenantCall,
    { type, createdAt }: Pick<NewDelivery, 'type' | 'createdAt'>,
    memo = new Map<string, unknown>(),
  ): Promise<string[]> {
    const scope = this.types.scopeOf(type);
    if (scope === undefined) return [];
    const known = memo.get(call.tenant.id) as readonly Receiver[] | undefined;
    const all = known ?? (await this.queue.receivers(call));
    memo.set(call.tenant.id, all);
    return all
      .filter(({ types, scopes }) => types.includes(type) && scopes.includes(scope))
      .filter((webhook) => receivesEventOf(webhook, createdAt))
      .map(({ id }) => id);
  }

  /**
   * Queues an event for webhooks. Call it with the events of a record in their order.
   * @returns the ids of the deliveries, without those of disabled webhooks and those that existed
   * @throws ApiError `create_failed`
   */
  add(call: TenantCall, webhookIds: readonly string[], event: NewDelivery): Promise<string[]> {
    return this.database.transaction(call, async (inner) => {
      const { webhooks, deliveries } = await this.queue.add(inner, webhookIds, event);
      for (const id of webhooks) await this.sendJob(inner, id);
      return deliveries;
    });
  }

  /**
   * Queues the events of a job, behind other events. Call it with the events in their order.
   * @throws ApiError `create_failed`
   */
  async addBulk(
    call: TenantCall,
    events: readonly (NewDelivery & { readonly webhooks: readonly string[] })[],
  ): Promise<void> {
    await this.database.transaction(call, async (inner) => {
      for (const id of await this.queue.addBulk(inner, events)) await this.sendJob(inner, id);
    });
  }

  /**
   * Makes retries of a webhook due now.
   * @throws ApiError `create_failed`
   */
  async resume(call: InTransaction, webhookId: string): Promise<void> {
    await this.queue.resume(call, webhookId);
    await this.sendJob(call, webhookId);
  }

  /**
   * Sends the job that delivers the due events of a webhook.
   * @param seconds delay of the job
   * @throws ApiError `create_failed`
   */
  async sendJob(call: TenantCall, webhookId: string, seconds = 0): Promise<void> {
    await this.jobs.send(
      call,
      DELIVER,
      { webhookId },
      {
        key: webhookId,
        runAgain: true,
        ...(seconds > 0 && { delay: `${seconds}s` }),
      },
    );
  }
}
