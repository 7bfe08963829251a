import { Injectable } from '@nestjs/common';
import { DeletedDto } from '../../platform/fields/deleted.dto.js';
import {
  Completion,
  type CompletionMatches,
  MAX_COMPLETIONS,
} from '../mcp/prompts/completion.decorator.js';
import { Resource } from '../mcp/resources/resource.decorator.js';
import { Tool } from '../mcp/tools/tool.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { writesOf } from '../../platform/data/batches/batch.dto.js';
import { BatchRunner } from '../../platform/data/batches/batch-runner.js';
import { ResultsDto, updateSeveral, updatesOf } from '../mcp/tools/several-records.js';
import { AgentTaskDto, CreateTaskDto, FindTasksQuery, UpdateTaskDto } from './task.dto.js';
import { UpdateTaskItemDto, UpdateTasksDto } from './task-tools.dto.js';
import { TasksService } from './tasks.service.js';

const UPDATES = updatesOf(UpdateTaskItemDto);

const TASK = 'Id of the task, from list_tasks.';

/** Tasks for agents (docs/contract/mcp.md#tools). */
@Injectable()
export class TasksTools {
  constructor(
    private readonly tasks: TasksService,
    private readonly batches: BatchRunner,
  ) {}

  @Tool('list_tasks', {
    title: 'List tasks',
    description:
      'Find tasks by status, assignee, lead or due date. Answers summaries with the exact total; get_task has every field.',
    effect: 'reads',
    scope: 'tasks:read',
    input: FindTasksQuery,
    summary: ['id', 'title', 'priority', 'status', 'due_date', 'contact_id', 'contact_name'],
    brief: { result: ['id'] },
    output: [AgentTaskDto],
  })
  list(call: Call, query: FindTasksQuery, fields?: readonly string[]) {
    return this.tasks.list(call, { ...query, fields });
  }

  @Tool('get_task', {
    title: 'Get a task',
    description: 'Get one task; update_task changes it.',
    effect: 'reads',
    scope: 'tasks:read',
    id: TASK,
    brief: { result: ['id'] },
    output: AgentTaskDto,
  })
  @Resource({
    name: 'task',
    title: 'Task',
    description: 'One task.',
    scope: 'tasks:read',
  })
  get(call: Call, id: string) {
    return this.tasks.get(call, id);
  }

  @Tool('create_task', {
    title: 'Create a task',
    description: 'Note something to do, about a lead or on its own.',
    effect: 'creates',
    scope: 'tasks:write',
    input: CreateTaskDto,
    brief: { result: ['id'] },
    output: AgentTaskDto,
  })
  create(call: Call, task: CreateTaskDto) {
    return this.tasks.create(call, task);
  }

  @Tool('update_task', {
    title: 'Update a task',
    description:
      'Change one task; the fields of parameters that are not given stay. To finish it, set status to completed.',
    effect: 'updates',
    scope: 'tasks:write',
    id: TASK,
    input: UpdateTaskDto,
    brief: { result: ['id'] },
    output: AgentTaskDto,
  })
  update(call: Call, id: string, changes: UpdateTaskDto) {
    return this.tasks.update(call, id, changes);
  }

  @Tool('update_tasks', {
    title: 'Update several tasks',
    description: 'Update up to 25 tasks. Answers the status or the error of each.',
    effect: 'updates',
    scope: 'tasks:write',
    takesDryRun: true,
    writesOf: ({ tasks }: UpdateTasksDto) => writesOf(tasks),
    input: UpdateTasksDto,
    brief: { arguments: ['tasks'], result: ['results', 'failed'] },
    output: ResultsDto,
  })
  updateMany(call: Call, { tasks }: UpdateTasksDto) {
    return updateSeveral(this.batches, call, tasks, {
      ...UPDATES,
      service: this.tasks,
      remove: (inner, id) => this.tasks.delete(inner, id),
      removedStatus: 'deleted',
    });
  }

  @Tool('delete_task', {
    title: 'Delete a task',
    description:
      'Delete one task. It cannot be undone here: confirm with the user first. To finish a task, use update_task.',
    effect: 'deletes',
    scope: 'tasks:write',
    id: TASK,
    resource: 'task',
    brief: { result: ['id'] },
    output: DeletedDto,
  })
  delete(call: Call, id: string) {
    return this.tasks.delete(call, id);
  }

  /** Completes the ids of tasks from a part of an id or of the title of a recent task. */
  @Completion({ name: 'task', scope: 'tasks:read' })
  async complete(call: Call, typed: string): Promise<CompletionMatches> {
    const byId = await this.tasks.findByIdPrefix(call, typed, MAX_COMPLETIONS + 1);
    const order = { sort_by: 'created_at', sort_dir: 'desc' } as const;
    const query = { page: 1, limit: MAX_COMPLETIONS, ...order };
    const { data, meta } = await this.tasks.list(call, query);
    const isMatch = (title: string) => title.toLowerCase().includes(typed.toLowerCase());
    const found = [...data.filter(({ title }) => isMatch(title)), ...byId];
    return {
      matches: found.map(({ id, title }) => ({ id, label: title })),
      hasMore: meta.total > data.length,
    };
  }
}
