import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Time } from '../../components/time.js';
import { useQuery } from '../../state/query.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';

const MAX_ROWS = 10;

/** The appointments of a lead, the latest first. */
export function LeadAppointments({ leadId }: { leadId: string }) {
  const page = useQuery(`appointments of ${leadId}`, (client, signal) =>
    client.appointments.list({ lead_id: leadId, limit: MAX_ROWS }, { signal }),
  );
  return (
    <section class="card">
      <h2>{texts.leads.appointments}</h2>
      <Loaded
        of={page}
        isEmpty={({ data }) => data.length === 0}
        empty={texts.leads.noAppointments}
      >
        {({ data }) => (
          <ul>
            {data.map(({ id, start_time: start, type, status }) => (
              <li key={id}>
                <Link to={`appointments/${id}`}>
                  <Time value={start} />
                </Link>{' '}
                <bdi>{type}</bdi> <span class="hint">{status}</span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

/** The tasks of a lead, the newest first. */
export function LeadTasks({ leadId }: { leadId: string }) {
  const may = useMay();
  const page = useQuery(`tasks of ${leadId}`, (client, signal) =>
    client.tasks.list({ contact_id: leadId, limit: MAX_ROWS }, { signal }),
  );
  return (
    <section class="card">
      <div class="title">
        <h2>{texts.leads.tasks}</h2>
        {may('tasks:write') && (
          <Link to="tasks/new" query={{ contact_id: leadId }}>
            {texts.tasks.create}
          </Link>
        )}
      </div>
      <Loaded of={page} isEmpty={({ data }) => data.length === 0} empty={texts.leads.noTasks}>
        {({ data }) => (
          <ul>
            {data.map(({ id, title, status, due_date: due }) => (
              <li key={id}>
                <Link to={`tasks/${id}`}>
                  <bdi>{title}</bdi>
                </Link>{' '}
                <span class="hint">
                  {status} {due !== null && <Time value={due} />}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}
