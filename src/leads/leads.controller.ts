import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { RequireScope } from '../auth/access.js';
import { Id } from '../http/id.decorator.js';
import { type Actor, Caller } from '../tenancy/actor.js';
import { CreateLeadDto, LeadListQuery, UpdateLeadDto } from './lead.dto.js';
import { LeadsService } from './leads.service.js';

/** Leads over REST (api.md 4.3). */
@Controller('api/v1/leads')
export class LeadsController {
  constructor(private readonly leads: LeadsService) {}

  @Get()
  @RequireScope('leads:read')
  list(@Caller() actor: Actor, @Query() query: LeadListQuery) {
    return this.leads.list(actor, query);
  }

  @Get(':id')
  @RequireScope('leads:read')
  get(@Caller() actor: Actor, @Id() id: string) {
    return this.leads.get(actor, id);
  }

  @Post()
  @RequireScope('leads:write')
  create(@Caller() actor: Actor, @Body() lead: CreateLeadDto) {
    return this.leads.create(actor, lead);
  }

  @Put(':id')
  @RequireScope('leads:write')
  update(@Caller() actor: Actor, @Id() id: string, @Body() changes: UpdateLeadDto) {
    return this.leads.update(actor, id, changes);
  }

  @Delete(':id')
  @RequireScope('leads:write')
  delete(@Caller() actor: Actor, @Id() id: string) {
    return this.leads.delete(actor, id);
  }
}
