import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { logger } from '../../platform/config/logger.js';
import { Settings } from '../../platform/config/settings.js';
import { OrganizationCalls } from '../../platform/access/organization-calls.service.js';
import type { Call, TenantCall } from '../../platform/data/call.js';
import { type EventBatch, OnDurableEvent } from '../events/event-handler.decorator.js';
import type { RecordedEvent } from '../events/recorded-event.js';
import { BackgroundWork } from '../../platform/jobs/background-work.js';
import { retryDelayMs } from '../../platform/jobs/job.js';
import { Job, JobHandler } from '../../platform/jobs/job.decorator.js';
import { MetricsRegistry } from '../../platform/metrics-registry.js';
import {
  type AttemptResult,
  DeliveriesRepository,
  type DueDelivery,
  type NewEvent,
  type Outcome,
} from './deliveries.repository.js';
import { DELIVER, DeliveriesService, TEST_TYPE } from './deliveries.service.js';
import { type DisabledReason, FAILURE_REASONS } from './webhook.dto.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksRepository } from './webhooks.repository.js';

/** A receiver that answers with this status wants no more events. */
const GONE = 410;

/** Events that one statement queues. Each is sent once for each webhook. */
const MAX_TOGETHER = 50;

/** Requests to one receiver at the same time. */
const MAX_PARALLEL = 10;

/** How often a run reads due deliveries while requests are running. */
const POLL_MS = 500;

/** A run starts new attempts for this long, so that webhooks with many events do not delay others. */
const RUN_MS = 30_000;

/** Attempts of a delivery. With these delays they take from three to four days. */
export const MAX_ATTEMPTS = 53;
/** The growth is small, so that a receiver that fails half of the requests still gets thousands of events within minutes. */
export const DELAYS = { delayMs: 1_000, maxDelayMs: 12 * 3_600_000, growth: 1.25 };

const ATTEMPT_OUTCOMES = ['succeeded', 'retried', 'failed'] as const;

