import type { BookableResource } from 'latitude/client';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Pager } from '../../components/pager.js';
import { type Column, Table } from '../../components/table.js';
import { Value } from '../../components/text.js';
import { Time } from '../../components/time.js';
import { nextOf } from '../../lists/list-state.js';
import { useQuery } from '../../state/query.js';
import { useRoute } from '../../state/router.js';
import { useMay } from '../../state/session.js';
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
  const may = useMay();
  const from = useRoute().query.get('from') ?? undefined;
  const page = Number(from ?? 1);
  const result = useQuery(`resources ${page}`, (client, signal) =>
    client.resources.list({ page }, { signal }),
  );
  const actions = may('resources:write') && (
    <Link to="resources/new" class="button primary">
      {texts.resources.create}
    </Link>
  );
  return (
    <Page title={texts.resources.title} actions={actions}>
      <Loaded of={result} isEmpty={({ data }) => data.length === 0} empty={texts.resources.empty}>
        {({ data, meta }) => (
          <>
            <Table
              caption={texts.resources.title}
              columns={COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
            />
            <Pager next={nextOf(meta)} isFurther={from !== undefined} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
