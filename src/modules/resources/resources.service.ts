import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { AuditLog } from '../../platform/data/audit/audit-log.js';
import type { Call, InTransaction } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { CursorPage, Page } from '../../platform/data/lists/page.js';
import { RecordPromise } from '../../platform/data/records/stored-record.js';
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
  constructor(
    private readonly repository: ResourcesRepository,
    private readonly database: TenantDatabase,
    private readonly audit: AuditLog,
  ) {}

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
    const row = rowOf(input);
    const insert = async (inner: InTransaction<Call>) => {
      const stored = await this.repository.insert(inner, row).stored;
      if (!stored) throw new Error('a resource was left out');
      await this.audit.add(inner, ['resource.created', row.id]);
      return stored;
    };
    return RecordPromise.of<ResourceDto>(() => this.database.transaction(call, insert));
  }

  /**
   * Creates resources in one statement.
   * @throws ApiError `create_failed`
   */
  createTogether(call: Call, inputs: readonly CreateResourceDto[]) {
    return this.database.transaction(call, async (inner) => {
      const created = await this.repository.insertTogether(inner, inputs.map(rowOf));
      const ids = created.flatMap((resource) => resource?.id ?? []);
      await this.audit.add(inner, ...ids.map((id) => ['resource.created', id] as const));
      return created;
    });
  }

  /** @throws ApiError `not_found`, `create_failed` */
  update(call: Call, id: string, input: UpdateResourceDto): RecordPromise<ResourceDto> {
    const revise = (stored: ResourceDto) => {
      const changes = changedFields(stored, input);
      return changes && nullsForMissing(UpdateResourceDto, { ...stored, ...changes });
    };
    const update = async (inner: InTransaction<Call>) => {
      const updated = await this.repository.update(inner, id, revise).stored;
      const stored = orNotFound(updated, 'resource');
      if (!stored.isUnchanged) await this.audit.add(inner, ['resource.updated', stored.id]);
      return stored;
    };
    return RecordPromise.of<ResourceDto>(() => this.database.transaction(call, update));
  }

  /** @throws ApiError `not_found`, `create_failed` */
  async delete(call: Call, id: string): Promise<{ id: string; deleted: true }> {
    await this.database.transaction(call, async (inner) => {
      orNotFound(await this.repository.delete(inner, id), 'resource');
      await this.audit.add(inner, ['resource.deleted', id]);
    });
    return { id, deleted: true };
  }
}

function rowOf(input: CreateResourceDto) {
  return { id: uuidv7(), ...nullsForMissing(CreateResourceDto, input) };
}
