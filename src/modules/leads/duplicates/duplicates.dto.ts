import { declareField } from '../../../platform/fields/field.js';
import { Integer } from '../../../platform/fields/kinds/kinds.js';
import { EnumArray, outputField } from '../../../platform/fields/kinds/output-kinds.js';
import { textRule } from '../../../platform/fields/kinds/rules.js';
import { trimText } from '../../../platform/fields/kinds/text.js';
import { UUID } from '../../../platform/fields/kinds/uuid.js';
import { NestedRecords } from '../../../platform/fields/nested.js';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../../platform/data/lists/list-query.js';
import { LeadListItemDto } from '../lead.dto.js';
import { type Reason, REASONS } from './lead-forms.js';

/** The parameters of the list of likely duplicates. */
export class LeadDuplicatesQuery {
  @AfterGroup() after?: string;
  @Integer({
    min: 1,
    max: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'Most groups on a page.',
    example: DEFAULT_LIMIT,
  })
  limit: number;
}

/** Leads that are likely the same person (docs/contract/duplicates.md). */
export class LeadGroupDto {
  @NestedRecords(LeadListItemDto, {
    description: 'The first ten leads of the group, in the order of their ids.',
  })
  leads: LeadListItemDto[];
  @Integer({
    min: 2,
    max: 2_147_483_647,
    required: true,
    description: 'Number of leads in the group.',
    example: 2,
  })
  total: number;
  @EnumArray(REASONS, {
    description: 'What is equal in leads of the group.',
    example: ['email'],
  })
  reasons: Reason[];
}

/** The result of `find_duplicates`. The contract describes the groups. */
export class FoundDuplicatesDto {
  @outputField(
    { type: 'array', items: { type: 'object' } },
    { description: 'Groups of leads.', example: [] },
  )
  groups: readonly object[];
  @outputField({ type: 'string' }, { description: '`after` of the next call.', example: '' })
  next: string;
  @outputField({ type: 'boolean' }, { description: 'Whether there are more.', example: false })
  has_more: boolean;
}

function AfterGroup(): PropertyDecorator {
  const problemOf = (text: string) =>
    text === '' || UUID.test(text) ? undefined : 'must be empty or meta.next of a page';
  return declareField(
    {
      description: 'Only groups after this one: `meta.next` of the previous page.',
      example: '01a1fbde-995e-72a3-a032-ab1c988b9794',
    },
    {
      schema: { type: 'string', maxLength: 36 },
      rules: [textRule('isGroupCursor', problemOf)],
      normalize: (value) => (typeof value === 'string' ? trimText(value) : value),
      takesEmpty: true,
    },
  );
}
