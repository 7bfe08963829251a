import { Uuid } from '../../platform/fields/kinds/kinds.js';
import { TimeOf } from '../../platform/fields/kinds/record-fields.js';
import { LeadDto } from './lead.dto.js';

/** A lead with what only an export of personal data shows. */
export class PersonalLeadDto extends LeadDto {
  @TimeOf('When it was deleted; null for a lead that exists.')
  deleted_at: Date | null;
  @Uuid({
    description: 'The lead that it was merged into, if it was merged.',
    example: '01a1fbde-995e-72a3-a032-ab1c988b9794',
  })
  merged_into: string | null;
}
