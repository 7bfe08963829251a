import { Injectable } from '@nestjs/common';
import { MetricsRegistry } from 'latitude';
import { Counter } from 'prom-client';

@Injectable()
export class MessagesMetrics {
  readonly calls: Counter<'result'>;

  constructor(registry: MetricsRegistry) {
    this.calls = new Counter({
      name: 'acme_sms_provider_calls_total',
      help: 'Calls of the SMS provider by result: accepted or failed.',
      labelNames: ['result'],
      registers: [registry],
    });
  }
}
