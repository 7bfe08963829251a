import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../platform/data/audit/audit-log.js';
import type { Call, InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { RecordRemoval } from '../../platform/data/records/record-removal.service.js';
import { ReferringRecords } from '../../platform/data/records/referring-records.service.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { EventsService } from '../events/events.service.js';
import { LeadPersonService } from '../leads/lead-person.service.js';
import { TasksService } from '../tasks/tasks.service.js';
import { type Erasure, ErasuresRepository } from './erasures.repository.js';
import type { PersonalDataDto } from './personal-data.dto.js';

/** Reads and erases what is stored about a person (docs/contract/personal-data.md). */
@Injectable()
export class PersonalDataService {
  constructor(
    private readonly database: TenantDatabase,
    private readonly person: LeadPersonService,
    private readonly tasks: TasksService,
    private readonly events: EventsService,
    private readonly referring: ReferringRecords,
    private readonly records: RecordRemoval,
    private readonly erasures: ErasuresRepository,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Reads again if a merge or an erasure has changed the person meanwhile, because the parts then are of different times.
   * @throws ApiError `not_found`, `query_failed`, also if the entry of the audit log cannot be written
   */
  async read(call: Call, id: string): Promise<PersonalDataDto> {
    for (;;) {
      const data = await this.readParts(call, id);
      const ids = await this.person.idsOf(call, id);
      if (ids.join() !== data.leads.map((lead) => lead.id).join()) continue;
      await this.audit.addRead(call, ['personal_data.read', id]);
      return data;
    }
  }

  private async readParts(call: Call, id: string): Promise<PersonalDataDto> {
    const leads = await this.person.read(call, id);
    const leadIds = leads.map((lead) => lead.id);
    const referring = await this.referring.find(call, 'leads', leadIds);
    const { appointments = [], tasks = [], ...records } = referring;
    const referringIds = Object.values(referring).flatMap((rows) => rows.map((row) => row.id));
    const ids = [...leadIds, ...referringIds];
    const about = await this.referring.findAbout(call, ids);
    const { webhook_deliveries: deliveries = [], ...others } = about;
    const events = await this.events.ofRecords(call, ids);
    const other_records = { ...records, ...others };
    return { leads, appointments, tasks, events, deliveries, other_records };
  }

  /**
   * Erases a lead and those that were merged with it. It can be repeated.
   * @returns the ids of these leads
   * @throws ApiError `not_found`, `query_failed`, `create_failed`
   */
  async erase(call: TenantCall, id: string): Promise<string[]> {
    const isKnown =
      (await this.person.idsOf(call, id)).length > 0 ||
      (await this.erasures.findErased(call, id)).length > 0;
    orNotFound(isKnown, 'lead');
    await this.person.emptyRejectedLines({ tenant: call.tenant });
    return this.database.transaction(call, async (inner) => {
      const stored = await this.person.lockToErase(inner, id);
      const ids = stored.length > 0 ? stored : await this.erasures.findErased(inner, id);
      orNotFound(ids.length > 0, 'lead');
      await this.eraseAll(inner, ids);
      return ids;
    });
  }

  /**
   * Erases a lead of a restored backup, which may not contain it.
   * @returns whether the backup contained it
   * @throws ApiError `create_failed`
   */
  async eraseAgain(call: TenantCall, id: string): Promise<boolean> {
    await this.person.emptyRejectedLines({ tenant: call.tenant });
    return this.database.transaction(call, async (inner) => {
      const stored = await this.person.lockToErase(inner, id);
      await this.eraseAll(inner, [...new Set([id, ...stored])]);
      return stored.length > 0;
    });
  }

  /**
   * The erased leads of an organization, in the order of their erasures.
   * @throws ApiError `query_failed`
   */
  listErasures(call: TenantCall): Promise<Erasure[]> {
    return this.erasures.list(call);
  }

  private async eraseAll(call: InTransaction, ids: readonly string[]): Promise<void> {
    const changedIds = await this.tasks.eraseTexts(call, ids);
    await this.person.delete(call, ids);
    // The removed records, and the tasks that stay without their texts.
    const recordIds = await this.records.erase(call, { table: 'leads', ids, changedIds });
    await this.erasures.add(call, ids, recordIds);
    await this.audit.add(call, ...ids.map((id) => ['lead.erased', id] as const));
  }
}
