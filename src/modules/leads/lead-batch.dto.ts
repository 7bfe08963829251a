import {
  BatchDto,
  BatchItems,
  type BatchOutcome,
  ListOfUnread,
} from '../../platform/data/batches/batch.dto.js';
import { Integer } from '../../platform/fields/kinds/kinds.js';
import { outputField } from '../../platform/fields/kinds/output-kinds.js';
import { jsonSchemaOf } from '../../platform/fields/schema/schema-of.js';
import { CreateLeadDto } from './lead.dto.js';
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

/** How many leads `create_leads` takes. */
const MAX_CREATED = 25;

/** The arguments of `create_leads`. */
export class CreateLeadsDto {
  @ListOfUnread(jsonSchemaOf(CreateLeadDto, 'input'), MAX_CREATED, {
    required: true,
    description: 'Leads with the fields of create_lead.',
    example: [{ first_name: 'Ada' }, { first_name: 'Grace', email: 'grace@example.com' }],
  })
  leads: readonly unknown[];
}

/** The answer of `create_leads`. */
export class CreatedLeadsDto {
  @outputField(
    { type: 'array', items: { type: 'object' } },
    { description: 'The id or the error of each lead, in order.' },
  )
  results: readonly { index: number; id?: string; error?: object }[];
  @Integer({ min: 0, max: MAX_CREATED, required: true, description: 'Leads that failed.' })
  failed: number;
}

export function createdLeadsOf({ results, meta }: BatchOutcome): CreatedLeadsDto {
  return {
    results: results.map(({ index, id, error }) => ({
      index,
      ...(error ? { error } : { id: id ?? '' }),
    })),
    failed: meta.failed,
  };
}