/** Delivers events to receivers. */
@Injectable()
export class WebhooksJobs {
  private readonly attempts = new Counter({
    name: 'latitude_webhook_attempts_total',
    help: 'Attempts to deliver events to webhooks by outcome: succeeded, retried, failed.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  private readonly disabled = new Counter({
    name: 'latitude_webhooks_disabled_total',
    help: 'Webhooks that were disabled by reason: gone, failing, invalid_filter.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  constructor(
    private readonly service: DeliveriesService,
    private readonly deliveries: DeliveriesRepository,
    private readonly webhooks: WebhooksRepository,
    private readonly sender: WebhookSender,
    private readonly background: BackgroundWork,
    private readonly organizations: OrganizationCalls,
    private readonly registry: MetricsRegistry,
    private readonly settings: Settings,
  ) {
    for (const outcome of ATTEMPT_OUTCOMES) this.attempts.inc({ outcome }, 0);
    for (const reason of FAILURE_REASONS) this.disabled.inc({ reason }, 0);
  }

  /**
   * Queues an event together with those that follow it, for the webhooks that subscribe to their types. Events of imports
   * and other events are not queued together, because those of imports are delivered after the others. Events have
   * rising ids, so that the last id that was queued tells which events of the batch are done.
   */
  @OnDurableEvent('webhooks')
  async queueEvent(
    call: Call,
    event: RecordedEvent,
    { memo, following, traceparentOf }: EventBatch,
  ): Promise<void> {
    const queuedUntil = memo.get(QUEUED_UNTIL) as string | undefined;
    if (queuedUntil !== undefined && event.id <= queuedUntil) return;
    const isBulk = isOfImport(event);
    const events = [event];
    for (const next of following()) {
      if (isOfImport(next) !== isBulk || events.length === MAX_TOGETHER) break;
      events.push(next);
    }
    const queued = events.map((each) => newEventOf(each, traceparentOf(each)));
    const invalid = await this.service.queue(call, queued, isBulk, memo);
    for (const id of invalid) {
      const isDisabled = await this.webhooks.disable(call, id, 'invalid_filter');
      if (isDisabled) this.reportDisabled(call, id, 'invalid_filter');
    }
    memo.set(QUEUED_UNTIL, events.at(-1)?.id);
  }

  @JobHandler(DELIVER)
  async deliver(call: Call, { webhookId }: { webhookId: string }): Promise<void> {
    const running = new Map<string, Promise<void>>();
    const end = performance.now() + RUN_MS;
    try {
      while (this.background.isAccepting && performance.now() < end) {
        if (await this.organizations.isSuspended(call)) break;
        await this.begin(call, webhookId, running);
        if (running.size === 0) break;
        await Promise.race([...running.values(), wait(POLL_MS, undefined, { ref: false })]);
      }
    } finally {
      await Promise.allSettled(running.values());
    }
    const seconds = await this.deliveries.secondsUntilDue(call, webhookId);
    // What is left to deliver is of other requests than the one that has sent this job.
    const rest = { ...call, traceparent: undefined };
    if (seconds !== undefined) await this.service.sendJob(rest, webhookId, seconds);
  }

  @Job({ name: 'webhooks.clean-up', every: '1d', perOrganization: true })
  async cleanUp(call: Call): Promise<void> {
    await this.deliveries.removeOld(call, this.settings.deliveriesRetention);
  }

  /** Starts attempts of due deliveries. */
  private async begin(
    call: TenantCall,
    webhookId: string,
    running: Map<string, Promise<void>>,
  ): Promise<void> {
    const free = MAX_PARALLEL - running.size;
    if (free === 0) return;
    const due = await this.deliveries.findDue(call, webhookId, [...running.keys()], free);
    for (const delivery of due) {
      const { id } = delivery;
      const attempt = this.attempt(call, webhookId, delivery).finally(() => running.delete(id));
      running.set(id, attempt);
    }
  }

  private async attempt(call: TenantCall, webhookId: string, delivery: DueDelivery): Promise<void> {
    const result = await this.sender.send(delivery);
    const outcome = outcomeOf(delivery, result);
    await this.deliveries.store(call, webhookId, delivery, result, outcome);
    this.attempts.inc({ outcome: outcome.status === 'pending' ? 'retried' : outcome.status });
    const isGone = result.response_status === GONE;
    if (!isGone && (outcome.status === 'succeeded' || delivery.type === TEST_TYPE)) return;
    const reason = await this.webhooks.storeFailure(call, webhookId, isGone);
    if (reason) this.reportDisabled(call, webhookId, reason);
  }

  private reportDisabled({ tenant }: TenantCall, webhook: string, reason: DisabledReason): void {
    logger.warn({ organization: tenant.id, webhook, reason }, 'a webhook was disabled');
    this.disabled.inc({ reason });
  }
}

/** The id of the last event that was queued. */
const QUEUED_UNTIL = 'queued until';

function isOfImport({ actor }: RecordedEvent): boolean {
  return actor.channel === 'import';
}

/** Its body is made for each webhook that receives it: most organizations have none. */
function newEventOf(event: RecordedEvent, traceparent: string | undefined): NewEvent {
  const { id: event_id, type, record } = event;
  return {
    event_id,
    type,
    record_id: record.id,
    created_at: new Date(event.created_at),
    traceparent,
    get body() {
      return JSON.stringify(event);
    },
  };
}

function outcomeOf({ type, attempts }: DueDelivery, result: AttemptResult): Outcome {
  if (result.error === null) return { status: 'succeeded' };
  const isLast = type === TEST_TYPE || attempts + 1 >= MAX_ATTEMPTS;
  if (isLast || result.response_status === GONE) return { status: 'failed' };
  return { status: 'pending', retryMs: retryDelayMs(DELAYS, attempts + 1) };
}
