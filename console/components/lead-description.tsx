import type { LeadListItem } from 'latitude/client';

type Described = Pick<LeadListItem, 'first_name' | 'last_name' | 'company' | 'email' | 'phone'>;

/** A lead in one line: its name, and what tells it from others. */
export function LeadDescription({ lead }: { lead: Described }) {
  const { first_name, last_name, company, email, phone } = lead;
  const name = [first_name, last_name].filter(Boolean).join(' ');
  return (
    <span>
      <bdi>{name}</bdi>
      {[company, email, phone].filter(Boolean).map((text) => (
        <>
          , <bdi>{text}</bdi>
        </>
      ))}
    </span>
  );
}
