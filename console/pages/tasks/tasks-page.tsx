import type { LeadListItem, Task, TaskQuery } from 'latitude/client';
import { Link } from '../../components/link.js';
import { Page } from '../../components/page.js';
import { Value } from '../../components/text.js';
import { Time } from '../../components/time.js';
import type { FieldSpec } from '../../forms/kinds.js';
import { type ListColumn, RecordList } from '../../lists/record-list.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';
import { nameOf } from '../leads/lead-fields.js';
import { DueDate, PRIORITY, STATUS } from './task-fields.js';

type Row = Partial<Task> & { id: string; lead?: LeadListItem | null };
type Parameters = Readonly<Record<string, string | number>>;

const { labels } = texts.tasks;

const TIMES = [
  ...['due_after', 'due_before', 'created_after', 'updated_after', 'updated_before'],
] as (keyof typeof texts.tasks.times)[];

const filtersOf = (withLeads: boolean): readonly FieldSpec[] => [
  STATUS,
  PRIORITY,
  { name: 'contact_id', label: labels.contact_id, kind: withLeads ? 'lead' : 'text' },
  { name: 'assigned_to', label: labels.assigned_to_user_id, kind: 'text' },
  ...TIMES.map((name) => ({ name, label: texts.tasks.times[name], kind: 'time' }) as const),
];

const column = (name: keyof Task & keyof typeof labels, isUsual = false): ListColumn<Row> => ({
  name,
  label: labels[name],
  fields: [name],
  isUsual,
  cell: (task) => <Value value={task[name]} />,
});

const time = (name: 'created_at' | 'updated_at', isUsual = false): ListColumn<Row> => ({
  ...column(name, isUsual),
  sortBy: name,
  cell: (task) => <Time value={task[name] ?? ''} />,
});

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
  {
    ...column('contact_id', true),
    cell: ({ contact_id: id, lead }) =>
      lead ? (
        <Link to={`leads/${lead.id}`}>
          <bdi>{nameOf(lead)}</bdi>
        </Link>
      ) : (
        <Value value={id} />
      ),
  },
  column('assigned_to_user_id'),
  column('description'),
  time('created_at', true),
  time('updated_at'),
];

/** Tasks have no search of their own: it is a condition on the title. */
function queryOf({ search, filter, ...others }: Parameters): TaskQuery {
  const ofTitle = search === undefined ? [] : [{ title: { contains: String(search) } }];
  const given = filter === undefined ? [] : [JSON.parse(String(filter)) as object];
  const all = [...given, ...ofTitle];
  return {
    ...others,
    ...(all.length > 0 && { filter: JSON.stringify({ and: all }) }),
  } as TaskQuery;
}

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
        read={async (client, query, signal) => {
          const include = withLeads ? { include: 'lead' } : {};
          return client.tasks.list({ ...queryOf(query), ...include }, { signal });
        }}
        count={async (client, query, signal) => {
          const { meta } = await client.tasks.counts(
            { ...queryOf(query), by: 'status' },
            { signal },
          );
          return meta.total;
        }}
        empty={texts.tasks.empty}
        noMatch={texts.tasks.noMatch}
      />
    </Page>
  );
}
