import { applyDecorators } from '@nestjs/common';
import { FurtherRule } from '../../platform/fields/field.js';
import { OneOf, SomeOf } from '../../platform/fields/kinds/kinds.js';
import { problemRule } from '../../platform/fields/kinds/rules.js';
import { NestedInput } from '../../platform/fields/nested.js';
import { LeadDto, UpdateLeadDto } from './lead.dto.js';
import { UNIQUE_FIELDS, type UniqueField } from './lead-values.js';

export const UPSERT_MODES = ['create_or_update', 'update_only', 'create_only'] as const;
export type UpsertMode = (typeof UPSERT_MODES)[number];

const ACTIONS = ['created', 'updated', 'unchanged'] as const;
export type UpsertAction = (typeof ACTIONS)[number];

/** The unique fields that find a lead. At least one must have a value. */
function MatchOn(): PropertyDecorator {
  return applyDecorators(
    SomeOf(UNIQUE_FIELDS, {
      required: true,
      description: 'Fields that find the lead; one must have a value in data.',
      example: ['external_id', 'email'],
    }),
    FurtherRule(
      problemRule('hasMatchValue', (fields, { data }) => {
        const values = (data ?? {}) as Readonly<Record<string, unknown>>;
        const hasValue = (field: string) => values[field] !== undefined && values[field] !== null;
        const isMissing = Array.isArray(fields) && !fields.some(hasValue);
        return isMissing ? 'must name a field that has a value in data' : undefined;
      }),
    ),
  );
}

/** A lead to create, or to update if it exists (docs/contract/upsert.md). */
export class UpsertLeadDto {
  @MatchOn() match_on: UniqueField[];
  @NestedInput(UpdateLeadDto, {
    required: true,
    description: 'Fields of the lead, as in an update. A new lead needs first_name.',
    example: { first_name: 'Grace', email: 'grace.hopper@example.com', external_id: 'crm-4711' },
  })
  data: UpdateLeadDto;
  @OneOf(UPSERT_MODES, {
    default: 'create_or_update',
    description: 'Whether the upsert may create a lead, update one, or do either.',
    example: 'create_or_update',
  })
  mode: UpsertMode;
}

/** The `meta` of the response to an upsert. */
export class UpsertMetaDto {
  @OneOf(ACTIONS, { required: true, description: 'What was done.', example: 'created' })
  action: UpsertAction;
}

/** The answer of `upsert_lead`. */
export class UpsertedLeadDto extends LeadDto {
  @OneOf(ACTIONS, { required: true, description: 'What was done.', example: 'created' })
  action: UpsertAction;
}
