import type { LeadListItem } from 'latitude/client';
import { leadName } from '../../components/lead-name.js';
import { Link } from '../../components/link.js';
import { Value } from '../../components/text.js';
import type { ListColumn } from '../../lists/record-list.js';

/** A record of a list with `include=lead`, if the key may read leads. */
export interface WithLead {
  readonly lead?: LeadListItem | null;
}

/** The lead of an appointment or a task. @param name of the field that has its id */
export function leadColumn<Name extends string>(
  name: Name,
  label: string,
): ListColumn<WithLead & Partial<Record<Name, string | null>>> {
  return {
    name,
    label,
    fields: [name],
    isUsual: true,
    cell: (row) => {
      const { lead } = row;
      if (!lead) return <Value value={row[name]} />;
      return (
        <Link to={`leads/${lead.id}`}>
          <bdi>{leadName(lead)}</bdi>
        </Link>
      );
    },
  };
}
