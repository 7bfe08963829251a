import type { LeadListItem } from 'latitude/client';
import { leadName } from './lead-name.js';

type Described = Pick<LeadListItem, 'first_name' | 'last_name' | 'company' | 'email' | 'phone'>;

/** A lead in one line: its name, and what tells it from others. */
export function LeadDescription({ lead }: { lead: Described }) {
  const { company, email, phone } = lead;
  return (
    <span>
      <bdi>{leadName(lead)}</bdi>
      {[company, email, phone].filter(Boolean).map((text) => (
        <>
          , <bdi>{text}</bdi>
        </>
      ))}
    </span>
  );
}
