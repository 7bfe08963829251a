import type { Appointment, AppointmentQuery } from 'latitude/client';
import { Link } from '../../components/link.js';
import { Page } from '../../components/page.js';
import { Value } from '../../components/text.js';
import { Time } from '../../components/time.js';
import type { FieldSpec } from '../../forms/kinds.js';
import { columnsOf, timeFilters } from '../../lists/columns.js';
import { type Parameters, searchIn, useListState } from '../../lists/list-state.js';
import { type ListColumn, RecordList } from '../../lists/record-list.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';
import { leadColumn, type WithLead } from '../leads/lead-column.js';
import { STATUS, useResourceField } from './appointment-fields.js';
import { dateOf } from './days.js';
import { ViewSwitch } from './view-switch.js';

type Row = Partial<Appointment> & WithLead & { id: string };

const { labels, statuses, bookedBy } = texts.appointments;

const { column, time } = columnsOf<Row, keyof Appointment & keyof typeof labels>(labels);

const columnsWith = (resource: FieldSpec): readonly ListColumn<Row>[] => [
  {
    ...time('start_time', true),
    cell: ({ id, start_time: start = '' }) => (
      <Link to={`appointments/${id}`}>
        <Time value={start} />
      </Link>
    ),
  },
  { ...time('end_time'), sortBy: undefined },
  leadColumn('lead_id', labels.lead_id),
  column('type', true),
  { ...column('status', true), cell: ({ status }) => status && statuses[status] },
  {
    ...column('resource_id', true),
    cell: ({ resource_id: id }) => {
      const name = resource.options?.find(({ value }) => value === id)?.label;
      if (!id || name === undefined) return <Value value={id} />;
      return (
        <Link to={`resources/${id}`}>
          <bdi>{name}</bdi>
        </Link>
      );
    },
  },
  column('location', true),
  column('outcome'),
  column('outcome_notes'),
  column('notes'),
  { ...column('booked_by'), cell: ({ booked_by: by }) => by && bookedBy[by] },
  time('created_at'),
  time('updated_at'),
];

const filtersWith = (resource: FieldSpec, withLeads: boolean): readonly FieldSpec[] => [
  STATUS,
  { name: 'type', label: labels.type, kind: 'text' },
  resource,
  { name: 'lead_id', label: labels.lead_id, kind: withLeads ? 'lead' : 'text' },
  ...timeFilters(texts.appointments.times),
];

const queryOf = (query: Parameters) => searchIn(['type', 'location'], query) as AppointmentQuery;

const ORDER = { by: 'start_time', direction: 'desc' } as const;

/** All appointments, also those without a resource and those that were cancelled. */
export function AppointmentsPage() {
  const withLeads = useMay()('leads:read');
  const resource = useResourceField();
  const { filters } = useListState(ORDER);
  const start = new Date(filters.get('start_after') ?? '');
  const other = {
    date: Number.isNaN(start.getTime()) ? undefined : dateOf(start),
    resource: filters.get('resource_id'),
  };
  return (
    <Page title={texts.appointments.title}>
      <ViewSwitch isList other={other} />
      <RecordList<Row>
        caption={texts.appointments.title}
        columns={columnsWith(resource)}
        filters={filtersWith(resource, withLeads)}
        order={ORDER}
        searchLabel={texts.appointments.search}
        takesFilter
        read={(client, query, options) => {
          const include = withLeads ? { include: 'lead' } : {};
          return client.appointments.list({ ...queryOf(query), ...include }, options);
        }}
        count={(client, query, options) =>
          client.appointments.counts({ ...queryOf(query), by: 'status' }, options)
        }
        empty={texts.appointments.empty}
        noMatch={texts.appointments.noMatch}
      />
    </Page>
  );
}
