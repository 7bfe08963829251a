import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { type Call, ApiRoute, ApiTag, CurrentCall, Id, RequireScope } from 'latitude';
import { CreateMessageDto, MessageDto, MessageListQuery } from './message.dto.js';
import { MessagesService } from './messages.service.js';

@Controller('api/v1/messages')
@ApiTag('Messages', 'Text messages to leads.')
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Get()
  @RequireScope('messages:read')
  @ApiRoute({ summary: 'List messages', response: [MessageDto] })
  list(@CurrentCall() call: Call, @Query() query: MessageListQuery) {
    return this.messages.list(call, query);
  }

  @Get(':id')
  @RequireScope('messages:read')
  @ApiRoute({ summary: 'Get a message', response: MessageDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.messages.get(call, id);
  }

  @Post()
  @RequireScope('messages:write')
  @ApiRoute({
    summary: 'Send a message',
    response: MessageDto,
    errors: ['lead_not_found', 'compliance_blocked', 'provider_unavailable'],
  })
  send(@CurrentCall() call: Call, @Body() message: CreateMessageDto) {
    return this.messages.send(call, message);
  }
}
