import type { LatitudeClient, Me, Page as ListPage } from 'latitude/client';
import { Link } from '../components/link.js';
import { Loaded } from '../components/loaded.js';
import { Page } from '../components/page.js';
import { Pager } from '../components/pager.js';
import { type Column, Table } from '../components/table.js';
import { useQuery } from '../state/query.js';
import { useRoute } from '../state/router.js';
import { useMay } from '../state/session.js';
import { nextOf } from './list-state.js';

interface PagedListPageProps<Row> {
  /** The view of the list. Below it, `new` creates a record. */
  readonly view: string;
  /** The scope that creates records. */
  readonly scope: Me['scopes'][number];
  readonly texts: { readonly title: string; readonly create: string; readonly empty: string };
  readonly columns: readonly Column<Row>[];
  readonly read: (
    client: LatitudeClient,
    page: number,
    signal: AbortSignal,
  ) => Promise<ListPage<Row>>;
}

/** A short list that is read by page number, without search, filters or order. */
export function PagedListPage<Row extends { readonly id: string }>({
  view,
  scope,
  texts,
  columns,
  read,
}: PagedListPageProps<Row>) {
  const may = useMay();
  const from = useRoute().query.get('from') ?? undefined;
  const page = Number(from ?? 1);
  const result = useQuery(`${view} ${page}`, (client, signal) => read(client, page, signal));
  const actions = may(scope) && (
    <Link to={`${view}/new`} class="button primary">
      {texts.create}
    </Link>
  );
  return (
    <Page title={texts.title} actions={actions}>
      <Loaded of={result} isEmpty={({ data }) => data.length === 0} empty={texts.empty}>
        {({ data, meta }) => (
          <>
            <Table caption={texts.title} columns={columns} rows={data} keyOf={({ id }) => id} />
            <Pager next={nextOf(meta)} isFurther={from !== undefined} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
