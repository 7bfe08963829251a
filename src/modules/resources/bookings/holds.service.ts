import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Call, InTransaction } from '../../../platform/data/call.js';
import { RecordPromise, type Stored } from '../../../platform/data/records/stored-record.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import { notFound, orNotFound } from '../../../platform/errors/or-not-found.js';
import { withBuffers } from '../hours/free-time.js';
import type { ResourceDto } from '../resource.dto.js';
import { BookingsService } from './bookings.service.js';
import { BusyTimesRepository } from './busy-times.repository.js';
import type { CreateHoldDto, HoldDto } from './hold.dto.js';

/** The maximum number of holds of a key that have not expired. */
const MAX_HOLDS = 20;

/** Business rules of holds (docs/contract/booking.md#holds). */
@Injectable()
export class HoldsService {
  constructor(
    private readonly busyTimes: BusyTimesRepository,
    private readonly bookings: BookingsService,
  ) {}

  /** @throws ApiError `not_found`, `query_failed` */
  get(call: Call, id: string): RecordPromise<HoldDto> {
    return this.busyTimes.findHold(call, id).orElse(() => notFound('hold'));
  }

  /**
   * @throws ApiError `not_found` for a resource, `too_many_holds`, `resource_inactive`, `slot_taken`, `create_failed`
   */
  create(call: Call, input: CreateHoldDto): RecordPromise<HoldDto> {
    return RecordPromise.of<HoldDto>(() =>
      this.bookings.transaction(call, input, {
        mayConflict: async (turn) => (await this.busyTimes.countHolds(turn)).holds < MAX_HOLDS,
        work: (inner) => this.take(inner, input),
      }),
    );
  }

  private async take(call: InTransaction<Call>, input: CreateHoldDto): Promise<Stored<HoldDto>> {
    const { holds, now } = await this.busyTimes.lockAndCountHolds(call);
    const named = input.any_of ?? [input.resource_id];
    const resources = await this.bookings.lockExisting(call, named);
    if (holds >= MAX_HOLDS) throw new ApiError('too_many_holds');
    return this.bookings.takeFirst(call, resources, input, (resource) =>
      this.insert(call, resource, input, now),
    );
  }

  private insert(
    call: InTransaction<Call>,
    resource: ResourceDto,
    input: CreateHoldDto,
    now: Date,
  ) {
    const { start_time, end_time, seconds } = input;
    const { start, end } = withBuffers(resource, {
      start: start_time.getTime(),
      end: end_time.getTime(),
    });
    const row = {
      id: uuidv7(),
      resource_id: resource.id,
      ...{ start_time, end_time, starts_at: new Date(start), ends_at: new Date(end) },
      expires_at: new Date(now.getTime() + seconds * 1_000),
      key_id: call.actor.key.id,
    };
    return this.busyTimes.insertHold(call, row).stored;
  }

  /** @throws ApiError `not_found`, `create_failed` */
  async delete(call: Call, id: string): Promise<{ id: string; deleted: true }> {
    orNotFound(await this.busyTimes.deleteHold(call, id), 'hold');
    return { id, deleted: true };
  }
}
