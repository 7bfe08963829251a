import { randomUUID } from 'node:crypto';
import type { Scope } from '../auth/scopes.js';
import type { Answer, ApiClient } from './api-client.js';
import { buildLead, createLead, dataOf } from './factories.js';
import type { Tenant } from './test-server.js';

type Body = Record<string, unknown>;

/** A kind of record with the five routes that every one has. */
interface Resource {
  readonly path: string;
  readonly read: Scope;
  readonly write: Scope;
  /** A valid body of a POST, twice never the same record. */
  readonly creation: (tenant: Tenant) => Body | Promise<Body>;
  /** A valid body of a PUT. */
  readonly changes: Body;
}

/** One route of the API, as the shared suites call it. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path as the application registers it. */
  readonly pattern: string;
  /** What a key needs. */
  readonly access: Scope | 'any-key';
  /** A valid body, on routes that take one. */
  readonly body?: (tenant: Tenant) => Body | Promise<Body>;
  /** Makes a record of a tenant and answers its id, on routes with `:id`. */
  readonly makeRecord?: (tenant: Tenant) => Promise<string>;
  /** How records are made that a list shows, on lists. */
  readonly listed?: (tenant: Tenant) => Promise<string>;
}

/** A new kind of record enters every shared suite by one entry here. */
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
];

/** Every route that answers to a key; routes.spec.ts compares the list with the application. */
export const ROUTES: readonly Route[] = [
  { method: 'GET', pattern: '/api/v1/me', access: 'any-key' },
  ...RESOURCES.flatMap(routesOf),
];

export const RECORD_ROUTES = ROUTES.filter(
  (route): route is Route & Required<Pick<Route, 'makeRecord'>> => route.makeRecord !== undefined,
);

export const LIST_ROUTES = ROUTES.filter(
  (route): route is Route & Required<Pick<Route, 'listed'>> => route.listed !== undefined,
);

export const SCOPED_ROUTES = ROUTES.filter(
  (route): route is Route & { access: Scope } => route.access !== 'any-key',
);

/** A valid request of a route: its path, about a record of the tenant's own, and its body. */
export interface ValidRequest {
  readonly path: string;
  readonly body?: Body;
}

export async function validRequest(route: Route, tenant: Tenant): Promise<ValidRequest> {
  const id = await route.makeRecord?.(tenant);
  return { path: pathOf(route, id), body: await route.body?.(tenant) };
}

export function pathOf({ pattern }: Route, id = ''): string {
  return pattern.replace(':id', id);
}

/** Sends a request as it is, with whatever key the caller has. */
export function send(
  api: ApiClient,
  { method }: Route,
  { path, body }: ValidRequest,
  headers?: Record<string, string>,
): Promise<Answer> {
  return api.request(method, path, { body, headers });
}

/** How a route is called in the name of a test. */
export function routeName({ method, pattern }: Pick<Route, 'method' | 'pattern'>): string {
  return `${method} ${pattern}`;
}

function routesOf({ path, read, write, creation, changes }: Resource): Route[] {
  const makeRecord = async (tenant: Tenant) => {
    const { id } = dataOf<{ id: string }>(await tenant.api.post(path, await creation(tenant)), 201);
    return id;
  };
  const record = { pattern: `${path}/:id`, makeRecord };
  return [
    { method: 'GET', pattern: path, access: read, listed: makeRecord },
    { method: 'POST', pattern: path, access: write, body: creation },
    { method: 'GET', ...record, access: read },
    { method: 'PUT', ...record, access: write, body: () => changes },
    { method: 'DELETE', ...record, access: write },
  ];
}
