import type { LeadDto } from './lead.dto.js';

/** What a person calls a lead. */
export function fullName({ first_name, last_name }: Pick<LeadDto, 'first_name' | 'last_name'>) {
  return last_name === null ? first_name : `${first_name} ${last_name}`;
}
