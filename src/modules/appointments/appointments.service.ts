import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RecordPromise } from '../../platform/data/records/stored-record.js';
import { importedRow, type Times } from '../../platform/data/records/tenant-repository.js';
import { type ApiError, validationError } from '../../platform/errors/api-error.js';
import { notFound } from '../../platform/errors/or-not-found.js';
import { changedFields, nullsForMissing, withoutUndefined } from '../../platform/fields/changes.js';
import { appendedNotes } from '../../platform/fields/note-changes.js';
import { mustBeAfter, mustBeBefore } from '../../platform/fields/kinds/rules.js';
import { FieldDefinitionsService } from '../custom-fields/field-definitions.service.js';
import { leadNotFound } from '../leads/lead-exists.js';
import type { Counts } from '../../platform/data/lists/count.dto.js';
import type { CursorPage, Page } from '../../platform/data/lists/page.js';
import type { Call, InTransaction } from '../../platform/data/call.js';
import {
  type AppointmentDto,
  type AppointmentListQuery,
  type AppointmentCountQuery,
  CreateAppointmentDto,
  type UpdateAppointmentDto,
} from './appointment.dto.js';
import { AppointmentsRepository } from './appointments.repository.js';

/** Business rules of appointments (docs/contract/resources.md#appointments). */
@Injectable()
export class AppointmentsService {
  constructor(
    private readonly repository: AppointmentsRepository,
    private readonly definitions: FieldDefinitionsService,
  ) {}

  /** @throws ApiError `query_failed` */
  async list(call: Call, query: AppointmentListQuery): Promise<Page<AppointmentDto>> {
    return this.repository.list(call, await this.definitions.typed(call, query));
  }

  /**
   * A page of the list that is read by cursor.
   * @throws ApiError `query_failed`
   */
  async listAfter(call: Call, query: AppointmentListQuery): Promise<CursorPage<AppointmentDto>> {
    return this.repository.listAfter(call, await this.definitions.typed(call, query));
  }

  /**
   * The numbers of appointments by value.
   * @throws ApiError `validation_error` for a time zone that PostgreSQL does not know, `query_failed`
   */
  async count(call: Call, query: AppointmentCountQuery): Promise<Counts> {
    return this.repository.count(call, await this.definitions.typed(call, query));
  }

  /**
   * @param include fields about related records, as in lists
   * @throws ApiError `not_found`, `query_failed`
   */
  get(call: Call, id: string, include?: readonly string[]): RecordPromise<AppointmentDto> {
    return this.repository.findWithRelated(call, id, include).orElse(() => notFound('appointment'));
  }

  /** Locks appointments until the transaction ends, in the order of their ids. */
  lockAll(call: InTransaction<Call>, ids: readonly string[]): Promise<void> {
    return this.repository.lockAndRead(call, ids);
  }

  /** Locks the leads to which records will refer, until the transaction ends. */
  lockBefore(
    call: InTransaction<Call>,
    inputs: readonly (CreateAppointmentDto | UpdateAppointmentDto)[],
  ): Promise<void> {
    return this.repository.lockReferences(call, inputs.map(withoutUndefined));
  }

  /**
   * The first appointments whose ids start with a prefix.
   * @throws ApiError `query_failed`
   */
  findByIdPrefix(call: Call, prefix: string, limit: number): Promise<AppointmentDto[]> {
    return this.repository.findByIdPrefix(call, prefix, limit);
  }

  /** @throws ApiError `lead_not_found`, `create_failed` */
  create(call: Call, input: CreateAppointmentDto): RecordPromise<AppointmentDto> {
    return this.repository.insert(call, rowOf(call, input)).orElse(() => {
      throw leadNotFound('lead_id');
    });
  }

  /**
   * Creates appointments in one statement.
   * @returns undefined for each appointment that cannot be created; `create` throws its error
   * @throws ApiError `create_failed`
   */
  createTogether(call: Call, inputs: readonly CreateAppointmentDto[]) {
    const rows = inputs.map((input) => rowOf(call, input));
    return this.repository.insertTogether(call, rows);
  }

  /**
   * Creates appointments with creation times in the past, for imported data.
   * @param inputs appointments with leads that exist
   * @throws ApiError `create_failed`
   */
  createMany(call: Call, inputs: readonly (CreateAppointmentDto & Times)[]): Promise<void> {
    const rows = inputs.map((input) => importedRow(rowOf(call, input), input));
    return this.repository.insertMany(call, rows);
  }

  /** @throws ApiError `not_found`, `create_failed`, `validation_error` for times in the wrong order */
  update(call: Call, id: string, input: UpdateAppointmentDto): RecordPromise<AppointmentDto> {
    const { append_notes, ...fields } = input;
    const revise = (stored: AppointmentDto) => {
      const notes = appendedNotes(stored.notes, append_notes) ?? fields.notes;
      const changes = changedFields(stored, { ...fields, notes });
      // A status updates `updated_at` even if it equals the stored one
      // (docs/contract/states.md#appointment-status).
      if (!changes && input.status === undefined) return undefined;
      const revised = { ...stored, ...changes };
      if (revised.end_time <= revised.start_time) {
        throw invalidTimeOrder(input);
      }
      return nullsForMissing(CreateAppointmentDto, revised);
    };
    const { start_time, end_time, status } = input;
    const needsStored = [start_time, end_time, append_notes].some((value) => value !== undefined);
    // Without these, the change needs no stored value. It is then written without reading the appointment first.
    const direct = needsStored ? undefined : { values: fields, touches: status !== undefined };
    const updated = this.repository.update(call, id, revise, direct);
    return updated.orElse(() => notFound('appointment'));
  }

  /** @throws ApiError `not_found`, `create_failed` */
  async cancel(call: Call, id: string): Promise<{ id: string; cancelled: true }> {
    // Cancelling an appointment again changes nothing.
    const values = { status: 'cancelled' } as const;
    const revise = ({ status }: AppointmentDto) => (status === 'cancelled' ? undefined : values);
    await this.repository
      .update(call, id, revise, { values })
      .orElse(() => notFound('appointment'));
    return { id, cancelled: true };
  }
}

function rowOf(call: Call, input: CreateAppointmentDto) {
  return {
    id: uuidv7(),
    booked_by: call.actor.channel === 'ai' ? 'ai' : 'api',
    ...nullsForMissing(CreateAppointmentDto, input),
  };
}

/** The error for an end before the start. It names a field of the request. */
function invalidTimeOrder({ end_time: end }: UpdateAppointmentDto): ApiError {
  return validationError([
    end === undefined
      ? { field: 'start_time', message: mustBeBefore('end_time') }
      : { field: 'end_time', message: mustBeAfter('start_time') },
  ]);
}
