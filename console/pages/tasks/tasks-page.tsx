import type { Task, TaskQuery } from 'latitude/client';
import { Link } from '../../components/link.js';
import { Page } from '../../components/page.js';
import type { FieldSpec } from '../../forms/kinds.js';
import { columnsOf, timeFilters } from '../../lists/columns.js';
import { type Parameters, searchIn } from '../../lists/list-state.js';
import { type ListColumn, RecordList } from '../../lists/record-list.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';
import { leadColumn, type WithLead } from '../leads/lead-column.js';
import { DueDate, PRIORITY, STATUS } from './task-fields.js';

type Row = Partial<Task> & WithLead & { id: string };

const { labels } = texts.tasks;

const filtersOf = (withLeads: boolean): readonly FieldSpec[] => [
  STATUS,
  PRIORITY,
  { name: 'contact_id', label: labels.contact_id, kind: withLeads ? 'lead' : 'text' },
  { name: 'assigned_to', label: labels.assigned_to_user_id, kind: 'text' },
  ...timeFilters(texts.tasks.times),
];

const { column, time } = columnsOf<Row, keyof Task & keyof typeof labels>(labels);

const COLUMNS: readonly ListColumn<Row>[] = [
  {
    ...column('title', true),
    cell: ({ id, title = '' }) => (
      <Link to={`tasks/${id}`}>
        <bdi>{title}</bdi>
      </Link>
    ),
  },
  { ...column('status', true), cell: ({ status = '' }) => texts.tasks.values[status] ?? status },
  {
    ...column('priority', true),
    sortBy: 'priority',
    cell: ({ priority = '' }) => texts.tasks.values[priority] ?? priority,
  },
  {
    ...column('due_date', true),
    sortBy: 'due_date',
    fields: ['due_date', 'status'],
    cell: (task) => <DueDate task={task} />,
  },
  leadColumn('contact_id', labels.contact_id),
  column('assigned_to_user_id'),
  column('description'),
  time('created_at', true),
  time('updated_at'),
];

const queryOf = (query: Parameters) => searchIn(['title'], query) as TaskQuery;

export function TasksPage() {
  const may = useMay();
  const withLeads = may('leads:read');
  const actions = may('tasks:write') && (
    <Link to="tasks/new" class="button primary">
      {texts.tasks.create}
    </Link>
  );
  return (
    <Page title={texts.tasks.title} actions={actions}>
      <RecordList<Row>
        caption={texts.tasks.title}
        columns={COLUMNS}
        filters={filtersOf(withLeads)}
        order={{ by: 'created_at', direction: 'desc' }}
        searchLabel={texts.tasks.search}
        takesFilter
        read={(client, query, options) => {
          const include = withLeads ? { include: 'lead' } : {};
          return client.tasks.list({ ...queryOf(query), ...include }, options);
        }}
        count={(client, query, options) =>
          client.tasks.counts({ ...queryOf(query), by: 'status' }, options)
        }
        empty={texts.tasks.empty}
        noMatch={texts.tasks.noMatch}
      />
    </Page>
  );
}
