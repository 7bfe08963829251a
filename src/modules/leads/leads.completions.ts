import { Injectable } from '@nestjs/common';
import { UUID } from '../../platform/fields/kinds/uuid.js';
import {
  Completion,
  type CompletionMatches,
  MAX_COMPLETIONS,
} from '../mcp/prompts/completion.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { fullName } from './full-name.js';
import type { LeadListItemDto } from './lead.dto.js';
import { LeadsService } from './leads.service.js';

const MAX_SEARCH_LENGTH = 100;

/** Completes the ids of leads from a part of a name, of contact data or of an id. */
@Injectable()
export class LeadsCompletions {
  constructor(private readonly leads: LeadsService) {}

  @Completion({ name: 'lead', scope: 'leads:read' })
  async find(call: Call, typed: string): Promise<CompletionMatches> {
    const byId = await this.leads.findByIdPrefix(call, typed, MAX_COMPLETIONS + 1);
    const { found, total } = await this.search(call, typed);
    return {
      matches: [...found, ...byId].map(matchOf),
      hasMore: total > found.length,
      ...(byId.length === 0 && { total }),
    };
  }

  private async search(call: Call, typed: string) {
    if (typed.length > MAX_SEARCH_LENGTH || UUID.test(typed)) return { found: [], total: 0 };
    const search = typed === '' ? undefined : typed;
    const order = { sort_by: 'updated_at', sort_dir: 'desc' } as const;
    const { data, meta } = await this.leads.list(call, {
      page: 1,
      limit: MAX_COMPLETIONS,
      search,
      ...order,
    });
    return { found: data, total: meta.total };
  }
}

function matchOf({ id, company, ...lead }: LeadListItemDto) {
  const name = fullName(lead);
  return { id, label: company === null ? name : `${name}, ${company}` };
}
