import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Revision } from '../../platform/data/records/record-updates.js';
import type { Times } from '../../platform/data/records/tenant-repository.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { changedFields, nullsForMissing } from '../../platform/fields/changes.js';
import { leadNotFound } from '../leads/lead-exists.js';
import { withLeadNames } from '../leads/lead-name.js';
import type { Page } from '../../platform/data/lists/page.js';
import type { Actor } from '../../platform/data/actor.js';
import { CreateTaskDto, type TaskDto, type TaskListQuery, UpdateTaskDto } from './task.dto.js';
import { TasksRepository } from './tasks.repository.js';

/** Business rules of tasks (docs/contract/resources.md#tasks). */
@Injectable()
export class TasksService {
  constructor(private readonly repository: TasksRepository) {}

  /** @throws ApiError `query_failed` */
  list(actor: Actor, query: TaskListQuery): Promise<Page<TaskDto>> {
    return this.repository.list(withLeadNames(actor), query);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  async get(actor: Actor, id: string): Promise<TaskDto> {
    return orNotFound(await this.repository.find(withLeadNames(actor), id), 'task');
  }

  /**
   * The first tasks whose ids start with a prefix.
   * @throws ApiError `query_failed`
   */
  findByIdPrefix(actor: Actor, prefix: string, limit: number): Promise<TaskDto[]> {
    return this.repository.findByIdPrefix(actor.organization, prefix, limit);
  }

  /** @throws ApiError `lead_not_found`, `create_failed` */
  async create(actor: Actor, input: CreateTaskDto): Promise<TaskDto> {
    const created = await this.repository.insert(withLeadNames(actor), {
      id: uuidv7(),
      created_by_user_id: actor.key.userId,
      created_by_ai: actor.channel === 'ai',
      ...nullsForMissing(CreateTaskDto, input),
    });
    if (!created) throw leadNotFound('contact_id');
    return created;
  }

  /**
   * Creates tasks with creation times in the past, for imported data.
   * @param inputs tasks without a contact, or with contacts that exist
   * @throws ApiError `create_failed`
   */
  createMany(actor: Actor, inputs: readonly (CreateTaskDto & Times)[]): Promise<void> {
    const rows = inputs.map(({ created_at, updated_at, ...input }) => ({
      id: uuidv7({ msecs: created_at.getTime() }),
      created_by_user_id: actor.key.userId,
      created_by_ai: actor.channel === 'ai',
      ...nullsForMissing(CreateTaskDto, input),
      created_at,
      updated_at,
    }));
    return this.repository.insertMany(actor.organization, rows);
  }

  /** @throws ApiError `not_found`, `lead_not_found` for a new contact, `create_failed` */
  async update(actor: Actor, id: string, input: UpdateTaskDto): Promise<TaskDto> {
    const organization = withLeadNames(actor);
    const revise: Revision<TaskDto> = async (stored, transaction) => {
      const changes = changedFields(stored, input);
      const contact = changes?.contact_id;
      // Only a new contact is checked.
      if (contact && !(await this.repository.lockLead(transaction, organization, contact))) {
        throw leadNotFound('contact_id');
      }
      return changes && nullsForMissing(UpdateTaskDto, { ...stored, ...changes });
    };
    const direct = input.contact_id ? undefined : { values: input };
    const updated = await this.repository.update(organization, id, revise, direct);
    return orNotFound(updated, 'task');
  }

  /** @throws ApiError `not_found`, `create_failed` */
  async delete(actor: Actor, id: string): Promise<{ id: string; deleted: true }> {
    orNotFound(await this.repository.delete(actor.organization, id), 'task');
    return { id, deleted: true };
  }
}
