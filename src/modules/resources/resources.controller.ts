import { Body, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { DeletedDto } from '../../platform/fields/deleted.dto.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { EventListQuery } from '../events/event.dto.js';
import { EventsService } from '../events/events.service.js';
import { RecordEventsRoute } from '../events/record-events-route.decorator.js';
import { BatchRoute, batchResponse } from '../../platform/http/batch-route.js';
import type { Call } from '../../platform/data/call.js';
import { RecordBatchDto } from '../../platform/data/batches/batch.dto.js';
import { itemDtosOf } from '../../platform/data/batches/batch-item.js';
import { BatchRunner } from '../../platform/data/batches/batch-runner.js';
import { isByCursor } from '../../platform/data/lists/list-query.js';
import {
  CreateResourceDto,
  ResourceDto,
  ResourceListQuery,
  UpdateResourceDto,
} from './resource.dto.js';
import { ResourcesService } from './resources.service.js';

const BATCH_ITEMS = itemDtosOf(CreateResourceDto, UpdateResourceDto);

/** Resources over REST (docs/contract/endpoints.md#resources). */
@ApiController(
  'resources',
  'Resources',
  'The people, crews and rooms whose time appointments take.',
)
export class ResourcesController {
  constructor(
    private readonly resources: ResourcesService,
    private readonly batches: BatchRunner,
    private readonly events: EventsService,
  ) {}

  @Get()
  @RequireScope('appointments:read')
  @ApiRoute({ summary: 'List resources', response: [ResourceDto], record: ResourceDto })
  list(@CurrentCall() call: Call, @Query() query: ResourceListQuery) {
    if (isByCursor(query)) return this.resources.listAfter(call, query);
    return this.resources.list(call, query);
  }

  @Get(':id')
  @RequireScope('appointments:read')
  @ApiRoute({ summary: 'Get a resource', response: ResourceDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.resources.get(call, id).stored;
  }

  @Post()
  @RequireScope('resources:write')
  @ApiRoute({ summary: 'Create a resource', response: ResourceDto })
  create(@CurrentCall() call: Call, @Body() resource: CreateResourceDto) {
    return this.resources.create(call, resource).stored;
  }

  @BatchRoute('resources', 'resources:write')
  async batch(@CurrentCall() call: Call, @Body() batch: RecordBatchDto) {
    const outcome = await this.batches.run(call, batch, {
      items: BATCH_ITEMS,
      service: this.resources,
      remove: (inner, id) => this.resources.delete(inner, id),
      removedStatus: 'deleted',
    });
    return batchResponse(outcome);
  }

  @Put(':id')
  @RequireScope('resources:write')
  @ApiRoute({ summary: 'Update a resource', response: ResourceDto })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateResourceDto) {
    return this.resources.update(call, id, changes).stored;
  }

  @Delete(':id')
  @RequireScope('resources:write')
  @ApiRoute({
    summary: 'Delete a resource',
    response: DeletedDto,
    description: 'It is no longer found. Its appointments stay.',
  })
  delete(@CurrentCall() call: Call, @Id() id: string) {
    return this.resources.delete(call, id);
  }

  @RecordEventsRoute('a resource')
  listEvents(@CurrentCall() call: Call, @Id() id: string, @Query() query: EventListQuery) {
    return this.events.ofRecord(call, { kind: 'resource', id }, query, () =>
      this.resources.get(call, id),
    );
  }
}
