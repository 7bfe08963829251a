import { Module } from '@nestjs/common';
import { AccessModule } from '../../platform/access/access.module.js';
import { OutgoingModule } from '../../platform/outgoing/outgoing.module.js';
import { CustomFieldsModule } from '../custom-fields/custom-fields.module.js';
import { EventsModule } from '../events/events.module.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveriesService } from './deliveries.service.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksJobs } from './webhooks.jobs.js';
import { WebhooksRepository } from './webhooks.repository.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  imports: [AccessModule, CustomFieldsModule, EventsModule, OutgoingModule],
  controllers: [WebhooksController],
  providers: [
    WebhooksRepository,
    DeliveriesRepository,
    WebhookSender,
    WebhooksService,
    DeliveriesService,
    WebhooksJobs,
  ],
  exports: [WebhooksService, DeliveriesService],
})
export class WebhooksModule {}
