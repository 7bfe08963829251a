import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Revision } from '../../platform/data/records/record-updates.js';
import type { RecordPromise } from '../../platform/data/records/stored-record.js';
import { importedRow, type Times } from '../../platform/data/records/tenant-repository.js';
import { notFound, orNotFound } from '../../platform/errors/or-not-found.js';
import { changedFields, nullsForMissing, withoutUndefined } from '../../platform/fields/changes.js';
import type { DeletedQuery } from '../../platform/data/lists/deleted-records.js';
import { FieldDefinitionsService } from '../custom-fields/field-definitions.service.js';
import { leadNotFound } from '../leads/lead-exists.js';
import type { Counts } from '../../platform/data/lists/count.dto.js';
import type { CursorPage, Page } from '../../platform/data/lists/page.js';
import type { Call, InTransaction } from '../../platform/data/call.js';
import {
  CreateTaskDto,
  type DeletedTaskDto,
  type TaskCountQuery,
  type TaskDto,
  type TaskListQuery,
  UpdateTaskDto,
} from './task.dto.js';
import { TasksRepository } from './tasks.repository.js';

/** The text of a task about a lead that was erased. */
const ERASED = 'erased';

/** Business rules of tasks (docs/contract/resources.md#tasks). */
@Injectable()
export class TasksService {
  constructor(
    private readonly repository: TasksRepository,
    private readonly definitions: FieldDefinitionsService,
  ) {}

  /** @throws ApiError `query_failed` */
  async list(call: Call, query: TaskListQuery): Promise<Page<TaskDto>> {
    return this.repository.list(call, await this.definitions.typed(call, query));
  }

  /**
   * A page of the list that is read by cursor.
   * @throws ApiError `query_failed`
   */
  async listAfter(call: Call, query: TaskListQuery): Promise<CursorPage<TaskDto>> {
    return this.repository.listAfter(call, await this.definitions.typed(call, query));
  }

  /**
   * A page of the list of deleted tasks.
   * @throws ApiError `query_failed`
   */
  listDeleted(call: Call, query: DeletedQuery): Promise<CursorPage<DeletedTaskDto>> {
    return this.repository.listDeleted(call, query);
  }

  /**
   * The numbers of tasks by value.
   * @throws ApiError `validation_error` for a time zone that PostgreSQL does not know, `query_failed`
   */
  async count(call: Call, query: TaskCountQuery): Promise<Counts> {
    return this.repository.count(call, await this.definitions.typed(call, query));
  }

  /**
   * @param include fields about related records, as in lists
   * @throws ApiError `not_found`, `query_failed`
   */
  get(call: Call, id: string, include?: readonly string[]): RecordPromise<TaskDto> {
    return this.repository.findWithRelated(call, id, include).orElse(() => notFound('task'));
  }

  /** Locks tasks until the transaction ends, in the order of their ids. */
  lockAll(call: InTransaction<Call>, ids: readonly string[]): Promise<void> {
    return this.repository.lockAndRead(call, ids);
  }

  /** Locks the leads to which records will refer, until the transaction ends. */
  async lockBefore(call: InTransaction<Call>, inputs: readonly UpdateTaskDto[]): Promise<void> {
    await this.repository.lockReferences(call, inputs.map(withoutUndefined));
  }

  /**
   * The first tasks whose ids start with a prefix.
   * @throws ApiError `query_failed`
   */
  findByIdPrefix(call: Call, prefix: string, limit: number): Promise<TaskDto[]> {
    return this.repository.findByIdPrefix(call, prefix, limit);
  }

  /** @throws ApiError `lead_not_found`, `create_failed` */
  create(call: Call, input: CreateTaskDto): RecordPromise<TaskDto> {
    return this.repository.insert(call, rowOf(call, input)).orElse(() => {
      throw leadNotFound('contact_id');
    });
  }

  /**
   * Creates tasks in one statement.
   * @returns undefined for each task that cannot be created; `create` throws its error
   * @throws ApiError `create_failed`
   */
  createTogether(call: Call, inputs: readonly CreateTaskDto[]) {
    const rows = inputs.map((input) => rowOf(call, input));
    return this.repository.insertTogether(call, rows);
  }

  /**
   * Creates tasks with creation times in the past, for imported data.
   * @param inputs tasks without a contact, or with contacts that exist
   * @throws ApiError `create_failed`
   */
  createMany(call: Call, inputs: readonly (CreateTaskDto & Times)[]): Promise<void> {
    const rows = inputs.map((input) => importedRow(rowOf(call, input), input));
    return this.repository.insertMany(call, rows);
  }

  /** @throws ApiError `not_found`, `lead_not_found` for a new contact, `create_failed` */
  update(call: Call, id: string, input: UpdateTaskDto): RecordPromise<TaskDto> {
    let contactExists: boolean | undefined;
    const revise: Revision<TaskDto> = async (stored, inner) => {
      const changes = changedFields(stored, input);
      const contact = changes?.contact_id;
      // Only a new contact is checked.
      if (contact && !(contactExists ?? (await this.repository.lockLead(inner, contact)))) {
        throw leadNotFound('contact_id');
      }
      return changes && nullsForMissing(UpdateTaskDto, { ...stored, ...changes });
    };
    // As in merges and erasures, the lead is locked before the task.
    const lockContact = async (inner: InTransaction) => {
      if (input.contact_id) contactExists = await this.repository.lockLead(inner, input.contact_id);
    };
    // Without a contact, the change needs no stored value. It is then written without reading the task first.
    const direct = input.contact_id ? undefined : { values: input };
    const updated = this.repository.update(call, id, revise, direct, lockContact);
    return updated.orElse(() => notFound('task'));
  }

  /**
   * Replaces the texts of the tasks about erased leads, deleted ones too, and clears their reference.
   * @returns the ids of the tasks
   * @throws ApiError `create_failed`
   */
  async eraseTexts(call: InTransaction, leadIds: readonly string[]): Promise<string[]> {
    const ids = await this.repository.setTexts(call, leadIds, ERASED);
    const changed = ['title', 'description', 'contact_id'];
    await this.repository.setReference(call, 'contact_id', leadIds, null, changed);
    return ids;
  }

  /** @throws ApiError `not_found`, `create_failed` */
  async delete(call: Call, id: string): Promise<{ id: string; deleted: true }> {
    orNotFound(await this.repository.delete(call, id), 'task');
    return { id, deleted: true };
  }

  /**
   * Restores a deleted task. It keeps its contact, even if that lead is deleted. A task that is not deleted stays as it is.
   * @throws ApiError `not_found`, `precondition_failed`, `create_failed`
   */
  restore(call: Call, id: string): RecordPromise<TaskDto> {
    return this.repository.restore(call, id).orElse(() => notFound('task'));
  }
}

function rowOf(call: Call, input: CreateTaskDto) {
  return {
    id: uuidv7(),
    created_by_user_id: call.actor.key.userId,
    created_by_ai: call.actor.channel === 'ai',
    ...nullsForMissing(CreateTaskDto, input),
  };
}
