import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Post,
  Put,
  Query,
  UseFilters,
} from '@nestjs/common';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiRoute, ApiTag } from '../../platform/http/routes/api-route.decorator.js';
import { DeletedDto } from '../../platform/fields/deleted.dto.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { CheckBody, SingleInsert } from '../../platform/http/routes/handler-declarations.js';
import { EventDto, EventListQuery } from '../events/event.dto.js';
import { EventsService } from '../events/events.service.js';
import type { Call } from '../../platform/data/call.js';
import { CreateTaskDto, TaskDto, TaskListQuery, UpdateTaskDto } from './task.dto.js';
import { TasksService } from './tasks.service.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';

import {
  BatchMetaDto,
  BatchResultDto,
  RecordBatchDto,
} from '../../platform/data/batches/batch.dto.js';
import { batchResponse } from '../../platform/http/response/batch-response.js';
import { BatchLimit } from '../../platform/http/guards/batch-limit.js';
import { TaskBatchService } from './task-batch.service.js';

/** Tasks over REST (docs/contract/endpoints.md#tasks). */
@Controller('api/v1/tasks')
@UseFilters(ErrorFilter)
@ApiTag('Tasks', 'What is to be done, for a lead or on its own.')
export class TasksController {
  constructor(
    private readonly tasks: TasksService,
    private readonly batches: TaskBatchService,
    private readonly events: EventsService,
  ) {}

  @Get()
  @RequireScope('tasks:read')
  @ApiRoute({ summary: 'List tasks', response: [TaskDto], record: TaskDto })
  list(@CurrentCall() call: Call, @Query() query: TaskListQuery) {
    if (query.after !== undefined) return this.tasks.listAfter(call, query);
    return this.tasks.list(call, query);
  }

  @Get(':id')
  @RequireScope('tasks:read')
  @ApiRoute({ summary: 'Get a task', response: TaskDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.tasks.getStored(call, id);
  }

  @Post()
  @SingleInsert()
  @RequireScope('tasks:write')
  @ApiRoute({ summary: 'Create a task', response: TaskDto, errors: ['lead_not_found'] })
  create(@CurrentCall() call: Call, @Body() task: CreateTaskDto) {
    return this.tasks.createStored(call, task);
  }

  @Post('batch')
  @HttpCode(200)
  @RequireScope('tasks:write')
  @CheckBody(BatchLimit)
  @ApiRoute({
    summary: 'Change several tasks',
    description: 'Every ten items begun count as one write. 207 means that an item failed.',
    response: [BatchResultDto],
    meta: BatchMetaDto,
    statuses: [207],
    errors: ['not_found', 'lead_not_found', 'duplicate', 'precondition_failed'],
  })
  async batch(@CurrentCall() call: Call, @Body() batch: RecordBatchDto) {
    return batchResponse(await this.batches.run(call, batch));
  }

  @Put(':id')
  @RequireScope('tasks:write')
  @ApiRoute({ summary: 'Update a task', response: TaskDto, errors: ['lead_not_found'] })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateTaskDto) {
    return this.tasks.updateStored(call, id, changes);
  }

  @Delete(':id')
  @RequireScope('tasks:write')
  @ApiRoute({
    summary: 'Delete a task',
    response: DeletedDto,
    description: 'It is no longer found.',
  })
  delete(@CurrentCall() call: Call, @Id() id: string) {
    return this.tasks.delete(call, id);
  }

  @Get(':id/events')
  @RequireScope('events:read')
  @ApiRoute({
    summary: 'List the events of a task',
    description: 'Who changed it and how, oldest first, also after its deletion.',
    response: [EventDto],
    paging: 'cursor',
    errors: ['cursor_expired'],
  })
  listEvents(@CurrentCall() call: Call, @Id() id: string, @Query() query: EventListQuery) {
    return this.events.ofRecord(call, { kind: 'task', id }, query, () => this.tasks.get(call, id));
  }
}
