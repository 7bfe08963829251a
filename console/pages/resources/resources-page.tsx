import type { BookableResource } from 'latitude/client';
import { Link } from '../../components/link.js';
import type { Column } from '../../components/table.js';
import { Value } from '../../components/text.js';
import { Time } from '../../components/time.js';
import { PagedListPage } from '../../lists/paged-list-page.js';
import { texts } from '../../texts.js';
import { HOURS } from './hours.js';

const { labels } = texts.resources;

const COLUMNS: readonly Column<BookableResource>[] = [
  {
    name: 'name',
    label: labels.name,
    cell: ({ id, name }) => (
      <Link to={`resources/${id}`}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  { name: 'time_zone', label: labels.time_zone, cell: ({ time_zone: zone }) => zone },
  {
    name: 'hours',
    label: labels.hours,
    cell: ({ hours }) => <Value value={HOURS.toRaw(hours)} />,
  },
  { name: 'active', label: labels.active, cell: ({ active }) => <Value value={active} /> },
  {
    name: 'created_at',
    label: labels.created_at,
    cell: (resource) => <Time value={resource.created_at} />,
  },
];

/** The resources whose time is booked. */
export function ResourcesPage() {
  return (
    <PagedListPage
      view="resources"
      scope="resources:write"
      texts={texts.resources}
      columns={COLUMNS}
      read={(client, page, signal) => client.resources.list({ page }, { signal })}
    />
  );
}
