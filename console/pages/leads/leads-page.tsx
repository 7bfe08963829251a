import type { CustomField, Lead, LeadQuery } from 'latitude/client';
import { leadName } from '../../components/lead-name.js';
import { ForeignLink, Link } from '../../components/link.js';
import { Page } from '../../components/page.js';
import { Value } from '../../components/text.js';
import type { FieldSpec } from '../../forms/kinds.js';
import { valueOf } from '../../forms/values.js';
import { columnsOf, timeFilters } from '../../lists/columns.js';
import { type ListColumn, RecordList } from '../../lists/record-list.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';
import { ExportButton } from './export-button.js';
import { LEAD_FIELDS, SOURCE, TEMPERATURE, useCustomFields } from './lead-fields.js';

type Row = Partial<Lead> & { id: string };

const { labels } = texts.leads;

const FILTERS: readonly FieldSpec[] = [
  { name: 'status', label: labels.status, kind: 'text' },
  TEMPERATURE,
  SOURCE,
  { name: 'tag', label: texts.leads.tag, kind: 'text' },
  { name: 'external_id', label: labels.external_id, kind: 'text' },
  ...timeFilters(texts.leads.times),
];

const NAME: ListColumn<Row> = {
  name: 'name',
  label: texts.leads.name,
  sortBy: 'first_name',
  fields: ['first_name', 'last_name'],
  isUsual: true,
  cell: (lead) => (
    <Link to={`leads/${lead.id}`}>
      <bdi>{leadName(lead)}</bdi>
    </Link>
  ),
};

const { column, time } = columnsOf<Row, keyof Lead & keyof typeof labels>(labels);

const COLUMNS: readonly ListColumn<Row>[] = [
  NAME,
  { ...column('last_name'), sortBy: 'last_name' },
  {
    ...column('email', true),
    cell: ({ email }) =>
      email ? <ForeignLink href={`mailto:${email}`}>{email}</ForeignLink> : texts.data.none,
  },
  column('phone', true),
  column('company', true),
  column('status', true),
  column('temperature', true),
  { ...column('lead_score', true), sortBy: 'lead_score', isNumber: true },
  time('created_at', true),
  time('updated_at'),
  ...LEAD_FIELDS.map(({ name }) => name as keyof Lead & keyof typeof labels)
    .filter(
      (name) => !['first_name', 'last_name', 'email', 'phone', 'company', 'status'].includes(name),
    )
    .filter((name) => name !== 'temperature')
    .map((name) => column(name)),
];

const customColumn = ({ key, label }: CustomField): ListColumn<Row> => ({
  name: `custom_fields.${key}`,
  label: label ?? key,
  fields: ['custom_fields'],
  cell: (lead) => <Value value={valueOf(lead, `custom_fields.${key}`)} />,
});

const ORDER = { by: 'created_at', direction: 'desc' } as const;

export function LeadsPage() {
  const may = useMay();
  const definitions = useCustomFields();
  const actions = (
    <>
      <ExportButton order={ORDER} />
      {may('leads:write') && (
        <Link to="leads/new" class="button primary">
          {texts.leads.create}
        </Link>
      )}
      <Link to="leads/duplicates" class="button">
        {texts.duplicates.title}
      </Link>
    </>
  );
  return (
    <Page title={texts.leads.title} actions={actions}>
      <RecordList<Row>
        caption={texts.leads.title}
        columns={[...COLUMNS, ...definitions.map(customColumn)]}
        filters={FILTERS}
        order={ORDER}
        searchLabel={texts.leads.search}
        takesFilter
        read={(client, query, options) => client.leads.list(query as LeadQuery, options)}
        count={(client, query, options) => client.leads.counts({ ...query, by: 'status' }, options)}
        empty={texts.leads.empty}
        noMatch={texts.leads.noMatch}
      />
    </Page>
  );
}
