import { Body, Controller, Delete, Get, Post, Put, Query, UseFilters } from '@nestjs/common';
import { RequireScope } from '../../platform/http/access.js';
import { ApiRoute, ApiTag } from '../../platform/http/openapi/api-route.decorator.js';
import { DeletedDto } from '../../platform/fields/deleted.dto.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { Caller, LazyCaller } from '../../platform/http/request/api-request.js';
import { SingleInsert } from '../../platform/http/response/single-insert.decorator.js';
import { EventDto, EventListQuery } from '../events/event.dto.js';
import { EventsService } from '../events/events.service.js';
import type { Actor } from '../../platform/data/actor.js';
import {
  CreateLeadDto,
  LeadDto,
  LeadListItemDto,
  LeadListQuery,
  UpdateLeadDto,
} from './lead.dto.js';
import { LeadsService } from './leads.service.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';

/** Leads over REST (docs/contract/endpoints.md#leads). */
@Controller('api/v1/leads')
@UseFilters(ErrorFilter)
@ApiTag('Leads', 'Prospective customers.')
export class LeadsController {
  constructor(
    private readonly leads: LeadsService,
    private readonly events: EventsService,
  ) {}

  @Get()
  @RequireScope('leads:read')
  @ApiRoute({ summary: 'List leads', response: [LeadListItemDto] })
  list(@Caller() actor: Actor, @Query() query: LeadListQuery) {
    return this.leads.list(actor, query);
  }

  @Get(':id')
  @RequireScope('leads:read')
  @ApiRoute({ summary: 'Get a lead', response: LeadDto })
  get(@LazyCaller() actor: Actor, @Id() id: string) {
    return this.leads.get(actor, id);
  }

  @Post()
  @SingleInsert()
  @RequireScope('leads:write')
  @ApiRoute({ summary: 'Create a lead', response: LeadDto, errors: ['duplicate'] })
  create(@LazyCaller() actor: Actor, @Body() lead: CreateLeadDto) {
    return this.leads.create(actor, lead);
  }

  @Put(':id')
  @RequireScope('leads:write')
  @ApiRoute({ summary: 'Update a lead', response: LeadDto, errors: ['duplicate'] })
  update(@LazyCaller() actor: Actor, @Id() id: string, @Body() changes: UpdateLeadDto) {
    return this.leads.update(actor, id, changes);
  }

  @Delete(':id')
  @RequireScope('leads:write')
  @ApiRoute({
    summary: 'Delete a lead',
    response: DeletedDto,
    description:
      'It is no longer found, and its e-mail and phone can be used again. Records that refer to it stay.',
  })
  delete(@Caller() actor: Actor, @Id() id: string) {
    return this.leads.delete(actor, id);
  }

  @Get(':id/events')
  @RequireScope('events:read')
  @ApiRoute({
    summary: 'List the events of a lead',
    description: 'Who changed it and how, oldest first, also after its deletion.',
    response: [EventDto],
    paging: 'cursor',
    errors: ['cursor_expired'],
  })
  listEvents(@Caller() actor: Actor, @Id() id: string, @Query() query: EventListQuery) {
    return this.events.ofRecord(actor, { kind: 'lead', id }, query, () =>
      this.leads.get(actor, id),
    );
  }
}
