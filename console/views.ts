import type { Me } from 'latitude/client';
import type { ComponentType } from 'preact';
import { DuplicatesPage } from './pages/leads/duplicates-page.js';
import { MergePage } from './pages/leads/merge-page.js';
import { LeadPage } from './pages/leads/lead-page.js';
import { AccessPage } from './pages/access/access-page.js';
import { NewKeyPage } from './pages/access/new-key-page.js';
import { AppointmentsPage } from './pages/appointments/appointments-page.js';
import { AppointmentPage } from './pages/appointments/appointment-page.js';
import { ImportPage } from './pages/imports/import-page.js';
import { ImportsPage } from './pages/imports/imports-page.js';
import { NewImportPage } from './pages/imports/new-import-page.js';
import { SchedulePage } from './pages/appointments/schedule-page.js';
import { LeadsPage } from './pages/leads/leads-page.js';
import { NewLeadPage } from './pages/leads/new-lead-page.js';
import { StartPage } from './pages/start/start-page.js';
import { NewWebhookPage } from './pages/webhooks/new-webhook-page.js';
import { WebhookPage } from './pages/webhooks/webhook-page.js';
import { WebhooksPage } from './pages/webhooks/webhooks-page.js';
import { NewResourcePage, ResourcePage } from './pages/resources/resource-pages.js';
import { ResourcesPage } from './pages/resources/resources-page.js';
import { FieldPage, NewFieldPage } from './pages/fields/field-pages.js';
import { FieldsPage } from './pages/fields/fields-page.js';
import { EventsPage } from './pages/events/events-page.js';
import { NewTaskPage } from './pages/tasks/new-task-page.js';
import { TaskPage } from './pages/tasks/task-page.js';
import { TasksPage } from './pages/tasks/tasks-page.js';
import { TrashPage } from './pages/trash/trash-page.js';
import { texts } from './texts.js';

export interface ViewProps {
  /** The parts of the address, such as `['leads', ID]`. */
  readonly segments: readonly string[];
}

type Scope = Me['scopes'][number];

export interface View {
  /** The first parts of the address; `:id` stands for any. */
  readonly path: string;
  readonly component: ComponentType<ViewProps>;
  /** The scope without which the view is not shown; of several, any. */
  readonly scope?: Scope | readonly Scope[];
  /** The name in the navigation; views without one are reached from others. */
  readonly label?: string;
}

/** The views of the console. Those of the navigation are in the order in which people work. */
export const VIEWS: readonly View[] = [
  { path: '', component: StartPage, label: texts.start.title },
  { path: 'leads', component: LeadsPage, label: texts.leads.title, scope: 'leads:read' },
  { path: 'leads/new', component: NewLeadPage, scope: 'leads:write' },
  { path: 'leads/duplicates', component: DuplicatesPage, scope: 'leads:read' },
  { path: 'leads/:id/merge', component: MergePage, scope: 'leads:write' },
  { path: 'leads/:id', component: LeadPage, scope: 'leads:read' },
  {
    path: 'appointments',
    component: SchedulePage,
    scope: 'appointments:read',
    label: texts.appointments.title,
  },
  { path: 'appointments/list', component: AppointmentsPage, scope: 'appointments:read' },
  { path: 'appointments/:id', component: AppointmentPage, scope: 'appointments:read' },
  { path: 'tasks', component: TasksPage, label: texts.tasks.title, scope: 'tasks:read' },
  { path: 'tasks/new', component: NewTaskPage, scope: 'tasks:write' },
  { path: 'tasks/:id', component: TaskPage, scope: 'tasks:read' },
  { path: 'imports', component: ImportsPage, scope: 'leads:read', label: texts.imports.title },
  { path: 'imports/new', component: NewImportPage, scope: 'leads:write' },
  { path: 'imports/:id', component: ImportPage, scope: 'leads:read' },
  { path: 'events', component: EventsPage, scope: 'events:read', label: texts.events.title },
  {
    path: 'webhooks',
    component: WebhooksPage,
    scope: 'webhooks:read',
    label: texts.webhooks.title,
  },
  { path: 'webhooks/new', component: NewWebhookPage, scope: 'webhooks:write' },
  { path: 'webhooks/:id', component: WebhookPage, scope: 'webhooks:read' },
  { path: 'fields', component: FieldsPage, scope: 'leads:read', label: texts.fields.title },
  { path: 'fields/new', component: NewFieldPage, scope: 'fields:write' },
  { path: 'fields/:id', component: FieldPage, scope: 'leads:read' },
  {
    path: 'resources',
    component: ResourcesPage,
    scope: 'appointments:read',
    label: texts.resources.title,
  },
  { path: 'resources/new', component: NewResourcePage, scope: 'resources:write' },
  { path: 'resources/:id', component: ResourcePage, scope: 'appointments:read' },
  { path: 'access', component: AccessPage, scope: 'keys:read', label: texts.access.title },
  { path: 'access/new', component: NewKeyPage, scope: 'keys:write' },
  {
    path: 'trash',
    component: TrashPage,
    scope: ['leads:read', 'tasks:read'],
    label: texts.trash.title,
  },
];

/** The scopes of which the key has none, although the view needs one. */
export function missingScopes({ scope }: View, may: (scope: Scope) => boolean): readonly Scope[] {
  const scopes = [scope ?? []].flat();
  return scopes.some(may) ? [] : scopes;
}

export function viewOf(segments: readonly string[]): View | undefined {
  return VIEWS.find(({ path }) => {
    const parts = path.split('/').filter((part) => part !== '');
    return (
      parts.length === segments.length &&
      parts.every((part, index) => part === ':id' || part === segments[index])
    );
  });
}
