import { Injectable } from '@nestjs/common';
import { TenantDatabase, type TenantTransaction } from '../database/tenant-database.js';
import { type Row, TenantRepository } from '../database/tenant-repository.js';
import { liveLead } from '../leads/live-lead.js';
import { Conditions, readPage } from '../listing/list-statement.js';
import type { Page } from '../listing/page.js';
import { TaskDto, type TaskListQuery } from './task.dto.js';

const SORTS = {
  created_at: { column: 'created_at', nullable: false },
  due_date: { column: 'due_date', nullable: true },
  priority: { column: 'priority_rank', nullable: false },
} as const;

/** All SQL of tasks. */
@Injectable()
export class TasksRepository extends TenantRepository<TaskDto> {
  constructor(database: TenantDatabase) {
    super(database, { name: 'tasks', record: TaskDto, live: 'deleted_at is null' });
  }

  /** @throws ApiError `query_failed` */
  list(organizationId: string, query: TaskListQuery): Promise<Page<TaskDto>> {
    const conditions = new Conditions(organizationId, this.table.live)
      .add('status = ?', query.status)
      .add('assigned_to_user_id = ?', query.assigned_to)
      .add('contact_id = ?', query.contact_id)
      .add('due_date < ?', query.due_before);
    const source = { table: this.table.name, item: TaskDto, sort: SORTS[query.sort_by] };
    return readPage<TaskDto>(this.database, source, conditions, query);
  }

  /**
   * @returns undefined where the task names a contact that is no live lead
   * @throws ApiError `create_failed`
   */
  insert(
    organizationId: string,
    { contact_id, ...row }: Row & { contact_id: string | null },
  ): Promise<TaskDto | undefined> {
    const guard = contact_id === null ? undefined : liveLead('$1', '$2');
    return this.insertIf(guard, organizationId, { contact_id, ...row });
  }

  /** Whether a lead lives; if so, it does until the transaction ends. */
  async holdLead(
    transaction: TenantTransaction,
    organizationId: string,
    leadId: string,
  ): Promise<boolean> {
    const rows = await transaction.query({
      text: liveLead('$1', '$2'),
      values: [organizationId, leadId],
    });
    return rows.length > 0;
  }
}
