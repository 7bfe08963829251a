import { randomUUID } from 'node:crypto';
import type { Scope } from '../platform/access/scopes.js';
import type { Answer, ApiClient } from './api-client.js';
import { buildLead, createLead, dataOf, LEADS } from './factories.js';
import type { Tenant } from './test-server.js';

type Body = Record<string, unknown>;

/** A resource with the five standard routes. */
interface Resource {
  readonly path: string;
  readonly read: Scope;
  readonly write: Scope;
  /** A valid body for POST, which never conflicts with an earlier one. */
  readonly creation: (tenant: Tenant) => Body | Promise<Body>;
  /** A valid body for PUT. */
  readonly changes: Body;
  /** Scopes that a key needs for these bodies in addition to that of the route. */
  readonly needs?: readonly Scope[];
  /** Whether changes of its records are events. Default: true. */
  readonly hasEvents?: boolean;
}

/** One route of the API, as the shared suites call it. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path pattern, such as `/api/v1/leads/:id`. */
  readonly pattern: string;
  /** The scope that a key needs. */
  readonly access: Scope | 'any-key';
  /** Scopes that a key needs in addition to that of the route. */
  readonly needs?: readonly Scope[];
  /** The query that a request needs. */
  readonly query?: string;
  /** A valid body, on routes that take one. */
  readonly body?: (tenant: Tenant) => Body | Promise<Body>;
  /** The status of a success. Default: 201 for a POST, otherwise 200. */
  readonly status?: number;
  /** Creates a record of a tenant and returns its id, for routes with `:id`. */
  readonly makeRecord?: (tenant: Tenant) => Promise<string>;
  /** Creates a record that the list contains, for lists. */
  readonly listed?: (tenant: Tenant) => Promise<string>;
}

/** The resources of the API. An entry here adds a resource to every shared suite. */
const RESOURCES: readonly Resource[] = [
  {
    path: '/api/v1/leads',
    read: 'leads:read',
    write: 'leads:write',
    creation: () => buildLead(),
    changes: { first_name: 'Grace' },
  },
  {
    path: '/api/v1/appointments',
    read: 'appointments:read',
    write: 'appointments:write',
    creation: async ({ api }) => ({
      lead_id: (await createLead(api)).id,
      start_time: '2026-05-04T09:00:00Z',
      end_time: '2026-05-04T10:00:00Z',
    }),
    changes: { location: 'Room 2' },
  },
  {
    path: '/api/v1/tasks',
    read: 'tasks:read',
    write: 'tasks:write',
    creation: async ({ api }) => ({
      title: 'Call',
      contact_id: (await createLead(api)).id,
      assigned_to_user_id: randomUUID(),
    }),
    changes: { title: 'Call again' },
  },
  {
    path: '/api/v1/resources',
    read: 'appointments:read',
    write: 'resources:write',
    creation: () => ({ name: 'Crew 1', user_id: randomUUID() }),
    changes: { name: 'Crew 2' },
  },
  {
    path: '/api/v1/webhooks',
    read: 'webhooks:read',
    write: 'webhooks:write',
    creation: buildWebhook,
    changes: { description: 'Newsletter' },
    needs: ['tasks:read'],
    hasEvents: false,
  },
];

const HOLDS = '/api/v1/holds';
const KEYS = '/api/v1/keys';
const GRANTS = '/api/v1/grants';
const RESOURCE = '/api/v1/resources/:id';

/** The delivery of each webhook that a route was made for. */
const DELIVERIES = new Map<string, string>();

/** The calendar of each resource that a route was made for. */
const CALENDARS = new Map<string, string>();

