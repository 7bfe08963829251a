import { Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { ReferringRecords } from '../../platform/data/records/referring-records.service.js';
import { EventsService } from '../events/events.service.js';
import { LeadPersonService } from '../leads/lead-person.service.js';
import type { PersonalDataDto } from './personal-data.dto.js';

/** Reads what is stored about a person (docs/contract/personal-data.md#export). */
@Injectable()
export class PersonalDataService {
  constructor(
    private readonly person: LeadPersonService,
    private readonly referring: ReferringRecords,
    private readonly events: EventsService,
  ) {}

  /** @throws ApiError `not_found`, `query_failed` */
  async read(call: Call, id: string): Promise<PersonalDataDto> {
    const leads = await this.person.read(call, id);
    const leadIds = leads.map((lead) => lead.id);
    const referring = await this.referring.find(call, 'leads', leadIds);
    const ids = [
      ...leadIds,
      ...Object.values(referring).flatMap((rows) => rows.map((row) => row.id)),
    ];
    const { appointments = [], tasks = [], ...other_records } = referring;
    const { webhook_deliveries: deliveries = [], ...others } = await this.referring.findAbout(
      call,
      ids,
    );
    const events = await this.events.ofRecords(call, ids);
    return {
      leads,
      appointments,
      tasks,
      events,
      deliveries,
      other_records: { ...other_records, ...others },
    };
  }
}
