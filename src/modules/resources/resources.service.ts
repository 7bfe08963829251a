import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Call, InTransaction } from '../../platform/data/call.js';
import type { CursorPage, Page } from '../../platform/data/lists/page.js';
import type { RecordPromise } from '../../platform/data/records/stored-record.js';
import { notFound, orNotFound } from '../../platform/errors/or-not-found.js';
import { changedFields, nullsForMissing } from '../../platform/fields/changes.js';
import { type Booked, type LocalBooking, localTimesOfBooking } from './bookings/local-times.js';
import {
  CreateResourceDto,
  type ResourceDto,
  type ResourceListQuery,
  UpdateResourceDto,
} from './resource.dto.js';
import { ResourcesRepository } from './resources.repository.js';

/** Business rules of resources (docs/contract/booking.md#resources). */
@Injectable()
export class ResourcesService {
  constructor(private readonly repository: ResourcesRepository) {}

  /** @throws ApiError `query_failed` */
  list(call: Call, query: ResourceListQuery): Promise<Page<ResourceDto>> {
    return this.repository.list(call, query);
  }

  /**
   * A page of the list that is read by cursor.
   * @throws ApiError `query_failed`
   */
  listAfter(call: Call, query: ResourceListQuery): Promise<CursorPage<ResourceDto>> {
    return this.repository.listAfter(call, query);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  get(call: Call, id: string): RecordPromise<ResourceDto> {
    return this.repository.find(call, id).orElse(() => notFound('resource'));
  }

  /**
   * Adds the names of resources, and the times in their zones, to what takes their time. Callers that may not read resources
   * get the bookings as they are.
   * @throws ApiError `query_failed`
   */
  async allWithLocalTimes<T extends Booked & LocalBooking>(
    call: Call,
    bookings: readonly T[],
  ): Promise<T[]> {
    const ids = new Set(bookings.flatMap(({ resource_id }) => resource_id ?? []));
    if (ids.size === 0 || !call.actor.scopes.has('appointments:read')) return [...bookings];
    call.replay?.needFor('local_start', 'appointments:read');
    const resources = await this.repository.findMany(call, [...ids]);
    return bookings.map((booking) => {
      const resource = resources.find(({ id }) => id === booking.resource_id);
      return resource ? { ...booking, ...localTimesOfBooking(booking, resource) } : booking;
    });
  }

  /** Like `allWithLocalTimes`, for one booking. */
  async withLocalTimes<T extends Booked & LocalBooking>(call: Call, booking: T): Promise<T> {
    const [local = booking] = await this.allWithLocalTimes(call, [booking]);
    return local;
  }

  /** Locks resources until the transaction ends, in the order of their ids. */
  lockAll(call: InTransaction<Call>, ids: readonly string[]): Promise<void> {
    return this.repository.lockAndRead(call, ids);
  }

  /** Resources refer to no records. */
  lockBefore(): Promise<void> {
    return Promise.resolve();
  }

  /** @throws ApiError `create_failed` */
  create(call: Call, input: CreateResourceDto): RecordPromise<ResourceDto> {
    return this.repository.insert(call, rowOf(input)).orElse(() => {
      throw new Error('a resource was left out');
    });
  }

  /**
   * Creates resources in one statement.
   * @throws ApiError `create_failed`
   */
  createTogether(call: Call, inputs: readonly CreateResourceDto[]) {
    return this.repository.insertTogether(call, inputs.map(rowOf));
  }

  /** @throws ApiError `not_found`, `create_failed` */
  update(call: Call, id: string, input: UpdateResourceDto): RecordPromise<ResourceDto> {
    const revise = (stored: ResourceDto) => {
      const changes = changedFields(stored, input);
      return changes && nullsForMissing(UpdateResourceDto, { ...stored, ...changes });
    };
    return this.repository
      .update(call, id, revise, { values: input })
      .orElse(() => notFound('resource'));
  }

  /** @throws ApiError `not_found`, `create_failed` */
  async delete(call: Call, id: string): Promise<{ id: string; deleted: true }> {
    orNotFound(await this.repository.delete(call, id), 'resource');
    return { id, deleted: true };
  }
}

function rowOf(input: CreateResourceDto) {
  return { id: uuidv7(), ...nullsForMissing(CreateResourceDto, input) };
}
