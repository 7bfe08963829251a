import type { Scope } from '../../src/auth/scopes.js';
import type { Effect } from '../../src/mcp/tools/tool.decorator.js';
import type { Arguments } from './agent.js';
import type { Tenant } from '../../src/testing/test-app.js';
import { nameOf, type Route, ROUTES } from '../../src/testing/routes.js';

/** One tool of /mcp, as the shared suites call it. */
export interface ToolCase {
  readonly name: string;
  /** What a key needs. */
  readonly scope: Scope | 'any-key';
  readonly effect: Effect;
  /** The route of REST that does the same. */
  readonly route: Route;
  /** Valid arguments beside `id`, twice never the same record. */
  readonly args: (tenant: Tenant) => Arguments | Promise<Arguments>;
  /** Makes a record of a tenant and answers its id, for tools that take `id`. */
  readonly makeRecord?: (tenant: Tenant) => Promise<string>;
}

/** Every tool, in the order of the contract (docs/contract/mcp.md#tools). */
export const TOOLS: readonly ToolCase[] = [
  tool('list_leads', 'leads:read', 'reads', 'GET /api/v1/leads'),
  tool('get_lead', 'leads:read', 'reads', 'GET /api/v1/leads/:id'),
  tool('create_lead', 'leads:write', 'creates', 'POST /api/v1/leads'),
  tool('update_lead', 'leads:write', 'updates', 'PUT /api/v1/leads/:id'),
  tool('delete_lead', 'leads:write', 'deletes', 'DELETE /api/v1/leads/:id'),
  tool('list_appointments', 'appointments:read', 'reads', 'GET /api/v1/appointments'),
  tool('get_appointment', 'appointments:read', 'reads', 'GET /api/v1/appointments/:id'),
  tool('create_appointment', 'appointments:write', 'creates', 'POST /api/v1/appointments'),
  tool('update_appointment', 'appointments:write', 'updates', 'PUT /api/v1/appointments/:id'),
  tool('cancel_appointment', 'appointments:write', 'deletes', 'DELETE /api/v1/appointments/:id'),
  tool('list_tasks', 'tasks:read', 'reads', 'GET /api/v1/tasks'),
  tool('get_task', 'tasks:read', 'reads', 'GET /api/v1/tasks/:id'),
  tool('create_task', 'tasks:write', 'creates', 'POST /api/v1/tasks'),
  tool('update_task', 'tasks:write', 'updates', 'PUT /api/v1/tasks/:id'),
  tool('delete_task', 'tasks:write', 'deletes', 'DELETE /api/v1/tasks/:id'),
  tool('whoami', 'any-key', 'reads', 'GET /api/v1/me'),
];

export type RecordTool = ToolCase & Required<Pick<ToolCase, 'makeRecord'>>;

export const RECORD_TOOLS = TOOLS.filter(
  (candidate): candidate is RecordTool => candidate.makeRecord !== undefined,
);

export const SCOPED_TOOLS = TOOLS.filter(
  (candidate): candidate is ToolCase & { scope: Scope } => candidate.scope !== 'any-key',
);

export const LIST_TOOLS = TOOLS.filter(({ name }) => name.startsWith('list_'));

/** The arguments of a valid call, about a record of the tenant's own. */
export async function validArguments(
  { args, makeRecord }: ToolCase,
  tenant: Tenant,
): Promise<Arguments> {
  const id = await makeRecord?.(tenant);
  return { ...(id !== undefined && { id }), ...(await args(tenant)) };
}

/** By the name of the tool, for `each`. */
export function byName<T extends ToolCase>(tools: readonly T[]): (readonly [string, T])[] {
  return tools.map((one) => [one.name, one] as const);
}

function tool(name: string, scope: ToolCase['scope'], effect: Effect, routeName: string): ToolCase {
  const route = ROUTES.find((candidate) => nameOf(candidate) === routeName);
  if (!route) throw new Error(`${routeName} is no route`);
  const { body = () => ({}), makeRecord } = route;
  return { name, scope, effect, route, args: body, ...(makeRecord && { makeRecord }) };
}
