import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { hashKey } from '../../../platform/access/api-key-format.js';
import { assertScopes } from '../../../platform/access/scopes.js';
import { AuditLog } from '../../../platform/data/audit/audit-log.js';
import type { Call } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import type { ListQuery } from '../../../platform/data/lists/list-query.js';
import type { Page } from '../../../platform/data/lists/page.js';
import type { Stored } from '../../../platform/data/records/stored-record.js';
import { orNotFound } from '../../../platform/errors/or-not-found.js';
import { nullsForMissing } from '../../../platform/fields/changes.js';
import { ResourcesService } from '../../resources/resources.service.js';
import { type CalendarDto, CreateCalendarDto } from './calendar.dto.js';
import { CalendarsRepository } from './calendars.repository.js';

/** The secret of an address has 192 random bits, so that nobody guesses it. */
const SECRET_BYTES = 24;

/** Management of the calendars of resources (docs/contract/booking.md#calendar-feed). */
@Injectable()
export class CalendarsService {
  constructor(
    private readonly repository: CalendarsRepository,
    private readonly resources: ResourcesService,
    private readonly database: TenantDatabase,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Checks whether the key may read what the calendar will show.
   * @throws ApiError `insufficient_scope`
   */
  assertAllowed({ actor }: Call, { details }: CreateCalendarDto): void {
    if (details) assertScopes(actor, ['leads:read']);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  async list(call: Call, resourceId: string, query: ListQuery): Promise<Page<CalendarDto>> {
    await this.resources.get(call, resourceId);
    return this.repository.list(call, resourceId, query);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  async get(call: Call, resourceId: string, id: string): Promise<Stored<CalendarDto>> {
    await this.resources.get(call, resourceId);
    const calendar = await this.repository.find(call, id).stored;
    return orNotFound(calendar?.value().resource_id === resourceId && calendar, 'calendar');
  }

  /**
   * @returns the calendar, and its secret, which cannot be read later
   * @throws ApiError `not_found`, `create_failed`
   */
  async create(
    call: Call,
    resourceId: string,
    input: CreateCalendarDto,
  ): Promise<{ calendar: Stored<CalendarDto>; secret: string }> {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const row = {
      ...nullsForMissing(CreateCalendarDto, input),
      id: uuidv7(),
      resource_id: resourceId,
      secret_hash: hashKey(secret),
    };
    const created = await this.database.transaction(call, async (inner) => {
      await this.resources.lockAll(inner, [resourceId]);
      await this.resources.get(inner, resourceId);
      await this.audit.add(inner, ['calendar.created', row.id]);
      return this.repository.insertRow(inner, row).stored;
    });
    return { calendar: orNotFound(created, 'calendar'), secret };
  }

  /**
   * Revokes the address of a calendar. Its next read is 404.
   * @throws ApiError `not_found`, `create_failed`
   */
  async delete(call: Call, resourceId: string, id: string): Promise<{ id: string; deleted: true }> {
    await this.resources.get(call, resourceId);
    await this.database.transaction(call, async (inner) => {
      orNotFound(await this.repository.remove(inner, resourceId, id), 'calendar');
      await this.audit.add(inner, ['calendar.deleted', id]);
    });
    return { id, deleted: true };
  }
}
