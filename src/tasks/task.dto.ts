import { RecordOf, UpdateOf } from '../fields/field.js';
import { DateTime, Flag, OneOf, Text, Uuid } from '../fields/kinds.js';
import { ListQuery } from '../listing/list-query.js';

/** From the least to the most urgent: the order in which they sort. */
export const TASK_PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];

export const TASK_STATUSES = ['open', 'in_progress', 'completed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

const TASK_SORTS = ['due_date', 'created_at', 'priority'] as const;

/** What a task is created from (api.md 2.3, decisions 3). */
export class CreateTaskDto {
  @Text({ max: 500, required: true }) title: string;
  @Text({ max: 5000 }) description?: string | null;
  @OneOf(TASK_PRIORITIES, { default: 'medium' }) priority?: TaskPriority;
  @OneOf(TASK_STATUSES, { default: 'open' }) status?: TaskStatus;
  @DateTime() due_date?: Date | null;
  @Uuid() contact_id?: string | null;
  @Uuid() assigned_to_user_id?: string | null;
}

/** What a task may be changed by: only what is given changes. */
export class UpdateTaskDto extends UpdateOf(CreateTaskDto) {}

/** A task as it is answered, alone and in a list. */
export class TaskDto extends RecordOf(CreateTaskDto) {
  @Uuid() organization_id: string;
  @Uuid() created_by_user_id: string | null;
  @Flag() created_by_ai: boolean;
  @DateTime() created_at: Date;
  @DateTime() updated_at: Date;
}

/** What a list of tasks may be narrowed and sorted by (api.md 4.4). */
export class TaskListQuery extends ListQuery {
  @OneOf(TASK_STATUSES) status?: TaskStatus;
  @Uuid() assigned_to?: string;
  @Uuid() contact_id?: string;
  @DateTime({ rounding: 'up' }) due_before?: Date;
  @OneOf(TASK_SORTS, { default: 'created_at' }) sort_by: (typeof TASK_SORTS)[number];
}
