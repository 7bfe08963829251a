import { Injectable } from '@nestjs/common';
import { DeletedDto } from '../../platform/fields/deleted.dto.js';
import { UUID } from '../../platform/fields/kinds/uuid.js';
import {
  Completion,
  type CompletionMatches,
  MAX_COMPLETIONS,
} from '../mcp/prompts/completion.decorator.js';
import { Resource } from '../mcp/resources/resource.decorator.js';
import { Previewed } from '../mcp/tools/previewed.js';
import { Tool } from '../mcp/tools/tool.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { fullName } from './lead-values.js';
import {
  CreateLeadDto,
  LeadDto,
  LeadListItemDto,
  FindLeadsQuery,
  UpdateLeadDto,
} from './lead.dto.js';
import { UpsertedLeadDto, UpsertLeadDto } from './lead-upsert.dto.js';
import { LeadUpsertService } from './lead-upsert.service.js';
import { writesOf } from '../../platform/data/batches/batch.dto.js';
import { BatchRunner } from '../../platform/data/batches/batch-runner.js';
import {
  creationResultsOf,
  ResultsDto,
  updateSeveral,
  updatesOf,
} from '../mcp/tools/several-records.js';
import { CreateLeadsDto, UpdateLeadItemDto, UpdateLeadsDto } from './lead-tools.dto.js';
import { FoundDuplicatesDto, LeadDuplicatesQuery } from './duplicates/duplicates.dto.js';
import { DuplicatesService } from './duplicates/duplicates.service.js';
import { LeadBatchService } from './lead-batch.service.js';
import { MergeLeadDto } from './lead-merge.dto.js';
import { LeadMergeService } from './lead-merge.service.js';
import { LeadsService } from './leads.service.js';

const UPDATES = updatesOf(UpdateLeadItemDto);

const LEAD = 'Id of the lead, from list_leads.';

/** Leads for agents (docs/contract/mcp.md#tools). */
@Injectable()
export class LeadsTools {
  constructor(
    private readonly leads: LeadsService,
    private readonly upserts: LeadUpsertService,
    private readonly batches: LeadBatchService,
    private readonly runner: BatchRunner,
    private readonly merges: LeadMergeService,
    private readonly duplicates: DuplicatesService,
  ) {}

  @Tool('list_leads', {
    title: 'List leads',
    description:
      'Find leads by name, company, e-mail, phone, status or temperature. Answers summaries with the exact total; get_lead has every field.',
    effect: 'reads',
    scope: 'leads:read',
    input: FindLeadsQuery,
    summary: [
      ...['id', 'first_name', 'last_name', 'company'],
      ...['status', 'temperature', 'lead_score', 'on_dnc_list', 'sms_opted_out'],
    ],
    brief: { result: ['id'] },
    output: [LeadListItemDto],
    record: LeadDto,
  })
  list(call: Call, query: FindLeadsQuery, fields?: readonly string[]) {
    return this.leads.list(call, { ...query, fields });
  }

  @Tool('get_lead', {
    title: 'Get a lead',
    description: 'Get every field of one lead; update_lead changes them.',
    effect: 'reads',
    scope: 'leads:read',
    id: LEAD,
    brief: { result: ['id'] },
    output: LeadDto,
  })
  @Resource({
    name: 'lead',
    title: 'Lead',
    description: 'Every field of one lead.',
    scope: 'leads:read',
  })
  get(call: Call, id: string) {
    return this.leads.get(call, id);
  }

  @Tool('create_lead', {
    title: 'Create a lead',
    description: 'Create a lead. Look with list_leads first whether it exists already.',
    effect: 'creates',
    scope: 'leads:write',
    input: CreateLeadDto,
    brief: { result: ['id'] },
    output: LeadDto,
  })
  create(call: Call, lead: CreateLeadDto) {
    return this.leads.create(call, lead);
  }

  @Tool('create_leads', {
    title: 'Create several leads',
    description: 'Create up to 25 leads. Answers the id or the error of each.',
    effect: 'creates',
    scope: 'leads:write',
    takesDryRun: true,
    writesOf: ({ leads }: CreateLeadsDto) => writesOf(leads),
    input: CreateLeadsDto,
    brief: { arguments: ['leads'], result: ['results', 'failed'] },
    output: ResultsDto,
  })
  async createMany(call: Call, { leads }: CreateLeadsDto) {
    const items = leads.map((data) => ({ action: 'create', data }));
    return creationResultsOf(await this.batches.run(call, { atomic: false, items }));
  }

