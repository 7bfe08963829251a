import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { type Actor, ApiRoute, ApiTag, Caller, Id, RequireScope } from 'latitude';
import { CreateMessageDto, MessageDto, MessageListQuery } from './message.dto.js';
import { MessagesService } from './messages.service.js';

@Controller('api/v1/messages')
@ApiTag('Messages', 'Text messages to leads.')
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Get()
  @RequireScope('messages:read')
  @ApiRoute({ summary: 'List messages', response: [MessageDto] })
  list(@Caller() actor: Actor, @Query() query: MessageListQuery) {
    return this.messages.list(actor, query);
  }

  @Get(':id')
  @RequireScope('messages:read')
  @ApiRoute({ summary: 'Get a message', response: MessageDto })
  get(@Caller() actor: Actor, @Id() id: string) {
    return this.messages.get(actor, id);
  }

  @Post()
  @RequireScope('messages:write')
  @ApiRoute({
    summary: 'Send a message',
    response: MessageDto,
    errors: ['lead_not_found', 'compliance_blocked', 'provider_unavailable'],
  })
  send(@Caller() actor: Actor, @Body() message: CreateMessageDto) {
    return this.messages.send(actor, message);
  }
}
