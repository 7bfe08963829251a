import type {
  CursorPage,
  LatitudeClient,
  LeadListItem,
  Task,
  WithDeletedAt,
} from 'latitude/client';
import { leadName } from '../../components/lead-name.js';
import type { Column } from '../../components/table.js';
import { Value } from '../../components/text.js';
import { texts } from '../../texts.js';
import { DueDate } from '../tasks/task-fields.js';

type Deleted<T> = T & WithDeletedAt & { id: string };

/** A kind of records that can be restored. */
export interface DeletedKind<T> {
  /** As in the addresses of its views. */
  readonly name: 'leads' | 'tasks';
  readonly label: string;
  readonly read: 'leads:read' | 'tasks:read';
  readonly write: 'leads:write' | 'tasks:write';
  readonly columns: readonly Column<Deleted<T>>[];
  readonly titleOf: (record: Deleted<T>) => string;
  readonly list: (
    client: LatitudeClient,
    query: { after?: string; limit: number },
    signal: AbortSignal,
  ) => Promise<CursorPage<Deleted<T>>>;
  readonly restore: (client: LatitudeClient, id: string) => Promise<unknown>;
}

const ofLead = texts.leads.labels;
const ofTask = texts.tasks.labels;

export const DELETED_LEADS: DeletedKind<LeadListItem> = {
  name: 'leads',
  label: texts.leads.title,
  read: 'leads:read',
  write: 'leads:write',
  columns: [
    { name: 'name', label: texts.leads.name, cell: (lead) => <bdi>{leadName(lead)}</bdi> },
    ...(['email', 'phone', 'company'] as const).map((name) => ({
      name,
      label: ofLead[name],
      cell: (lead: LeadListItem) => <Value value={lead[name]} />,
    })),
  ],
  titleOf: leadName,
  list: (client, query, signal) => client.leads.deleted(query, { signal }),
  restore: (client, id) => client.leads.restore(id),
};

export const DELETED_TASKS: DeletedKind<Task> = {
  name: 'tasks',
  label: texts.tasks.title,
  read: 'tasks:read',
  write: 'tasks:write',
  columns: [
    { name: 'title', label: ofTask.title, cell: ({ title }) => <Value value={title} /> },
    {
      name: 'status',
      label: ofTask.status,
      cell: ({ status }) => texts.tasks.values[status] ?? status,
    },
    { name: 'due_date', label: ofTask.due_date, cell: (task) => <DueDate task={task} /> },
  ],
  titleOf: ({ title }) => title,
  list: (client, query, signal) => client.tasks.deleted(query, { signal }),
  restore: (client, id) => client.tasks.restore(id),
};
