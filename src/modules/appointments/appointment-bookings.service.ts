import { Injectable } from '@nestjs/common';
import type { Call, InTransaction } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import {
  assertPrecondition,
  RecordPromise,
  type Stored,
} from '../../platform/data/records/stored-record.js';
import { validationError } from '../../platform/errors/api-error.js';
import { changedFields } from '../../platform/fields/changes.js';
import { isGiven } from '../../platform/fields/validation/rule.js';
import { notFound } from '../../platform/errors/or-not-found.js';
import { leadNotFound } from '../leads/lead-exists.js';
import { LeadsService } from '../leads/leads.service.js';
import { BookingsService } from '../resources/bookings/bookings.service.js';
import type { HoldDto } from '../resources/bookings/hold.dto.js';
import { HoldsService } from '../resources/bookings/holds.service.js';
import type { ResourceDto } from '../resources/resource.dto.js';
import type {
  AppointmentDto,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from './appointment.dto.js';
import { isFree, rowOf, takesOtherTime } from './appointment-values.js';
import { AppointmentsRepository } from './appointments.repository.js';

/** The values of an appointment after a change; undefined if it changes nothing. */
type Revise = (stored: AppointmentDto) => Partial<AppointmentDto> | undefined;

/**
 * Appointments that take time of a resource. Each write is a transaction, which locks the lead, then the resources and then the
 * appointment (docs/contract/booking.md#conflicts).
 */
@Injectable()
export class AppointmentBookings {
  constructor(
    private readonly database: TenantDatabase,
    private readonly repository: AppointmentsRepository,
    private readonly leads: LeadsService,
    private readonly bookings: BookingsService,
    private readonly holds: HoldsService,
  ) {}

  /**
   * @throws ApiError `not_found` for a resource or hold, `lead_not_found`, `validation_error`, `outside_hours`, `resource_inactive`, `slot_taken`,
   *   `create_failed`
   */
  create(call: Call, input: CreateAppointmentDto): RecordPromise<AppointmentDto> {
    return RecordPromise.of<AppointmentDto>(() =>
      this.bookings.transaction(call, input, {
        ...this.conflictStep(input),
        work: (inner) => this.insert(inner, input),
      }),
    );
  }

  /** A conflict is the first problem of an appointment if its lead exists. With a hold or a free status it has none. */
  private conflictStep({ lead_id, hold_id, status }: CreateAppointmentDto) {
    if (isGiven(hold_id) || isFree(status)) return {};
    const mayConflict = async (call: Call) =>
      (await this.leads.findNames(call, [lead_id])).has(lead_id);
    return { mayConflict };
  }

  private async insert(call: InTransaction<Call>, input: CreateAppointmentDto) {
    const { hold_id, lead_id } = input;
    const hold = hold_id ? await this.holds.get(call, hold_id) : undefined;
    const leads = await this.repository.lockReferences(call, [{ lead_id }]);
    const named = hold ? [hold.resource_id] : (input.any_of ?? [input.resource_id]);
    const resources = await this.bookings.lockExisting(call, named);
    if (!leads.has(lead_id)) throw leadNotFound('lead_id');
    const wanted = hold ? withHold(input, hold) : input;
    const write = async ({ id: resource_id }: ResourceDto) => {
      if (hold) await this.holds.delete(call, hold.id);
      return this.repository.insert(call, rowOf(call, { ...wanted, resource_id })).orElse(() => {
        throw leadNotFound('lead_id');
      }).stored;
    };
    const [first] = resources as [ResourceDto];
    return isFree(input.status)
      ? write(first)
      : this.bookings.takeFirst(call, resources, wanted, write);
  }

  /**
   * Changes an appointment that has or gets a resource.
   * @throws ApiError `not_found`, `precondition_failed`, `outside_hours`, `resource_inactive`, `slot_taken`,
   *   `create_failed`, and any error of `revise`
   */
  update(
    call: Call,
    id: string,
    revise: Revise,
    input: UpdateAppointmentDto,
  ): Promise<Stored<AppointmentDto>> {
    const { resource_id, within_hours } = input;
    return this.database.transaction(call, async (inner) => {
      const locked = await this.lockBefore(inner, [input], [id]);
      await this.repository.lockAndRead(inner, [id]);
      const found = await this.repository.find(inner, id).stored;
      if (!found) return notFound('appointment');
      const stored = found.value();
      const isNamed = resource_id && resource_id !== stored.resource_id;
      if (isNamed && !locked.has(resource_id)) return notFound('resource');
      const revised = revise(stored);
      const after = { ...stored, ...revised };
      const write = () =>
        this.repository.update(inner, id, () => revised).orElse(() => notFound('appointment'))
          .stored;
      if (!takesOtherTime(stored, after)) return write();
      const [resource] = (await this.bookings.lockExisting(inner, [after.resource_id])) as [
        ResourceDto,
      ];
      assertPrecondition(inner, found);
      return this.bookings.take(inner, resource, { ...after, within_hours }, write);
    });
  }

  /**
   * Locks the resources that appointments have and those that inputs name, until the transaction ends.
   * @param ids of appointments
   * @returns those that exist, by their ids
   */
  async lockBefore(
    call: InTransaction<Call>,
    inputs: readonly (CreateAppointmentDto | UpdateAppointmentDto)[],
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ResourceDto>> {
    const creates = inputs.filter((input): input is CreateAppointmentDto => 'lead_id' in input);
    const named = inputs.flatMap(({ resource_id }) => resource_id ?? []);
    const several = creates.flatMap(({ any_of }) => any_of ?? []);
    const held = await this.bookings.resourcesOfHolds(
      call,
      creates.flatMap(({ hold_id }) => hold_id ?? []),
    );
    const stored = await this.repository.resourcesOf(call, ids);
    return this.bookings.lock(call, [...stored, ...named, ...several, ...held]);
  }
}

/**
 * The input with the times and the resource of its hold.
 * @throws ApiError `validation_error` if it has others
 */
function withHold(input: CreateAppointmentDto, hold: HoldDto): CreateAppointmentDto {
  const { start_time, end_time, resource_id } = hold;
  const own: Readonly<Record<string, unknown>> = { start_time, end_time, resource_id };
  const given = changedFields(own, pickGiven(input, Object.keys(own))) ?? {};
  const problems = Object.keys(given).map((field) => ({
    field,
    message: 'must be that of the hold',
  }));
  if (input.any_of && !input.any_of.includes(resource_id)) {
    problems.push({ field: 'any_of', message: 'must have the resource of the hold' });
  }
  if (problems.length > 0) throw validationError(problems);
  return { ...input, start_time, end_time, resource_id, any_of: undefined };
}

/** The values of some fields that an input has. */
function pickGiven(input: object, names: readonly string[]) {
  return Object.fromEntries(
    Object.entries(input).filter(([name, value]) => names.includes(name) && isGiven(value)),
  );
}
