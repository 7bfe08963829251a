import { Injectable } from '@nestjs/common';
import { RecordPromise } from '../../platform/data/records/stored-record.js';
import { importedRow, type Times } from '../../platform/data/records/tenant-repository.js';
import { notFound } from '../../platform/errors/or-not-found.js';
import { withoutUndefined } from '../../platform/fields/changes.js';
import { isGiven } from '../../platform/fields/validation/rule.js';
import { FieldDefinitionsService } from '../custom-fields/field-definitions.service.js';
import { leadNotFound } from '../leads/lead-exists.js';
import type { Counts } from '../../platform/data/lists/count.dto.js';
import type { CursorPage, Page } from '../../platform/data/lists/page.js';
import type { Call, InTransaction } from '../../platform/data/call.js';
import type {
  AppointmentCountQuery,
  AppointmentDto,
  AppointmentListQuery,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from './appointment.dto.js';
import { AppointmentBookings } from './appointment-bookings.service.js';
import { changesTime, revisedAppointment, rowOf } from './appointment-values.js';
import { AppointmentsRepository } from './appointments.repository.js';

/** Business rules of appointments (docs/contract/resources.md#appointments). */
@Injectable()
export class AppointmentsService {
  constructor(
    private readonly repository: AppointmentsRepository,
    private readonly bookings: AppointmentBookings,
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

  /** Locks the leads to which appointments will refer, then the resources that they have or will have. */
  async lockBefore(
    call: InTransaction<Call>,
    inputs: readonly (CreateAppointmentDto | UpdateAppointmentDto)[],
    ids: readonly string[],
  ): Promise<void> {
    await this.repository.lockReferences(call, inputs.map(withoutUndefined));
    await this.bookings.lockBefore(call, inputs, ids);
  }

  /**
   * The first appointments whose ids start with a prefix.
   * @throws ApiError `query_failed`
   */
  findByIdPrefix(call: Call, prefix: string, limit: number): Promise<AppointmentDto[]> {
    return this.repository.findByIdPrefix(call, prefix, limit);
  }

  /**
   * @throws ApiError `not_found` for a resource, `lead_not_found`, `outside_hours`, `resource_inactive`, `slot_taken`,
   *   `create_failed`
   */
  create(call: Call, input: CreateAppointmentDto): RecordPromise<AppointmentDto> {
    if (isBooking(input)) return this.bookings.create(call, input);
    return this.repository.insert(call, rowOf(call, input)).orElse(() => {
      throw leadNotFound('lead_id');
    });
  }

  /**
   * Creates appointments in one statement.
   * @returns undefined for each appointment that cannot be created; `create` throws its error
   * @throws ApiError `create_failed`
   */
  async createTogether(call: Call, inputs: readonly CreateAppointmentDto[]) {
    const rows = inputs.map((input) => (isBooking(input) ? undefined : rowOf(call, input)));
    const others = rows.filter((row) => row !== undefined);
    const created = await this.repository.insertTogether(call, others);
    return rows.map((row) => created[others.findIndex((other) => other === row)]);
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

  /**
   * @throws ApiError `not_found`, `create_failed`, `validation_error` for times in the wrong order, and those of a booking
   *   if the appointment has or gets a resource
   */
  update(call: Call, id: string, input: UpdateAppointmentDto): RecordPromise<AppointmentDto> {
    const { append_notes, within_hours: _, ...fields } = input;
    const { start_time, end_time, resource_id } = input;
    const revise = (stored: AppointmentDto) => revisedAppointment(stored, input);
    if (resource_id !== undefined) {
      return RecordPromise.of<AppointmentDto>(() => this.bookings.update(call, id, revise, input));
    }
    const needsStored = [start_time, end_time, append_notes].some((value) => value !== undefined);
    // Without these, the change needs no stored value. It is then written without reading the appointment first.
    const values = needsStored ? undefined : fields;
    return this.change(call, id, revise, values, input);
  }

  /** @throws ApiError `not_found`, `create_failed` */
  async cancel(call: Call, id: string): Promise<{ id: string; cancelled: true }> {
    // Cancelling an appointment again changes nothing.
    const values = { status: 'cancelled' } as const;
    const revise = ({ status }: AppointmentDto) => (status === 'cancelled' ? undefined : values);
    await this.change(call, id, revise, values).stored;
    return { id, cancelled: true };
  }

  /**
   * Changes an appointment, in a transaction that locks its resource if it changes what the appointment takes of it.
   * @param values the change, if it needs no stored value
   */
  private change(
    call: Call,
    id: string,
    revise: (stored: AppointmentDto) => Partial<AppointmentDto> | undefined,
    values: object | undefined,
    input: UpdateAppointmentDto = {},
  ): RecordPromise<AppointmentDto> {
    const direct = values && {
      values,
      touches: input.status !== undefined,
      ...('status' in values && { unless: 'resource_id' }),
    };
    const reviseFree = (stored: AppointmentDto) => {
      const revised = revise(stored);
      if (revised && changesTime(stored, { ...stored, ...revised })) throw new TimeChange();
      return revised;
    };
    return RecordPromise.of<AppointmentDto>(() =>
      this.repository
        .update(call, id, reviseFree, direct)
        .orElse(() => notFound('appointment'))
        .stored.catch((error: unknown) => {
          if (error instanceof TimeChange) return this.bookings.update(call, id, revise, input);
          throw error;
        }),
    );
  }
}

/** A change concerns the time of a resource, which is written in a transaction that locks the resource. */
class TimeChange extends Error {}

/** Whether a new appointment takes time of a resource. */
function isBooking({ resource_id, any_of, hold_id }: CreateAppointmentDto): boolean {
  return [resource_id, any_of, hold_id].some(isGiven);
}
