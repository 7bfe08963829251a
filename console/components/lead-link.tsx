import { useQuery } from '../state/query.js';
import { useMay } from '../state/session.js';
import { leadName } from './lead-name.js';
import { Link } from './link.js';

/** A link to a lead, with its name if the key may read it. */
export function LeadLink({ id }: { id: string }) {
  const mayRead = useMay()('leads:read');
  const { data } = useQuery(mayRead ? `lead ${id}` : undefined, (client, signal) =>
    client.leads.get(id, { signal }),
  );
  if (!mayRead) return <>{id}</>;
  const name = data && leadName(data);
  return (
    <Link to={`leads/${id}`}>
      <bdi>{name ?? id}</bdi>
    </Link>
  );
}
