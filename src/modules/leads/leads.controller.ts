import { Body, Delete, Get, HttpCode, Post, Put, Query, StreamableFile } from '@nestjs/common';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { DeletedDto } from '../../platform/fields/deleted.dto.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import {
  Audited,
  Conditional,
  NoBody,
  SingleInsert,
} from '../../platform/http/routes/handler-declarations.js';
import { EventListQuery } from '../events/event.dto.js';
import { EventsService } from '../events/events.service.js';
import { RecordEventsRoute } from '../events/record-events-route.decorator.js';
import { BatchRoute, batchResponse } from '../../platform/http/batch-route.js';
import { CountRoute, countsResponse } from '../../platform/http/count-route.js';
import type { Call } from '../../platform/data/call.js';
import { isByCursor } from '../../platform/data/lists/list-query.js';
import {
  CreateLeadDto,
  DeletedLeadDto,
  LeadDto,
  LeadListItemDto,
  LEAD_INCLUDES,
  LeadCountQuery,
  LeadListQuery,
  UpdateLeadDto,
} from './lead.dto.js';
import { DeletedLeadsService } from './deleted-leads.service.js';
import { LeadsService } from './leads.service.js';
import { UpsertLeadDto, UpsertMetaDto } from './lead-upsert.dto.js';
import { LeadUpsertService } from './lead-upsert.service.js';
import { WithMeta } from '../../platform/http/routes/with-meta.js';
import { LeadBatchDto } from './lead-batch.dto.js';
import { LeadBatchService } from './lead-batch.service.js';
import { LeadDuplicatesQuery, LeadGroupDto } from './duplicates/duplicates.dto.js';
import { DuplicatesService } from './duplicates/duplicates.service.js';
import { LeadMergePreviewDto, MergeLeadBodyDto } from './lead-merge.dto.js';
import { LeadMergeService } from './lead-merge.service.js';
import { EXPORT_TYPES, LeadExportQuery } from './transfer/lead-export.dto.js';
import { LeadExportsService } from './transfer/lead-exports.service.js';
import { ClientGone } from '../../platform/http/request/client-gone.decorator.js';

/** Leads over REST (docs/contract/endpoints.md#leads). */
@ApiController('leads', 'Leads', 'Prospective customers.')
export class LeadsController {
  constructor(
    private readonly leads: LeadsService,
    private readonly upserts: LeadUpsertService,
    private readonly batches: LeadBatchService,
    private readonly merges: LeadMergeService,
    private readonly deleted: DeletedLeadsService,
    private readonly duplicates: DuplicatesService,
    private readonly exports: LeadExportsService,
    private readonly events: EventsService,
  ) {}

  @Get()
  @RequireScope('leads:read')
  @ApiRoute({
    summary: 'List leads',
    response: [LeadListItemDto],
    record: LeadDto,
    includes: LEAD_INCLUDES,
    deleted: DeletedLeadDto,
    errors: ['filter_too_broad'],
  })
  list(@CurrentCall() call: Call, @Query() query: LeadListQuery) {
    if (query.deleted) return this.deleted.list(call, query);
    if (isByCursor(query)) return this.leads.listAfter(call, query);
    return this.leads.list(call, query);
  }

  @Get('export')
  @Audited()
  @RequireScope('leads:read')
  @ApiRoute({
    summary: 'Export leads',
    description: 'All leads that match, with every field, from one snapshot.',
    files: Object.values(EXPORT_TYPES),
  })
  async export(
    @CurrentCall() call: Call,
    @Query() query: LeadExportQuery,
    @ClientGone() gone: AbortSignal,
  ): Promise<StreamableFile> {
    const { format } = query;
    const disposition = `attachment; filename="leads.${format}"`;
    const leads = await this.exports.export(call, query, gone);
    return new StreamableFile(leads, { type: EXPORT_TYPES[format], disposition });
  }

