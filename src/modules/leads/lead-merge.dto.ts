import { Flag, OneOf, Uuid } from '../../platform/fields/kinds/kinds.js';
import { namesOf } from '../../platform/fields/field.js';
import { Counts } from '../../platform/fields/kinds/output-kinds.js';
import { Nested, NestedInput } from '../../platform/fields/nested.js';
import { CreateLeadDto, LeadDto } from './lead.dto.js';

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

/** The body of a merge. */
export class MergeLeadBodyDto extends MergeLeadDto {
  @Flag({
    default: false,
    description: 'Checks everything and changes nothing.',
    example: false,
  })
  dry_run: boolean;
}

/** The response to a dry run of a merge (docs/contract/merge.md#dry-run). */
export class LeadMergePreviewDto {
  @Flag({ required: true, description: 'Nothing was changed.', example: true })
  dry_run: boolean;
  @Nested(LeadDto, { required: true, description: 'The lead that the merge would return.' })
  would_answer: LeadDto;
  @Nested(LeadDto, { required: true, description: 'The lead that would stay, as it is.' })
  target: LeadDto;
  @Nested(LeadDto, { required: true, description: 'The lead that would be deleted, as it is.' })
  source: LeadDto;
  @Counts({
    description: 'How many records of each kind would move.',
    example: { appointments: 2, tasks: 1 },
  })
  moves: Readonly<Record<string, number>>;
}
