import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { RequireScope } from '../auth/access.js';
import { About, Answers } from '../fields/answers.js';
import { DeletedDto } from '../fields/deleted.dto.js';
import { Id } from '../http/request/id.decorator.js';
import { Caller } from '../http/request/api-request.js';
import type { Actor } from '../tenancy/actor.js';
import {
  CreateLeadDto,
  LeadDto,
  LeadListItemDto,
  LeadListQuery,
  UpdateLeadDto,
} from './lead.dto.js';
import { LeadsService } from './leads.service.js';

/** Leads over REST (docs/contract/endpoints.md#leads). */
@Controller('api/v1/leads')
@About('Leads', 'Prospective customers.')
export class LeadsController {
  constructor(private readonly leads: LeadsService) {}

  @Get()
  @RequireScope('leads:read')
  @Answers('List leads', [LeadListItemDto])
  list(@Caller() actor: Actor, @Query() query: LeadListQuery) {
    return this.leads.list(actor, query);
  }

  @Get(':id')
  @RequireScope('leads:read')
  @Answers('Get a lead', LeadDto)
  get(@Caller() actor: Actor, @Id() id: string) {
    return this.leads.get(actor, id);
  }

  @Post()
  @RequireScope('leads:write')
  @Answers('Create a lead', LeadDto, { errors: ['duplicate'] })
  create(@Caller() actor: Actor, @Body() lead: CreateLeadDto) {
    return this.leads.create(actor, lead);
  }

  @Put(':id')
  @RequireScope('leads:write')
  @Answers('Update a lead', LeadDto, { errors: ['duplicate'] })
  update(@Caller() actor: Actor, @Id() id: string, @Body() changes: UpdateLeadDto) {
    return this.leads.update(actor, id, changes);
  }

  @Delete(':id')
  @RequireScope('leads:write')
  @Answers('Delete a lead', DeletedDto, {
    description: 'It is found no more, and its e-mail and phone are free. What links to it stays.',
  })
  delete(@Caller() actor: Actor, @Id() id: string) {
    return this.leads.delete(actor, id);
  }
}
