import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { Row } from '../../platform/data/records/record-changes.js';
import type { Stored } from '../../platform/data/records/stored-record.js';
import { TenantRepository } from '../../platform/data/records/tenant-repository.js';
import { existingLeadsSql } from '../leads/lead-exists.js';
import { withLeadName } from '../leads/lead-name.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import type { CursorPage, Page } from '../../platform/data/lists/page.js';
import { RecordList } from '../../platform/data/lists/record-list.js';
import { type TaskDto, TaskListQuery } from './task.dto.js';
import { Task } from './task.entity.js';

const WITH_LEAD_NAME = withLeadName('contact_name', 'tasks', 'contact_id');

/** SQL of tasks. */
@Injectable()
export class TasksRepository extends TenantRepository<Task> {
  private readonly items = new RecordList<TaskDto>(this.database, {
    entity: Task,
    query: TaskListQuery,
    sorts: { priority: { column: 'priority_rank' } },
    computed: WITH_LEAD_NAME,
  });

  constructor(database: TenantDatabase) {
    super(database, Task, WITH_LEAD_NAME);
  }

  /** @throws ApiError `query_failed` */
  list(call: TenantCall, query: TaskListQuery): Promise<Page<TaskDto>> {
    return this.items.page(this.conditionsOf(call, query), query);
  }

  /** Like `list`, by cursor. */
  listAfter(call: TenantCall, query: TaskListQuery): Promise<CursorPage<TaskDto>> {
    return this.items.pageAfter(this.conditionsOf(call, query), query);
  }

  private conditionsOf(call: TenantCall, query: TaskListQuery) {
    return new Conditions(call, this.table.notDeleted)
      .equal('status', query.status)
      .equal('priority', query.priority)
      .equal('assigned_to_user_id', query.assigned_to, 'uuid')
      .equal('contact_id', query.contact_id, 'uuid')
      .add('due_date >= ?', query.due_after)
      .add('due_date < ?', query.due_before)
      .add('created_at >= ?', query.created_after)
      .updatedWithin(query);
  }

  /**
   * @returns undefined if the contact does not exist or is deleted
   * @throws ApiError `create_failed`
   */
  insert(call: TenantCall, row: Row & { id: string }): Promise<Stored<TaskDto> | undefined> {
    return this.insertStored(call, row, { contact_id: existingLeadsSql });
  }

  /**
   * @returns undefined for each task whose contact does not exist or is deleted
   * @throws ApiError `create_failed`
   */
  insertTogether(call: TenantCall, rows: readonly (Row & { id: string })[]) {
    return this.insertEach(call, rows, { contact_id: existingLeadsSql });
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
