import { Injectable } from '@nestjs/common';
import { type Call, Resource, Tool } from 'latitude';
import { CreateMessageDto, MessageDto, MessageListQuery } from './message.dto.js';
import { MessagesService } from './messages.service.js';

@Injectable()
export class MessagesTools {
  constructor(private readonly messages: MessagesService) {}

  @Tool('list_messages', {
    title: 'List messages',
    description: 'Find text messages by status or lead. Answers a page with the exact total.',
    effect: 'reads',
    scope: 'messages:read',
    input: MessageListQuery,
    output: [MessageDto],
  })
  list(call: Call, query: MessageListQuery) {
    return this.messages.list(call, query);
  }

  @Tool('send_message', {
    title: 'Send a message',
    description: 'Send a text message to a lead. It cannot be recalled: confirm the text first.',
    effect: 'creates',
    scope: 'messages:write',
    input: CreateMessageDto,
    output: MessageDto,
  })
  send(call: Call, message: CreateMessageDto) {
    return this.messages.send(call, message);
  }

  @Resource({
    name: 'message',
    title: 'Message',
    description: 'One text message to a lead.',
    scope: 'messages:read',
  })
  get(call: Call, id: string) {
    return this.messages.get(call, id);
  }
}