/** Routes to which the suites of the standard routes do not apply. */
export const FURTHER_ROUTES: readonly (Route & Required<Pick<Route, 'makeRecord'>>)[] = [
  { method: 'GET', pattern: `${LEADS}/imports/:id`, access: 'leads:read', makeRecord: importLeads },
  ...['rejected', 'results'].map((name) => ({
    method: 'GET' as const,
    pattern: `${LEADS}/imports/:id/${name}`,
    access: 'leads:read' as const,
    makeRecord: importLeads,
  })),
  {
    method: 'POST',
    pattern: `${LEADS}/imports/:id/cancel`,
    access: 'leads:write',
    needs: ['leads:read'],
    makeRecord: importLeads,
  },
  route('GET', 'deliveries', 'webhooks:read', async (tenant) => {
    return (await createDelivery(tenant)).webhook_id;
  }),
  route('POST', 'rotate-secret', 'webhooks:write', createWebhook),
  route('POST', 'test', 'webhooks:write', createWebhook),
  route('POST', 'deliveries/:delivery_id/redeliver', 'webhooks:write', async (tenant) => {
    const { id, webhook_id } = await createDelivery(tenant);
    DELIVERIES.set(webhook_id, id);
    return webhook_id;
  }),
  ...(['GET', 'DELETE'] as const).map((method) => ({
    method,
    pattern: `${HOLDS}/:id`,
    access: 'appointments:write' as const,
    makeRecord: createHold,
  })),
  {
    method: 'POST',
    pattern: `${RESOURCE}/calendar`,
    access: 'resources:write',
    needs: ['appointments:read'],
    makeRecord: createResource,
    body: () => ({ details: false }),
  },
  {
    method: 'GET',
    pattern: `${RESOURCE}/calendars`,
    access: 'appointments:read',
    makeRecord: resourceWithCalendar,
  },
  {
    method: 'GET',
    pattern: `${RESOURCE}/calendars/:calendar_id`,
    access: 'appointments:read',
    makeRecord: resourceWithCalendar,
  },
  {
    method: 'DELETE',
    pattern: `${RESOURCE}/calendars/:calendar_id`,
    access: 'resources:write',
    makeRecord: resourceWithCalendar,
  },
  {
    method: 'POST',
    pattern: `${LEADS}/:id/erase`,
    access: 'leads:erase',
    makeRecord: async ({ api }) => (await createLead(api)).id,
  },
  restoreRoute('leads'),
  restoreRoute('tasks'),
];

/** The standard routes that require a key. */
export const ROUTES: readonly Route[] = [
  { method: 'GET', pattern: '/api/v1/me', access: 'any-key' },
  { method: 'GET', pattern: '/api/v1/organization', access: 'any-key' },
  { method: 'GET', pattern: '/api/v1/events', access: 'events:read' },
  ...RESOURCES.flatMap(routesOf),
  { method: 'GET', pattern: `${LEADS}/export`, access: 'leads:read' },
  { method: 'GET', pattern: `${LEADS}/duplicates`, access: 'leads:read' },
  { method: 'GET', pattern: `${LEADS}/imports`, access: 'leads:read', listed: importLeads },
  {
    method: 'POST',
    pattern: `${LEADS}/upsert`,
    access: 'leads:write',
    needs: ['leads:read'],
    body: () => ({ match_on: ['email'], data: buildLead(), mode: 'create_or_update' }),
  },
  {
    method: 'POST',
    pattern: `${LEADS}/:id/merge`,
    status: 200,
    access: 'leads:write',
    needs: ['leads:read'],
    makeRecord: async ({ api }) => (await createLead(api)).id,
    body: async ({ api }) => ({ lead_id: (await createLead(api)).id }),
  },
  { method: 'POST', pattern: HOLDS, access: 'appointments:write', body: buildHold },
  {
    method: 'GET',
    pattern: `${LEADS}/:id/personal-data`,
    access: 'leads:read',
    needs: ['appointments:read', 'tasks:read', 'events:read', 'webhooks:read'],
    makeRecord: async ({ api }) => (await createLead(api)).id,
  },
];

/** The routes of batches. */
export const BATCH_ROUTES: readonly Route[] = ['leads', 'appointments', 'tasks', 'resources'].map(
  batchRoute,
);

/** The routes of counts. */
export const COUNT_ROUTES = ['leads', 'appointments', 'tasks'].map((name): Route => {
  const { path, read: access } = resourceOf(name);
  return { method: 'GET', pattern: `${path}/counts`, access, query: 'by=status' };
});

/** The routes whose body is a file. */
export const FILE_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    pattern: `${LEADS}/imports`,
    access: 'leads:write',
    needs: ['leads:read'],
  },
];

/** The routes of keys with an id. */
export const KEY_ROUTES: readonly (Route & Required<Pick<Route, 'makeRecord'>>)[] = [
  { method: 'GET', pattern: `${KEYS}/:id`, access: 'keys:read', makeRecord: createKey },
  { method: 'DELETE', pattern: `${KEYS}/:id`, access: 'keys:write', makeRecord: createKey },
  {
    ...{ method: 'POST', pattern: `${KEYS}/:id/rotate`, access: 'keys:write' },
    ...{ makeRecord: createKey, body: () => ({ overlap_seconds: 60 }) },
  },
];

const FIELDS = '/api/v1/custom-fields';

/** The routes of definitions of custom fields with an id. */
export const FIELD_ROUTES: readonly (Route & Required<Pick<Route, 'makeRecord'>>)[] = [
  { method: 'GET', pattern: `${FIELDS}/:id`, access: 'leads:read', makeRecord: createField },
  { method: 'DELETE', pattern: `${FIELDS}/:id`, access: 'fields:write', makeRecord: createField },
  {
    ...{ method: 'PUT', pattern: `${FIELDS}/:id`, access: 'fields:write' },
    ...{ makeRecord: createField, body: () => ({ label: 'Age' }) },
  },
];

