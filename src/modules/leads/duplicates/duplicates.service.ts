import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { CursorPage } from '../../../platform/data/lists/page.js';
import type { LeadDuplicatesQuery, LeadGroupDto } from './duplicates.dto.js';
import { DuplicatesRepository, type GroupRow, MAX_SHOWN } from './duplicates.repository.js';
import { LeadFormsJobs } from './lead-forms.jobs.js';

/** Lists leads that are likely the same person (docs/contract/duplicates.md). */
@Injectable()
export class DuplicatesService {
  constructor(
    private readonly repository: DuplicatesRepository,
    private readonly forms: LeadFormsJobs,
  ) {}

  /** @throws ApiError `query_failed`, `create_failed`, `overloaded` */
  async list(
    call: Call,
    { after = '', limit }: LeadDuplicatesQuery,
  ): Promise<CursorPage<LeadGroupDto>> {
    let found = await this.repository.findGroups(call, after, limit + 1);
    if (found.length === 0 && after === '' && (await this.forms.begin(call))) {
      found = await this.repository.findGroups(call, after, limit + 1);
    }
    const page = found.slice(0, limit);
    const json = page.filter(isGroup).map(jsonOf);
    const next = page.at(-1)?.group_id ?? after;
    return new CursorPage(`[${json.join()}]`, { next, has_more: found.length > limit });
  }
}

/** Whether a group still has leads with something in common. Those that it does not show can have it. */
function isGroup({ total, reasons }: GroupRow): boolean {
  return total > 1 && (reasons.length > 0 || total > MAX_SHOWN);
}

function jsonOf({ leads, total, reasons }: GroupRow): string {
  return `{"leads":[${leads ?? ''}],"total":${total},"reasons":${JSON.stringify(reasons)}}`;
}
