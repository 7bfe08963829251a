import { Counter, type Registry } from 'prom-client';
import { DISABLED_REASONS, type DisabledReason } from './webhook.dto.js';

const OUTCOMES = ['succeeded', 'retried', 'failed'] as const;
export type AttemptOutcome = (typeof OUTCOMES)[number];

/** Counts attempts and disabled webhooks of this instance. */
export class WebhookMetrics {
  private readonly attempts: Counter;
  private readonly disabled: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.attempts = new Counter({
      name: 'latitude_webhook_attempts_total',
      help: 'Attempts to deliver events to webhooks by outcome: succeeded, retried, failed.',
      labelNames: ['outcome'],
      registers,
    });
    this.disabled = new Counter({
      name: 'latitude_webhooks_disabled_total',
      help: 'Webhooks that were disabled by reason: gone, failing.',
      labelNames: ['reason'],
      registers,
    });
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0);
    for (const reason of DISABLED_REASONS) this.disabled.inc({ reason }, 0);
  }

  countAttempt(outcome: AttemptOutcome): void {
    this.attempts.inc({ outcome });
  }

  countDisabled(reason: DisabledReason): void {
    this.disabled.inc({ reason });
  }
}