const ORGANIZATIONS = '/api/v1/organizations';

/** The routes that require the key of an operator. */
export const OPERATOR_ROUTES = [
  { method: 'GET', pattern: ORGANIZATIONS, access: 'operator' },
  { method: 'POST', pattern: ORGANIZATIONS, access: 'operator' },
  { method: 'GET', pattern: `${ORGANIZATIONS}/:id`, access: 'operator' },
  { method: 'PUT', pattern: `${ORGANIZATIONS}/:id`, access: 'operator' },
  { method: 'POST', pattern: `${ORGANIZATIONS}/:id/keys`, access: 'operator' },
  { method: 'GET', pattern: `${ORGANIZATIONS}/:id/keys`, access: 'operator' },
  { method: 'PUT', pattern: `${ORGANIZATIONS}/:id/keys/:key_id`, access: 'operator' },
  { method: 'POST', pattern: `${ORGANIZATIONS}/:id/first-key/replace`, access: 'operator' },
] as const;

/** All routes that require a key of an organization. routes.spec.ts compares the list with the application. */
export const ALL_ROUTES = [
  ...ROUTES,
  ...FURTHER_ROUTES,
  ...BATCH_ROUTES,
  ...COUNT_ROUTES,
  { method: 'GET', pattern: '/api/v1/availability', access: 'appointments:read' },
  ...FILE_ROUTES,
  ...KEY_ROUTES,
  ...FIELD_ROUTES,
  { method: 'GET', pattern: FIELDS, access: 'leads:read' },
  { method: 'POST', pattern: FIELDS, access: 'fields:write', body: buildField },
  {
    method: 'PUT',
    pattern: '/api/v1/organization',
    access: 'organization:write',
    body: () => ({ time_zone: 'Europe/Berlin' }),
  },
  { method: 'GET', pattern: '/api/v1/audit', access: 'audit:read' },
  { method: 'GET', pattern: KEYS, access: 'keys:read' },
  { method: 'GET', pattern: GRANTS, access: 'keys:read' },
  { method: 'GET', pattern: `${GRANTS}/:id`, access: 'keys:read', makeRecord: unknownGrant },
  {
    method: 'PUT',
    pattern: `${GRANTS}/:id`,
    access: 'keys:write',
    makeRecord: unknownGrant,
    body: () => ({ confirmations: 'never' }),
  },
  { method: 'DELETE', pattern: `${GRANTS}/:id`, access: 'keys:write', makeRecord: unknownGrant },
  { method: 'POST', pattern: KEYS, access: 'keys:write', body: buildKey },
] satisfies readonly Route[];

export const RECORD_ROUTES = ROUTES.filter(
  (route): route is Route & Required<Pick<Route, 'makeRecord'>> => route.makeRecord !== undefined,
);

export const LIST_ROUTES = ROUTES.filter(
  (route): route is Route & Required<Pick<Route, 'listed'>> => route.listed !== undefined,
);

export const SCOPED_ROUTES = ROUTES.filter(
  (route): route is Route & { access: Scope } => route.access !== 'any-key',
);

/** The path and body of a valid request about a record of the tenant. */
export interface ValidRequest {
  readonly path: string;
  readonly body?: Body;
}

/** The status of a successful request. */
export function statusOf({ method, status = method === 'POST' ? 201 : 200 }: Route): number {
  return status;
}

export async function validRequest(route: Route, tenant: Tenant): Promise<ValidRequest> {
  const id = await route.makeRecord?.(tenant);
  return { path: pathOf(route, id), body: await route.body?.(tenant) };
}

export function pathOf({ pattern }: Route, id = ''): string {
  return pattern
    .replace(':id', id)
    .replace(':delivery_id', () => DELIVERIES.get(id.toLowerCase()) ?? id)
    .replace(':calendar_id', () => CALENDARS.get(id.toLowerCase()) ?? id);
}

async function createResource({ api }: Tenant): Promise<string> {
  return dataOf<{ id: string }>(await api.post('/api/v1/resources', { name: 'Crew 1' }), 201).id;
}

/** Creates a resource with a calendar. */
export async function createCalendar(tenant: Tenant): Promise<{ id: string; resource_id: string }> {
  const path = `/api/v1/resources/${await createResource(tenant)}/calendar`;
  return dataOf(await tenant.api.post(path, {}), 201);
}

async function resourceWithCalendar(tenant: Tenant): Promise<string> {
  const { id, resource_id } = await createCalendar(tenant);
  CALENDARS.set(resource_id, id);
  return resource_id;
}

