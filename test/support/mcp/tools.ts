import type { Type } from '@nestjs/common';
import { responseDtoOf } from '../../../src/platform/http/routes/route-declarations.js';
import type { Scope } from '../../../src/platform/access/scopes.js';
import type { Effect, ToolDeclaration } from '../../../src/modules/mcp/tools/tool.decorator.js';
import type { Arguments } from './agent.js';
import { declarationOf } from '../declared-routes.js';
import { DECLARED_TOOLS } from './declared-tools.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { routeName, type Route, ROUTES } from '../../../src/testing/routes.js';

const METHODS = { reads: 'GET', creates: 'POST', updates: 'PUT', deletes: 'DELETE' } as const;

/** One tool of /mcp, as the shared suites call it. */
export interface ToolCase {
  readonly name: string;
  /** The scope that a key needs. */
  readonly scope: Scope | 'any-key';
  /** Scopes that a key needs as well. */
  readonly scopes?: readonly Scope[];
  /** Scopes of which a key needs one. */
  readonly someScope?: readonly Scope[];
  readonly effect: Effect;
  /** The equivalent REST route. */
  readonly route: Route;
  /** Valid arguments besides `id`, which never conflict with an earlier record. */
  readonly args: (tenant: Tenant) => Arguments | Promise<Arguments>;
  /** Creates a record of a tenant and returns its id, for tools with `id`. */
  readonly makeRecord?: (tenant: Tenant) => Promise<string>;
}

/** The tools of leads, appointments, tasks and `whoami`, in the order of docs/contract/mcp.md#tools. */
export const CORE_TOOLS: readonly ToolCase[] = [
  tool('list_leads', 'leads:read', 'reads', 'GET /api/v1/leads'),
  tool('get_lead', 'leads:read', 'reads', 'GET /api/v1/leads/:id'),
  tool('create_lead', 'leads:write', 'creates', 'POST /api/v1/leads'),
  tool('update_lead', 'leads:write', 'updates', 'PUT /api/v1/leads/:id'),
  tool('upsert_lead', 'leads:write', 'updates', 'POST /api/v1/leads/upsert'),
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

/** Tools of additional features. */
const ADDED_TOOLS = DECLARED_TOOLS.filter(({ name }) => !isCore({ name }));

/** All tools with an equivalent route in `ROUTES`, including tools of new resources. */
export const TOOLS: readonly ToolCase[] = [
  ...CORE_TOOLS,
  ...ADDED_TOOLS.flatMap((declared) => {
    const route = routeOf(declared);
    return route ? [tool(declared.name, declared.scope, declared.effect, routeName(route))] : [];
  }),
];

/** All tools of the application, including those without an equivalent route. */
export const ALL_TOOLS: readonly Pick<ToolCase, 'name' | 'scope' | 'scopes' | 'someScope'>[] = [
  ...CORE_TOOLS,
  ...ADDED_TOOLS,
];

export type RecordTool = ToolCase & Required<Pick<ToolCase, 'makeRecord'>>;

export const RECORD_TOOLS = TOOLS.filter(
  (candidate): candidate is RecordTool => candidate.makeRecord !== undefined,
);

/** The tool of two records, to which the suites of tools of single records do not apply. */
export const MERGE_LEADS = tool(
  'merge_leads',
  'leads:write',
  'updates',
  'POST /api/v1/leads/:id/merge',
) as RecordTool;

export const SCOPED_TOOLS = TOOLS.filter(
  (candidate): candidate is ToolCase & { scope: Scope } => candidate.scope !== 'any-key',
);

export const LIST_TOOLS = TOOLS.filter(({ name }) => name.startsWith('list_'));

/** The arguments of a valid call about a record of the tenant. */
export async function validArguments(
  { args, makeRecord }: ToolCase,
  tenant: Tenant,
): Promise<Arguments> {
  const id = await makeRecord?.(tenant);
  return { ...(id !== undefined && { id }), ...(await args(tenant)) };
}

/** Whether a tool is part of Latitude itself. */
export function isCore({ name }: { readonly name: string }): boolean {
  return CORE_TOOLS.some((one) => one.name === name);
}

/** Pairs of name and tool, for `it.each`. */
export function byName<T extends ToolCase>(tools: readonly T[]): (readonly [string, T])[] {
  return tools.map((one) => [one.name, one] as const);
}

/** The route of REST with the scope, the input and the output of a tool, whose output can have more fields. */
function routeOf({ scope, effect, id, input, output, isPage }: ToolDeclaration): Route | undefined {
  return ROUTES.find((route) => {
    const { input: ofRoute, documentation } = declarationOf(route) ?? {};
    return (
      route.method === METHODS[effect] &&
      route.access === scope &&
      (route.makeRecord !== undefined) === (id !== undefined) &&
      (ofRoute?.query?.type ?? ofRoute?.body?.type) === input &&
      isOrExtends(output, responseDtoOf(documentation)) &&
      Array.isArray(documentation?.response) === isPage
    );
  });
}

function isOrExtends(output: Type<object>, response: Type<object> | undefined): boolean {
  return response !== undefined && (output === response || output.prototype instanceof response);
}

function tool(name: string, scope: ToolCase['scope'], effect: Effect, restRoute: string): ToolCase {
  const route = ROUTES.find((candidate) => routeName(candidate) === restRoute);
  if (!route) throw new Error(`${restRoute} is not a route`);
  const { body = () => ({}), makeRecord, needs: scopes } = route;
  return { name, scope, scopes, effect, route, args: body, ...(makeRecord && { makeRecord }) };
}
