import { Injectable } from '@nestjs/common';
import { type Actor, Resource, Tool } from 'latitude';
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
  list(actor: Actor, query: MessageListQuery) {
    return this.messages.list(actor, query);
  }

  @Tool('send_message', {
    title: 'Send a message',
    description: 'Send a text message to a lead. It cannot be recalled: confirm the text first.',
    effect: 'creates',
    scope: 'messages:write',
    input: CreateMessageDto,
    output: MessageDto,
  })
  send(actor: Actor, message: CreateMessageDto) {
    return this.messages.send(actor, message);
  }

  @Resource({
    name: 'message',
    title: 'Message',
    description: 'One text message to a lead.',
    scope: 'messages:read',
  })
  get(actor: Actor, id: string) {
    return this.messages.get(actor, id);
  }
}
