import type { LeadDto } from './lead.dto.js';

/** The first and last name of a lead. */
export function fullName({ first_name, last_name }: Pick<LeadDto, 'first_name' | 'last_name'>) {
  return last_name === null ? first_name : `${first_name} ${last_name}`;
}