  @Tool('update_lead', {
    title: 'Update a lead',
    description: 'Change one lead. The fields of parameters that are not given stay.',
    effect: 'updates',
    scope: 'leads:write',
    id: LEAD,
    input: UpdateLeadDto,
    brief: { result: ['id'] },
    output: LeadDto,
  })
  update(call: Call, id: string, changes: UpdateLeadDto) {
    return this.leads.update(call, id, changes);
  }

  @Tool('update_leads', {
    title: 'Update several leads',
    description: 'Update up to 25 leads. Answers the status or the error of each.',
    effect: 'updates',
    scope: 'leads:write',
    takesDryRun: true,
    writesOf: ({ leads }: UpdateLeadsDto) => writesOf(leads),
    input: UpdateLeadsDto,
    brief: { arguments: ['leads'], result: ['results', 'failed'] },
    output: ResultsDto,
  })
  updateMany(call: Call, { leads }: UpdateLeadsDto) {
    const target = { ...this.batches.targetOf(), ...UPDATES };
    return updateSeveral(this.runner, call, leads, target);
  }

  @Tool('upsert_lead', {
    title: 'Create or update a lead',
    description: 'Update the lead that match_on finds, or create it.',
    effect: 'updates',
    scope: 'leads:write',
    scopes: ['leads:read'],
    input: UpsertLeadDto,
    brief: { arguments: ['data'], result: ['id', 'action'] },
    output: UpsertedLeadDto,
  })
  async upsert(call: Call, input: UpsertLeadDto) {
    const { lead, action } = await this.upserts.upsert(call, input);
    return { ...lead.value(), action };
  }

  @Tool('find_duplicates', {
    title: 'Find likely duplicates',
    description:
      'Groups of leads that are likely one person, with reasons. merge_leads merges two of them.',
    effect: 'reads',
    scope: 'leads:read',
    input: LeadDuplicatesQuery,
    brief: { result: ['groups', 'next', 'has_more'] },
    output: FoundDuplicatesDto,
  })
  async findDuplicates(call: Call, query: LeadDuplicatesQuery) {
    const { data, meta } = await this.duplicates.list(call, query);
    const groups = data.map((group) => ({ ...group, leads: group.leads.map(withoutNulls) }));
    return { groups, ...meta };
  }

  @Tool('merge_leads', {
    title: 'Merge two leads',
    description:
      'Merge the lead lead_id into the lead id, and delete it. It cannot be undone: confirm with the user first.',
    effect: 'deletes',
    scope: 'leads:write',
    scopes: ['leads:read'],
    id: 'Id of the lead that stays.',
    input: MergeLeadDto,
    brief: { objects: ['prefer'], result: ['id'] },
    output: LeadDto,
  })
  async merge(call: Call, id: string, input: MergeLeadDto) {
    const { lead, ...preview } = await this.merges.merge(call, id, input);
    const [source, target] = [preview.source, preview.target].map(fullName);
    const moves = Object.entries(preview.moves).map(([name, count]) => `${name} ${count}`);
    const question = `Merge ${source} into ${target}, and delete ${source}? These records move: ${moves.join(', ')}.`;
    return new Previewed(lead.value(), preview, question);
  }

  @Tool('delete_lead', {
    title: 'Delete a lead',
    description:
      'Delete one lead. It cannot be undone here: confirm with the user first. Its appointments and tasks stay.',
    effect: 'deletes',
    scope: 'leads:write',
    id: LEAD,
    resource: 'lead',
    brief: { result: ['id'] },
    output: DeletedDto,
  })
  delete(call: Call, id: string) {
    return this.leads.delete(call, id);
  }

  /** Completes the ids of leads from a part of a name, of contact data or of an id. */
  @Completion({ name: 'lead', scope: 'leads:read' })
  async complete(call: Call, typed: string): Promise<CompletionMatches> {
    const byId = await this.leads.findByIdPrefix(call, typed, MAX_COMPLETIONS + 1);
    const isSearch = typed.length <= MAX_SEARCH_LENGTH && !UUID.test(typed);
    const order = { sort_by: 'updated_at', sort_dir: 'desc' } as const;
    const query = { page: 1, limit: MAX_COMPLETIONS, search: typed || undefined, ...order };
    const { data, meta } = isSearch ? await this.leads.list(call, query) : NOTHING;
    return {
      matches: [...data, ...byId].map(matchOf),
      hasMore: meta.total > data.length,
      ...(byId.length === 0 && { total: meta.total }),
    };
  }
}

const MAX_SEARCH_LENGTH = 100;

const NOTHING = { data: [], meta: { total: 0 } };

/** The fields of a record that have a value, because agents pay for every token. */
function withoutNulls(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}

function matchOf({ id, company, ...lead }: LeadListItemDto) {
  const name = fullName(lead);
  return { id, label: company === null ? name : `${name}, ${company}` };
}