  @Get('duplicates')
  @RequireScope('leads:read')
  @ApiRoute({
    summary: 'List likely duplicates',
    description: 'Groups of leads that are likely the same person, so that they can be merged.',
    response: [LeadGroupDto],
    paging: 'cursor',
    errors: ['create_failed'],
  })
  listDuplicates(@CurrentCall() call: Call, @Query() query: LeadDuplicatesQuery) {
    return this.duplicates.list(call, query);
  }

  @CountRoute('leads', 'leads:read')
  async count(@CurrentCall() call: Call, @Query() query: LeadCountQuery) {
    return countsResponse(await this.leads.count(call, query));
  }

  @Get(':id')
  @RequireScope('leads:read')
  @ApiRoute({ summary: 'Get a lead', response: LeadDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.leads.get(call, id).stored;
  }

  @Post()
  @SingleInsert()
  @RequireScope('leads:write')
  @ApiRoute({ summary: 'Create a lead', response: LeadDto, errors: ['duplicate'] })
  create(@CurrentCall() call: Call, @Body() lead: CreateLeadDto) {
    return this.leads.create(call, lead).stored;
  }

  @Post('upsert')
  @RequireScope('leads:write', 'leads:read')
  @ApiRoute({
    summary: 'Create or update a lead',
    description: 'Updates the lead that has one of the values, otherwise creates it.',
    response: LeadDto,
    meta: UpsertMetaDto,
    statuses: [200],
    errors: ['not_found', 'duplicate'],
  })
  async upsert(@CurrentCall() call: Call, @Body() input: UpsertLeadDto) {
    const { lead, action } = await this.upserts.upsert(call, input);
    return new WithMeta(lead, { action }, action === 'created' ? 201 : 200);
  }

  @BatchRoute('leads', 'leads:write')
  async batch(@CurrentCall() call: Call, @Body() batch: LeadBatchDto) {
    return batchResponse(await this.batches.run(call, batch));
  }

  @Post(':id/merge')
  @HttpCode(200)
  @Conditional()
  @RequireScope('leads:write', 'leads:read')
  @ApiRoute({
    summary: 'Merge a lead into another',
    description:
      'The lead of the path takes in the values, appointments and tasks of the other one, which is deleted.',
    response: LeadDto,
    dryRun: LeadMergePreviewDto,
    errors: ['lead_not_found', 'duplicate'],
  })
  async merge(@CurrentCall() call: Call, @Id() id: string, @Body() input: MergeLeadBodyDto) {
    if (input.dry_run) return this.merges.preview(call, id, input);
    return (await this.merges.merge(call, id, input)).lead;
  }

  @Put(':id')
  @RequireScope('leads:write')
  @ApiRoute({ summary: 'Update a lead', response: LeadDto, errors: ['duplicate'] })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateLeadDto) {
    return this.leads.update(call, id, changes).stored;
  }

  @Delete(':id')
  @RequireScope('leads:write')
  @ApiRoute({
    summary: 'Delete a lead',
    response: DeletedDto,
    description:
      'It is no longer found, and its e-mail and phone can be used again. Records that refer to it stay.',
  })
  delete(@CurrentCall() call: Call, @Id() id: string) {
    return this.leads.delete(call, id);
  }

  @Post(':id/restore')
  @HttpCode(200)
  @NoBody()
  @Conditional()
  @RequireScope('leads:write')
  @ApiRoute({
    summary: 'Restore a deleted lead',
    response: LeadDto,
    errors: ['merged', 'definition_conflicts', 'duplicate'],
  })
  restore(@CurrentCall() call: Call, @Id() id: string) {
    return this.deleted.restore(call, id).stored;
  }

  @RecordEventsRoute('a lead')
  listEvents(@CurrentCall() call: Call, @Id() id: string, @Query() query: EventListQuery) {
    return this.events.ofRecord(call, { kind: 'lead', id }, query, () => this.leads.get(call, id));
  }
}