/** Creates a webhook with the delivery of a test event. */
export async function createDelivery(tenant: Tenant): Promise<{ id: string; webhook_id: string }> {
  const path = `/api/v1/webhooks/${await createWebhook(tenant)}/test`;
  return dataOf(await tenant.api.post(path, undefined), 202);
}

async function createWebhook({ api }: Tenant): Promise<string> {
  return dataOf<{ id: string }>(await api.post('/api/v1/webhooks', buildWebhook()), 201).id;
}

async function buildHold({ api }: Tenant): Promise<Body> {
  const resource = await api.post('/api/v1/resources', { name: 'Crew 1' });
  const times = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };
  return { resource_id: dataOf<{ id: string }>(resource, 201).id, ...times, seconds: 900 };
}

export async function createHold(tenant: Tenant): Promise<string> {
  const hold = await tenant.api.post(HOLDS, await buildHold(tenant));
  return dataOf<{ id: string }>(hold, 201).id;
}

/** Only people create grants. */
function unknownGrant(): Promise<string> {
  return Promise.resolve(randomUUID());
}

async function createKey({ api }: Tenant): Promise<string> {
  return dataOf<{ id: string }>(await api.post(KEYS, buildKey()), 201).id;
}

async function createField({ api }: Tenant): Promise<string> {
  return dataOf<{ id: string }>(await api.post(FIELDS, buildField()), 201).id;
}

function buildField(): Body {
  return { key: randomUUID(), type: 'number', filterable: true };
}

function buildKey(): Body {
  return { name: 'Made by a test', scopes: ['leads:read'] };
}

/** Creates an import that has ended, so that it neither changes nor delays another one. */
async function importLeads({ api }: Tenant): Promise<string> {
  const headers = { 'Content-Type': 'text/csv' };
  const answer = await api.post(`${LEADS}/imports`, 'first_name,email', { headers });
  const { id } = dataOf<{ id: string }>(answer, 202);
  dataOf(await api.post(`${LEADS}/imports/${id}/cancel`, undefined));
  return id;
}

/** The body of a webhook whose receiver does not exist, for events that the suites do not cause. */
function buildWebhook(): Body {
  return { url: `https://receiver.invalid/${randomUUID()}`, types: ['task.completed'] };
}

function route(
  method: Route['method'],
  path: string,
  access: Scope,
  makeRecord: (tenant: Tenant) => Promise<string>,
) {
  return { method, pattern: `/api/v1/webhooks/:id/${path}`, access, makeRecord };
}

/** Sends a request with the key of the client. */
export function send(
  api: ApiClient,
  { method }: Route,
  { path, body }: ValidRequest,
  headers?: Record<string, string>,
): Promise<Answer> {
  return api.request(method, path, { body, headers });
}

/** The route of batches of a resource, with a batch that creates one record. */
function batchRoute(name: string): Route {
  const { path, write, creation } = resourceOf(name);
  const body = async (tenant: Tenant) => {
    return { items: [{ action: 'create', data: await creation(tenant) }] };
  };
  return { method: 'POST', pattern: `${path}/batch`, access: write, body };
}

/** The route that restores a deleted record of a resource. */
function restoreRoute(name: string): (typeof FURTHER_ROUTES)[number] {
  const { path, write, creation } = resourceOf(name);
  const makeRecord = async (tenant: Tenant) => {
    const { id } = dataOf<{ id: string }>(await tenant.api.post(path, await creation(tenant)), 201);
    dataOf(await tenant.api.delete(`${path}/${id}`));
    return id;
  };
  return { method: 'POST', pattern: `${path}/:id/restore`, status: 200, access: write, makeRecord };
}

function resourceOf(name: string): Resource {
  return RESOURCES.find((one) => one.path.endsWith(`/${name}`))!;
}

/** The name of a route in test titles. */
export function routeName({ method, pattern }: Pick<Route, 'method' | 'pattern'>): string {
  return `${method} ${pattern}`;
}

function routesOf(resource: Resource): Route[] {
  const { path, read, write, creation, changes, needs, hasEvents = true } = resource;
  const makeRecord = async (tenant: Tenant) => {
    const { id } = dataOf<{ id: string }>(await tenant.api.post(path, await creation(tenant)), 201);
    return id;
  };
  const record = { pattern: `${path}/:id`, makeRecord };
  const events: Route = {
    method: 'GET',
    pattern: `${path}/:id/events`,
    makeRecord,
    access: 'events:read',
  };
  return [
    { method: 'GET', pattern: path, access: read, listed: makeRecord },
    { method: 'POST', pattern: path, access: write, body: creation, needs },
    { method: 'GET', ...record, access: read },
    { method: 'PUT', ...record, access: write, body: () => changes, needs },
    { method: 'DELETE', ...record, access: write },
    ...(hasEvents ? [events] : []),
  ];
}
