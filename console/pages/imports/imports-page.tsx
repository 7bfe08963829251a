import type { LeadImport } from 'latitude/client';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Pager } from '../../components/pager.js';
import { type Column, Table } from '../../components/table.js';
import { Time } from '../../components/time.js';
import { nextOf } from '../../lists/list-state.js';
import { useQuery } from '../../state/query.js';
import { useRoute } from '../../state/router.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';

const words = texts.imports;

const count = (name: 'lines' | 'rejected', label: string): Column<LeadImport> => ({
  name,
  label,
  isNumber: true,
  cell: (one) => one[name].toLocaleString('en'),
});

const COLUMNS: readonly Column<LeadImport>[] = [
  {
    name: 'created_at',
    label: words.startedAt,
    cell: ({ id, created_at: time }) => (
      <Link to={`imports/${id}`}>
        <Time value={time} />
      </Link>
    ),
  },
  {
    name: 'status',
    label: words.status,
    cell: ({ status, dry_run: isDryRun }) => (
      <>
        {words.statuses[status]} {isDryRun && words.checked}
      </>
    ),
  },
  count('lines', words.lines),
  count('rejected', words.counts.rejected),
];

/** The imports of the last days. */
export function ImportsPage() {
  const mayWrite = useMay()('leads:write');
  const from = useRoute().query.get('from') ?? undefined;
  const page = Number(from ?? 1);
  const result = useQuery(`imports ${page}`, (client, signal) =>
    client.leads.imports.list({ page }, { signal }),
  );
  const actions = mayWrite && (
    <Link to="imports/new" class="button primary">
      {words.create}
    </Link>
  );
  return (
    <Page title={words.title} actions={actions}>
      <Loaded of={result} isEmpty={({ data }) => data.length === 0} empty={words.empty}>
        {({ data, meta }) => (
          <>
            <Table caption={words.title} columns={COLUMNS} rows={data} keyOf={({ id }) => id} />
            <Pager next={nextOf(meta)} isFurther={from !== undefined} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
