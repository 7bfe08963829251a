import type { LatitudeError } from 'latitude/client';
import { leadName } from '../../components/lead-name.js';
import { Link } from '../../components/link.js';
import { useQuery } from '../../state/query.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';

/** The stored leads that do not fit a definition, as a refusal names them. */
export function Misfits({ error }: { error: LatitudeError }) {
  const ids = error.details.flatMap((detail) => detail.lead_ids ?? []);
  const mayRead = useMay()('leads:read');
  const { data } = useQuery(
    mayRead && ids.length > 0 ? `leads ${ids.join()}` : undefined,
    (client, signal) => client.leads.list({ filter: { id: { in: ids } } }, { signal }),
  );
  if (error.code !== 'definition_conflicts') return null;
  const nameOf = (id: string) => {
    const lead = data?.data.find((each) => each.id === id);
    return lead && leadName(lead);
  };
  return (
    <>
      <p>{texts.fields.misfits}</p>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <Link to={`leads/${id}`}>
              <bdi>{nameOf(id) ?? id}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
