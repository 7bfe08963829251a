import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { RequireScope } from '../auth/access.js';
import { Id } from '../http/id.decorator.js';
import { type Actor, Caller } from '../tenancy/actor.js';
import { TaskListQuery, CreateTaskDto, UpdateTaskDto } from './task.dto.js';
import { TasksService } from './tasks.service.js';

/** Tasks over REST (api.md 4.4). */
@Controller('api/v1/tasks')
export class TasksController {
  constructor(private readonly tasks: TasksService) {}

  @Get()
  @RequireScope('tasks:read')
  list(@Caller() actor: Actor, @Query() query: TaskListQuery) {
    return this.tasks.list(actor, query);
  }

  @Get(':id')
  @RequireScope('tasks:read')
  get(@Caller() actor: Actor, @Id() id: string) {
    return this.tasks.get(actor, id);
  }

  @Post()
  @RequireScope('tasks:write')
  create(@Caller() actor: Actor, @Body() task: CreateTaskDto) {
    return this.tasks.create(actor, task);
  }

  @Put(':id')
  @RequireScope('tasks:write')
  update(@Caller() actor: Actor, @Id() id: string, @Body() changes: UpdateTaskDto) {
    return this.tasks.update(actor, id, changes);
  }

  @Delete(':id')
  @RequireScope('tasks:write')
  delete(@Caller() actor: Actor, @Id() id: string) {
    return this.tasks.delete(actor, id);
  }
}
