import { Body, Delete, Get, HttpCode, Post, Put, Query } from '@nestjs/common';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { DeletedDto } from '../../platform/fields/deleted.dto.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import {
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
import {
  CreateTaskDto,
  DeletedTaskDto,
  TASK_INCLUDES,
  TaskCountQuery,
  TaskDto,
  TaskListQuery,
  TaskQuery,
  UpdateTaskDto,
} from './task.dto.js';
import { TasksService } from './tasks.service.js';
import { RecordBatchDto } from '../../platform/data/batches/batch.dto.js';
import { itemDtosOf } from '../../platform/data/batches/batch-item.js';
import { BatchRunner } from '../../platform/data/batches/batch-runner.js';
import { isByCursor } from '../../platform/data/lists/list-query.js';

const BATCH_ITEMS = itemDtosOf(CreateTaskDto, UpdateTaskDto);

/** Tasks over REST (docs/contract/endpoints.md#tasks). */
@ApiController('tasks', 'Tasks', 'What is to be done, for a lead or on its own.')
export class TasksController {
  constructor(
    private readonly tasks: TasksService,
    private readonly batches: BatchRunner,
    private readonly events: EventsService,
  ) {}

  @Get()
  @RequireScope('tasks:read')
  @ApiRoute({
    summary: 'List tasks',
    response: [TaskDto],
    record: TaskDto,
    includes: TASK_INCLUDES,
    deleted: DeletedTaskDto,
    errors: ['filter_too_broad'],
  })
  list(@CurrentCall() call: Call, @Query() query: TaskListQuery) {
    if (query.deleted) return this.tasks.listDeleted(call, query);
    if (isByCursor(query)) return this.tasks.listAfter(call, query);
    return this.tasks.list(call, query);
  }

  @CountRoute('tasks', 'tasks:read')
  async count(@CurrentCall() call: Call, @Query() query: TaskCountQuery) {
    return countsResponse(await this.tasks.count(call, query));
  }

  @Get(':id')
  @RequireScope('tasks:read')
  @ApiRoute({ summary: 'Get a task', response: TaskDto, includes: TASK_INCLUDES })
  get(@CurrentCall() call: Call, @Id() id: string, @Query() { include }: TaskQuery) {
    return this.tasks.get(call, id, include).stored;
  }

  @Post()
  @SingleInsert()
  @RequireScope('tasks:write')
  @ApiRoute({ summary: 'Create a task', response: TaskDto, errors: ['lead_not_found'] })
  create(@CurrentCall() call: Call, @Body() task: CreateTaskDto) {
    return this.tasks.create(call, task).stored;
  }

  @BatchRoute('tasks', 'tasks:write', ['lead_not_found'])
  async batch(@CurrentCall() call: Call, @Body() batch: RecordBatchDto) {
    const outcome = await this.batches.run(call, batch, {
      items: BATCH_ITEMS,
      service: this.tasks,
      remove: (inner, id) => this.tasks.delete(inner, id),
      removedStatus: 'deleted',
    });
    return batchResponse(outcome);
  }

  @Put(':id')
  @RequireScope('tasks:write')
  @ApiRoute({ summary: 'Update a task', response: TaskDto, errors: ['lead_not_found'] })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateTaskDto) {
    return this.tasks.update(call, id, changes).stored;
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

  @Post(':id/restore')
  @HttpCode(200)
  @NoBody()
  @Conditional()
  @RequireScope('tasks:write')
  @ApiRoute({ summary: 'Restore a deleted task', response: TaskDto })
  restore(@CurrentCall() call: Call, @Id() id: string) {
    return this.tasks.restore(call, id).stored;
  }

  @RecordEventsRoute('a task')
  listEvents(@CurrentCall() call: Call, @Id() id: string, @Query() query: EventListQuery) {
    return this.events.ofRecord(call, { kind: 'task', id }, query, () => this.tasks.get(call, id));
  }
}
