import { RecordOf, UpdateOf } from '../../platform/fields/field.js';
import { DateTime, Flag, OneOf, Text, Uuid } from '../../platform/fields/kinds/kinds.js';
import { CreatedAt, OrganizationId, UpdatedAt } from '../../platform/fields/kinds/record-fields.js';
import type { UntypedFilter } from '../../platform/data/filters/filter.js';
import { FilterBy } from '../../platform/data/filters/filter-parameter.js';
import { CountQueryOf } from '../../platform/data/lists/count.dto.js';
import type { Groupings } from '../../platform/data/lists/grouping.js';
import { DeletedAt, ListDeleted } from '../../platform/data/lists/deleted-records.js';
import { Include, Includes } from '../../platform/data/lists/includes.js';
import { filterTargetOf, relate } from '../../platform/data/filters/filter-target.js';
import { INCLUDED_LEAD, LEADS } from '../leads/lead.dto.js';
import {
  After,
  Before,
  type FiltersOf,
  ItemFields,
  ListQuery,
  SortBy,
  TimeFilter,
  UpdatedAfter,
  UpdatedBefore,
} from '../../platform/data/lists/list-query.js';

/** Priorities in sort order, from the least to the most urgent. */
export const TASK_PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];

const TASK_STATUSES = ['open', 'in_progress', 'completed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

const TASK_SORTS = ['due_date', 'created_at', 'updated_at', 'priority'] as const;

const LEAD = '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43';
const USER = '01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18';

/** Fields of a new task (docs/contract/resources.md#tasks). */
export class CreateTaskDto {
  @Text({ max: 500, required: true, description: 'What is to be done.', example: 'Send the offer' })
  title: string;
  @Text({ max: 5000, description: 'Free text.', example: 'With the prices of this spring.' })
  description?: string | null;
  @OneOf(TASK_PRIORITIES, {
    default: 'medium',
    description: 'How pressing it is. Lists sort it by meaning, from low to urgent.',
    example: 'high',
  })
  priority?: TaskPriority;
  @OneOf(TASK_STATUSES, {
    default: 'open',
    description: 'Any status may follow any other.',
    example: 'open',
  })
  status?: TaskStatus;
  @DateTime({ description: 'When it is due.', example: '2026-03-06T17:00:00.000Z' })
  due_date?: Date | null;
  @Uuid({
    description: 'The lead that it is about. It must exist in the organization.',
    example: LEAD,
  })
  contact_id?: string | null;
  @Uuid({ description: 'The team member who does it: an id of your own users.', example: USER })
  assigned_to_user_id?: string | null;
}

/** Changes of a task. Fields that are left out keep their values. */
export class UpdateTaskDto extends UpdateOf(CreateTaskDto) {}

/** A task in responses and lists. */
export class TaskDto extends RecordOf(CreateTaskDto) {
  @OrganizationId() organization_id: string;
  @Uuid({
    description: 'The user whom the key that created it names, if it names one.',
    example: USER,
  })
  created_by_user_id: string | null;
  @Flag({
    required: true,
    description: 'Whether it was created through /mcp.',
    example: false,
  })
  created_by_ai: boolean;
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

/** A deleted task in a list (docs/contract/lists.md#deleted-records). */
export class DeletedTaskDto extends TaskDto {
  @DeletedAt() deleted_at: Date;
}

/** What filters of tasks can name (docs/contract/filters.md). */
export const TASKS = filterTargetOf('tasks', TaskDto, {
  searchable: ['title'],
  indexed: [
    ...['id', 'contact_id', 'assigned_to_user_id', 'status', 'priority', 'due_date'],
    ...['created_at', 'updated_at'],
  ],
});
relate({ from: TASKS, to: LEADS, column: 'contact_id', one: 'lead' });

/** A task in the results of tools. */
export class AgentTaskDto extends TaskDto {
  @Text({
    max: 201,
    description: 'Name of the lead, if the key may read leads.',
    example: 'Grace Hopper',
  })
  contact_name?: string | null;
}

/** Filters and sorting of lists of tasks (docs/contract/lists.md#task-filters), as far as tools have them. */
export class FindTasksQuery extends ListQuery {
  @OneOf(TASK_STATUSES, { description: 'Only tasks with this status.', example: 'open' })
  status?: TaskStatus;
  @Uuid({ description: 'Only tasks that are assigned to this team member.', example: USER })
  assigned_to?: string;
  @Uuid({ description: 'Only tasks about this lead.', example: LEAD })
  contact_id?: string;
  @TimeFilter('Only tasks that are due before this time.', '2026-04-01T00:00:00Z')
  due_before?: Date;
  @FilterBy(TASKS, { status: { in: ['open', 'in_progress'] }, lead: { temperature: 'hot' } })
  filter?: UntypedFilter;
  @SortBy(TASK_SORTS, 'created_at') sort_by: (typeof TASK_SORTS)[number];
}

/** What lists of tasks, and a task, can add. */
export const TASK_INCLUDES = new Includes(INCLUDED_LEAD);

/** The parameters of lists of tasks. */
export class TaskListQuery extends FindTasksQuery {
  @OneOf(TASK_PRIORITIES, { description: 'Only tasks with this priority.', example: 'high' })
  priority?: TaskPriority;
  @TimeFilter('Only tasks that are due at this time or later.', '2026-03-01T00:00:00Z')
  due_after?: Date;
  @TimeFilter('Only tasks created at this time or later.', '2026-01-01T00:00:00Z')
  created_after?: Date;
  @UpdatedAfter('tasks') updated_after?: Date;
  @UpdatedBefore('tasks') updated_before?: Date;
  @After() after?: string;

  @Before() before?: string;
  @ItemFields(TaskDto) fields?: readonly string[];
  @Include(TASK_INCLUDES) include?: readonly string[];
  @ListDeleted('tasks') deleted?: boolean;
}

/** The parameters of a request for a task. */
export class TaskQuery {
  @Include(TASK_INCLUDES) include?: readonly string[];
}

/** What a list of tasks selects, without its order and paging. */
export type TaskFilters = FiltersOf<TaskListQuery>;

/** By what tasks are counted. */
export const TASK_GROUPINGS = {
  status: { column: 'status' },
  priority: { column: 'priority' },
  assigned_to: { column: 'assigned_to_user_id' },
  due_day: { column: 'due_date', per: 'day' },
} as const satisfies Groupings;

/** The parameters of counts of tasks. */
export class TaskCountQuery extends CountQueryOf(TaskListQuery, TASK_GROUPINGS) {}
