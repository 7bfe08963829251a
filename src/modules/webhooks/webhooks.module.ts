import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { MetricsRegistry } from '../../platform/metrics-registry.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import { HostResolver } from './host-resolver.js';
import { WebhookDispatcher } from './webhook-dispatcher.service.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksJobs } from './webhooks.jobs.js';
import { WebhooksRepository } from './webhooks.repository.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  imports: [EventsModule],
  controllers: [WebhooksController],
  providers: [
    WebhooksRepository,
    DeliveriesRepository,
    DeliveryQueueRepository,
    HostResolver,
    WebhookSender,
    WebhookDispatcher,
    WebhooksService,
    DeliveriesService,
    WebhooksJobs,
    {
      provide: WebhookMetrics,
      useFactory: (registry: MetricsRegistry) => new WebhookMetrics(registry),
      inject: [MetricsRegistry],
    },
  ],
  exports: [WebhooksService, DeliveriesService],
})
export class WebhooksModule {}
