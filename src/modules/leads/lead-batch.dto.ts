import { BatchDto, BatchItems } from '../../platform/data/batches/batch.dto.js';
import { UPSERT_MODES } from './lead-upsert.dto.js';
import { UNIQUE_FIELDS } from './lead-values.js';

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
