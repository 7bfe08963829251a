import { Injectable } from '@nestjs/common';
import type { Call, InTransaction } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { existingLeadsSql } from '../leads/lead-exists.js';
import { includedLead, NAME_SQL, withFieldsOfLead } from '../leads/lead-fields.js';
import { addFilter } from '../../platform/data/filters/filter-sql.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import { type DeletedQuery, DeletedRecords } from '../../platform/data/lists/deleted-records.js';
import { ListedRepository } from '../../platform/data/lists/listed-repository.js';
import type { CursorPage } from '../../platform/data/lists/page.js';
import {
  DeletedTaskDto,
  TASK_GROUPINGS,
  TASK_INCLUDES,
  type TaskFilters,
  type TaskStatus,
  TaskListQuery,
  TASKS,
} from './task.dto.js';
import { Task } from './task.entity.js';
import { LEAD_INCLUDES } from '../leads/lead.dto.js';

const OPEN_STATUSES = ['open', 'in_progress'] satisfies TaskStatus[];

TASK_INCLUDES.provide('lead', includedLead('tasks', 'contact_id'));

LEAD_INCLUDES.provide('open_task_count', {
  schema: {
    type: 'integer',
    minimum: 0,
    description: 'Number of its tasks that are open or in progress.',
  },
  sql: `select count(*)::int from tasks where organization_id = $1 and contact_id = leads.id
    and deleted_at is null and status in ('${OPEN_STATUSES.join("', '")}')`,
});

/** SQL of tasks. */
@Injectable()
export class TasksRepository extends ListedRepository<Task, TaskListQuery> {
  private readonly deleted: DeletedRecords<DeletedTaskDto>;

  constructor(database: TenantDatabase) {
    const list = {
      entity: Task,
      query: TaskListQuery,
      groupings: TASK_GROUPINGS,
      includes: TASK_INCLUDES,
      sorts: { priority: { column: 'priority_rank' } },
      computed: withFieldsOfLead({ contact_name: NAME_SQL }, 'tasks', 'contact_id'),
    };
    super(database, list, { contact_id: existingLeadsSql });
    this.deleted = new DeletedRecords(database, Task, DeletedTaskDto);
  }

  /** @throws ApiError `query_failed` */
  listDeleted(call: Call, query: DeletedQuery): Promise<CursorPage<DeletedTaskDto>> {
    return this.deleted.pageAfter(call, query);
  }

  protected conditionsOf(call: Call, query: TaskFilters) {
    const conditions = new Conditions(call, this.table.notDeleted)
      .equal('status', query.status)
      .equal('priority', query.priority)
      .equal('assigned_to_user_id', query.assigned_to, 'uuid')
      .equal('contact_id', query.contact_id, 'uuid')
      .add('due_date >= ?', query.due_after)
      .add('due_date < ?', query.due_before)
      .add('created_at >= ?', query.created_after)
      .updatedWithin(query);
    return addFilter(call, conditions, TASKS, query.filter);
  }

  /**
   * Replaces the texts of tasks about leads, deleted ones too. It writes no events.
   * @returns the ids of the tasks
   * @throws ApiError `create_failed`
   */
  async setTexts(call: InTransaction, leadIds: readonly string[], text: string): Promise<string[]> {
    const tasks = await call.transaction.query<{ id: string }>({
      text: `update tasks set title = $3, description = case when description is not null then $3 end
        where organization_id = $1 and id = any(array(
          select id from tasks where organization_id = $1 and contact_id = any($2::uuid[])
          order by id for update))
        returning id`,
      values: [call.tenant.id, leadIds, text],
    });
    return tasks.map(({ id }) => id);
  }

  /** @returns whether a lead exists; if so, it is locked against deletion until the transaction ends */
  async lockLead(call: InTransaction, leadId: string): Promise<boolean> {
    const rows = await call.transaction.query({
      text: existingLeadsSql('$1', 'select $2::uuid'),
      values: [call.tenant.id, leadId],
    });
    return rows.length > 0;
  }
}
