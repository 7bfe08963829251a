import { Injectable } from '@nestjs/common';
import {
  Completion,
  type CompletionMatches,
  MAX_COMPLETIONS,
} from '../mcp/prompts/completion.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { TasksService } from './tasks.service.js';

/** Completes the ids of tasks from a part of an id or of the title of a recent task. */
@Injectable()
export class TasksCompletions {
  constructor(private readonly tasks: TasksService) {}

  @Completion({ name: 'task', scope: 'tasks:read' })
  async find(call: Call, typed: string): Promise<CompletionMatches> {
    const byId = await this.tasks.findByIdPrefix(call, typed, MAX_COMPLETIONS + 1);
    const order = { sort_by: 'created_at', sort_dir: 'desc' } as const;
    const { data, meta } = await this.tasks.list(call, {
      page: 1,
      limit: MAX_COMPLETIONS,
      ...order,
    });
    const isMatch = (title: string) => title.toLowerCase().includes(typed.toLowerCase());
    const found = [...data.filter(({ title }) => isMatch(title)), ...byId];
    return {
      matches: found.map(({ id, title }) => ({ id, label: title })),
      hasMore: meta.total > data.length,
    };
  }
}
