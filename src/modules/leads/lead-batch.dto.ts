import { BatchDto, BatchItems } from '../../platform/data/batches/batch.dto.js';
import { CreatedRecords, UpdatedRecords, UpdateItemOf } from '../mcp/tools/several-records.js';
import { CreateLeadDto, UpdateLeadDto } from './lead.dto.js';
import { UPSERT_MODES } from './lead-upsert.dto.js';
import { UNIQUE_FIELDS } from './unique-values.js';

const EXAMPLE = [
  { action: 'create', data: { first_name: 'Ada', email: 'ada@example.com' } },
  {
    action: 'upsert',
    match_on: ['external_id'],
    data: { external_id: 'crm-4711', first_name: 'Grace' },
  },
];

const MATCH_ON = {
  type: 'array',
  items: { type: 'string', enum: UNIQUE_FIELDS },
  description: 'Fields that find the lead of an upsert.',
};

const MODE = {
  type: 'string',
  enum: UPSERT_MODES,
  description: 'What an upsert may do.',
};

/** Changes of several leads (docs/contract/batches.md). */
export class LeadBatchDto extends BatchDto {
  @BatchItems(['create', 'update', 'upsert', 'delete'], EXAMPLE, {
    match_on: MATCH_ON,
    mode: MODE,
  })
  declare items: readonly unknown[];
}

/** The arguments of `create_leads`. */
export class CreateLeadsDto {
  @CreatedRecords(CreateLeadDto, 'Leads, each with the parameters of create_lead.', [
    { first_name: 'Ada' },
    { first_name: 'Grace', email: 'grace@example.com' },
  ])
  leads: readonly unknown[];
}

/** A lead that `update_leads` changes, without its id. */
export class UpdateLeadItemDto extends UpdateItemOf(UpdateLeadDto) {}

/** The arguments of `update_leads`. */
export class UpdateLeadsDto {
  @UpdatedRecords(UpdateLeadItemDto, 'Leads, each with the parameters of update_lead.', [
    { id: '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43', status: 'lost' },
  ])
  leads: readonly unknown[];
}
