import { OneOf, Uuid } from '../../platform/fields/kinds/kinds.js';
import { namesOf } from '../../platform/fields/field.js';
import { NestedInput } from '../../platform/fields/nested.js';
import { CreateLeadDto } from './lead.dto.js';

const SIDES = ['target', 'source'] as const;

/** Whose value a merged lead keeps, by field. */
export type LeadPreferences = { readonly [F in keyof CreateLeadDto]?: (typeof SIDES)[number] };

class LeadPreferencesDto {}
for (const name of namesOf(CreateLeadDto)) OneOf(SIDES)(LeadPreferencesDto.prototype, name);

/** The lead that is merged into that of the path (docs/contract/merge.md). */
export class MergeLeadDto {
  @Uuid({
    required: true,
    description: 'The lead to merge into this one, which is deleted.',
    example: '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43',
  })
  lead_id: string;
  @NestedInput(LeadPreferencesDto, {
    description: 'Whose value to keep, by field: target (default, the lead that stays) or source.',
    example: { phone: 'source' },
  })
  prefer?: LeadPreferences | null;
}
