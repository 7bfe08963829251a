import type { CustomField } from 'latitude/client';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Pager } from '../../components/pager.js';
import { type Column, Table } from '../../components/table.js';
import { Value } from '../../components/text.js';
import { nextOf } from '../../lists/list-state.js';
import { useQuery } from '../../state/query.js';
import { useRoute } from '../../state/router.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';

const { labels, types } = texts.fields;

const COLUMNS: readonly Column<CustomField>[] = [
  {
    name: 'key',
    label: labels.key,
    cell: ({ id, key }) => (
      <Link to={`fields/${id}`}>
        <bdi>{key}</bdi>
      </Link>
    ),
  },
  { name: 'label', label: labels.label, cell: ({ label }) => <Value value={label} /> },
  { name: 'type', label: labels.type, cell: ({ type }) => types[type] },
  ...(['required', 'unique', 'filterable'] as const).map((name) => ({
    name,
    label: labels[name],
    cell: (field: CustomField) => <Value value={field[name]} />,
  })),
];

/** The definitions of the custom fields of leads. */
export function FieldsPage() {
  const may = useMay();
  const from = useRoute().query.get('from') ?? undefined;
  const page = Number(from ?? 1);
  const result = useQuery(`fields ${page}`, (client, signal) =>
    client.customFields.list({ page }, { signal }),
  );
  const actions = may('fields:write') && (
    <Link to="fields/new" class="button primary">
      {texts.fields.create}
    </Link>
  );
  return (
    <Page title={texts.fields.title} actions={actions}>
      <Loaded of={result} isEmpty={({ data }) => data.length === 0} empty={texts.fields.empty}>
        {({ data, meta }) => (
          <>
            <Table
              caption={texts.fields.title}
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
