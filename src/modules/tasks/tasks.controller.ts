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
import { CreateTaskDto, TaskDto, TaskListQuery, UpdateTaskDto } from './task.dto.js';
import { TasksService } from './tasks.service.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';

/** Tasks over REST (docs/contract/endpoints.md#tasks). */
@Controller('api/v1/tasks')
@UseFilters(ErrorFilter)
@ApiTag('Tasks', 'What is to be done, for a lead or on its own.')
export class TasksController {
  constructor(
    private readonly tasks: TasksService,
    private readonly events: EventsService,
  ) {}

  @Get()
  @RequireScope('tasks:read')
  @ApiRoute({ summary: 'List tasks', response: [TaskDto] })
  list(@Caller() actor: Actor, @Query() query: TaskListQuery) {
    return this.tasks.list(actor, query);
  }

  @Get(':id')
  @RequireScope('tasks:read')
  @ApiRoute({ summary: 'Get a task', response: TaskDto })
  get(@LazyCaller() actor: Actor, @Id() id: string) {
    return this.tasks.get(actor, id);
  }

  @Post()
  @SingleInsert()
  @RequireScope('tasks:write')
  @ApiRoute({ summary: 'Create a task', response: TaskDto, errors: ['lead_not_found'] })
  create(@LazyCaller() actor: Actor, @Body() task: CreateTaskDto) {
    return this.tasks.create(actor, task);
  }

  @Put(':id')
  @RequireScope('tasks:write')
  @ApiRoute({ summary: 'Update a task', response: TaskDto, errors: ['lead_not_found'] })
  update(@LazyCaller() actor: Actor, @Id() id: string, @Body() changes: UpdateTaskDto) {
    return this.tasks.update(actor, id, changes);
  }

  @Delete(':id')
  @RequireScope('tasks:write')
  @ApiRoute({
    summary: 'Delete a task',
    response: DeletedDto,
    description: 'It is no longer found.',
  })
  delete(@Caller() actor: Actor, @Id() id: string) {
    return this.tasks.delete(actor, id);
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
  listEvents(@Caller() actor: Actor, @Id() id: string, @Query() query: EventListQuery) {
    return this.events.ofRecord(actor, { kind: 'task', id }, query, () =>
      this.tasks.get(actor, id),
    );
  }
}
