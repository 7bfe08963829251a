import type { CustomField } from 'latitude/client';
import { Link } from '../../components/link.js';
import type { Column } from '../../components/table.js';
import { Value } from '../../components/text.js';
import { PagedListPage } from '../../lists/paged-list-page.js';
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
  return (
    <PagedListPage
      view="fields"
      scope="fields:write"
      texts={texts.fields}
      columns={COLUMNS}
      read={(client, page, signal) => client.customFields.list({ page }, { signal })}
    />
  );
}
