import { Body, Controller, Get, Param, ParseUUIDPipe, Post, Put, Query, Req } from '@nestjs/common';
import type { AuthenticatedRequest } from './api-key.guard.js';
import { CreateLeadDto, ListLeadsDto, UpdateLeadDto } from './lead.dto.js';
import { LeadsService } from './leads.service.js';

@Controller('leads')
export class LeadsController {
  constructor(private readonly leads: LeadsService) {}

  @Get()
  async list(@Req() { organizationId }: AuthenticatedRequest, @Query() query: ListLeadsDto) {
    const { page, limit } = query;
    const [data, total] = await this.leads.list(organizationId, query);
    return { data, meta: { page, limit, total, total_pages: Math.ceil(total / limit) } };
  }

  @Get(':id')
  async get(
    @Req() { organizationId }: AuthenticatedRequest,
    @Param('id', ParseUUIDPipe) id: string,
  ) {
    return { data: await this.leads.get(organizationId, id) };
  }

  @Post()
  async create(@Req() { organizationId }: AuthenticatedRequest, @Body() lead: CreateLeadDto) {
    return { data: await this.leads.create(organizationId, lead) };
  }

  @Put(':id')
  async update(
    @Req() { organizationId }: AuthenticatedRequest,
    @Param('id', ParseUUIDPipe) id: string,
    @Body() changes: UpdateLeadDto,
  ) {
    return { data: await this.leads.update(organizationId, id, changes) };
  }
}
