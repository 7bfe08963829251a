import { Module } from '@nestjs/common';
import { LeadsModule } from 'latitude';
import { MessagesController } from './messages.controller.js';
import { MessagesPrompts } from './messages.prompts.js';
import { MessagesRepository } from './messages.repository.js';
import { MessagesService } from './messages.service.js';
import { MessagesTools } from './messages.tools.js';
import { SmsProvider } from './sms-provider.js';

@Module({
  imports: [LeadsModule],
  controllers: [MessagesController],
  providers: [MessagesRepository, MessagesService, MessagesTools, MessagesPrompts, SmsProvider],
})
export class MessagesModule {}
