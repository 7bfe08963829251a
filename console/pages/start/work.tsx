import { BarTable } from '../../components/bars.js';
import { Link } from '../../components/link.js';
import { useQuery } from '../../state/query.js';
import type { Query } from '../../state/router.js';
import { texts } from '../../texts.js';
import { addDays, dateOf, startOf } from '../appointments/days.js';
import { Part } from './part.js';

const DAYS = 7;

/** The appointments of the next seven days of each resource. */
export function NextAppointments() {
  const today = dateOf(new Date());
  const from = startOf(today).toISOString();
  const to = startOf(addDays(today, DAYS)).toISOString();
  const counts = useQuery(`appointments from ${from}`, async (client, signal) => {
    const filter = { status: { in: ['scheduled', 'confirmed'] } } as const;
    const window = { start_after: from, start_before: to };
    const query = { by: 'resource_id', ...window, filter } as const;
    const [{ data }, resources] = await Promise.all([
      client.appointments.counts(query, { signal }),
      client.resources.list({ limit: 100 }, { signal }),
    ]);
    const names = new Map(resources.data.map(({ id, name }) => [id, name]));
    return data.map(({ value, count }) => ({
      label: value === null ? texts.start.noResource : (names.get(String(value)) ?? String(value)),
      count,
      to: 'appointments/list',
      query: {
        ...window,
        sort: 'start_time:asc',
        filter: JSON.stringify(value === null ? { ...filter, resource_id: null } : filter),
        ...(value !== null && { resource_id: String(value) }),
      },
    }));
  });
  return (
    <Part
      title={texts.start.appointments}
      of={counts}
      isEmpty={(bars) => bars.length === 0}
      empty={texts.start.noAppointments}
    >
      {(bars) => (
        <BarTable caption={texts.start.appointments} label={texts.start.resource} bars={bars} />
      )}
    </Part>
  );
}

/** The tasks that are due and not done. */
export function OverdueTasks() {
  const filter = { status: { in: ['open', 'in_progress'] } } as const;
  const tasks = useQuery('overdue tasks', async (client, signal) => {
    const due = new Date().toISOString();
    const query = { by: 'status', due_before: due, filter } as const;
    const { meta } = await client.tasks.counts(query, { signal });
    return { due, total: meta.total };
  });
  return (
    <Part
      title={texts.start.overdue}
      of={tasks}
      isEmpty={({ total }) => total === 0}
      empty={texts.start.noOverdue}
    >
      {({ due, total }) => (
        <Count
          count={texts.start.tasks(total)}
          to="tasks"
          query={{ due_before: due, filter: JSON.stringify(filter) }}
        />
      )}
    </Part>
  );
}

/** How many webhooks are asked for failed deliveries. */
const MAX_WEBHOOKS = 10;

/** The failed deliveries of each webhook. */
export function FailedDeliveries() {
  const failed = useQuery('failed deliveries', async (client, signal) => {
    const { data } = await client.webhooks.list({ limit: MAX_WEBHOOKS }, { signal });
    const bars = data.map(async ({ id, url }) => {
      const query = { status: 'failed', limit: 1 } as const;
      const { meta } = await client.webhooks.deliveries(id, query, { signal });
      return { label: url, count: meta.total, to: `webhooks/${id}`, query: { status: 'failed' } };
    });
    return (await Promise.all(bars)).filter(({ count }) => count > 0);
  });
  return (
    <Part
      title={texts.start.failed}
      of={failed}
      isEmpty={(bars) => bars.length === 0}
      empty={texts.start.noFailed}
    >
      {(bars) => <BarTable caption={texts.start.failed} label={texts.start.webhook} bars={bars} />}
    </Part>
  );
}

/** The imports that are carried out now. */
export function RunningImports() {
  const imports = useQuery('running imports', async (client, signal) => {
    const query = { status: 'running', limit: 1 } as const;
    return (await client.leads.imports.list(query, { signal })).meta.total;
  });
  return (
    <Part
      title={texts.start.imports}
      of={imports}
      isEmpty={(total) => total === 0}
      empty={texts.start.noImports}
    >
      {(total) => <Count count={texts.start.running(total)} to="imports" />}
    </Part>
  );
}

function Count({ count, to, query }: { count: string; to: string; query?: Query }) {
  return (
    <p class="large">
      <Link to={to} query={query}>
        {count}
      </Link>
    </p>
  );
}
