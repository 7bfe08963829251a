import { Module } from '@nestjs/common';
import { LeadsModule } from 'latitude';
import { MessagesController } from './messages.controller.js';
import { MessagesJobs } from './messages.jobs.js';
import { MessagesMetrics } from './messages.metrics.js';
import { MessagesPrompts } from './messages.prompts.js';
import { MessagesRepository } from './messages.repository.js';
import { MessagesService } from './messages.service.js';
import { MessagesTools } from './messages.tools.js';
import { ReceiptsController } from './receipts.controller.js';
import { ReceiptsVerifier } from './receipts.verifier.js';
import { SmsProvider } from './sms-provider.js';

@Module({
  imports: [LeadsModule],
  controllers: [MessagesController, ReceiptsController],
  providers: [
    MessagesJobs,
    MessagesMetrics,
    MessagesPrompts,
    MessagesRepository,
    MessagesService,
    MessagesTools,
    ReceiptsVerifier,
    SmsProvider,
  ],
})
export class MessagesModule {}
