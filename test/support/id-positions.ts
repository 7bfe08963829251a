import { randomUUID } from 'node:crypto';
import type { Prompt, ResourceTemplateType } from '@modelcontextprotocol/server';
import type { Type } from '@nestjs/common';
import { type Field, fieldsOf } from '../../src/platform/fields/field.js';
import { UUID_SCHEMA } from '../../src/platform/fields/kinds/uuid.js';
import type { ToolDefinition } from '../../src/modules/mcp/tools/tool-registry.js';
import type { Answer } from '../../src/testing/api-client.js';
import { handlersOf } from '../../src/platform/discovery/declared-handlers.js';
import { type RestPlan, restPlansOf } from '../../src/platform/http/openapi/routes.js';
import { declaredFieldsOf } from './declared-routes.js';
import { DECLARED_COMPLETIONS, DECLARED_RESOURCES } from './mcp/declared-tools.js';
import { createLead, dataOf } from '../../src/testing/factories.js';
import type { Tenant, TestServer } from '../../src/testing/test-server.js';
import { McpHttpClient } from '../../src/testing/mcp-client.js';
import {
  createCalendar,
  createDelivery,
  createHold,
  COUNT_ROUTES,
  FURTHER_ROUTES,
  FIELD_ROUTES,
  KEY_ROUTES,
  routeName,
  pathOf,
  RECORD_ROUTES,
  type Route,
  ROUTES,
  send,
  validRequest,
} from '../../src/testing/routes.js';
import type { ProtocolMode } from './mcp/mcp-sdk-clients.js';
import {
  isCore,
  MERGE_LEADS,
  RECORD_TOOLS,
  type RecordTool,
  type ToolCase,
  TOOLS,
  validArguments,
} from './mcp/tools.js';

/** A tenant that is connected to /mcp. */
export interface McpTenant extends Tenant {
  /** Sends a request to /mcp, always with the same JSON-RPC id. */
  readonly rpc: (method: string, params: object) => Promise<Answer>;
}

/** A place in a request that takes an id, which can be that of another organization's record. */
export interface IdPosition {
  /** `lead_id of POST /api/v1/appointments`. */
  readonly name: string;
  /** The result for an unknown id; `kept` for ids that the API does not check. */
  readonly whenUnknown: 'not_found' | 'lead_not_found' | 'empty list' | 'kept' | 'no records';
  /** Creates the records that this position needs, and returns an id that belongs to `owner`. */
  readonly makeId: (owner: Tenant) => Promise<string>;
  /** Prepares a request that is valid except for the id. */
  readonly prepare: (caller: McpTenant) => Promise<(id: string) => Promise<Answer>>;
}

/** What the id fields refer to. New id fields must be added here. */
const REFERENCES: Readonly<
  Record<string, { kind: 'lead' | 'user' | 'resource' | 'hold'; column?: string }>
> = {
  lead_id: { kind: 'lead' },
  contact_id: { kind: 'lead' },
  assigned_to_user_id: { kind: 'user' },
  resource_id: { kind: 'resource' },
  hold_id: { kind: 'hold' },
  user_id: { kind: 'user' },
  assigned_to: { kind: 'user', column: 'assigned_to_user_id' },
};

const READ_TOOLS = RECORD_TOOLS.filter(({ effect }) => effect === 'reads');

/** The webhooks of deliveries, by organization and delivery. */
const webhooksOfDeliveries = new Map<string, string>();

/** The resources of calendars, by organization and calendar. */
const resourcesOfCalendars = new Map<string, string>();

/**
 * All positions of REST and /mcp except the header `Mcp-Session-Id`, which has its own rule
 * (docs/contract/mcp.md#session-errors).
 */
export const ID_POSITIONS: readonly IdPosition[] = [
  ...RECORD_ROUTES.map(pathPosition),
  ...[...FURTHER_ROUTES, ...KEY_ROUTES, ...FIELD_ROUTES].map(pathPosition),
  {
    name: 'delivery_id of POST /api/v1/webhooks/:id/deliveries/:delivery_id/redeliver',
    whenUnknown: 'not_found',
    makeId: async (owner) => {
      const { id, webhook_id } = await createDelivery(owner);
      webhooksOfDeliveries.set(`${owner.id} ${id}`, webhook_id);
      return id;
    },
    prepare: async (caller) => {
      const { webhook_id } = await createDelivery(caller);
      return (id) => {
        const known = webhooksOfDeliveries.get(`${caller.id} ${id.toLowerCase()}`);
        const path = `/api/v1/webhooks/${known ?? webhook_id}/deliveries/${id}/redeliver`;
        return caller.api.post(path, undefined);
      };
    },
  },
  ...(['GET', 'DELETE'] as const).map((method): IdPosition => ({
    name: `calendar_id of ${method} /api/v1/resources/:id/calendars/:calendar_id`,
    whenUnknown: 'not_found',
    makeId: async (owner) => {
      const { id, resource_id } = await createCalendar(owner);
      resourcesOfCalendars.set(`${owner.id} ${id}`, resource_id);
      return id;
    },
    prepare: async (caller) => {
      const { resource_id } = await createCalendar(caller);
      return (id) => {
        const known = resourcesOfCalendars.get(`${caller.id} ${id.toLowerCase()}`);
        return caller.api.request(
          method,
          `/api/v1/resources/${known ?? resource_id}/calendars/${id}`,
        );
      };
    },
  })),
  ...[...ROUTES, ...COUNT_ROUTES].flatMap((route) =>
    idFieldsOf(route).map((field) => fieldPosition(route, field)),
  ),
  auditPosition('key_id', ({ key }) => Promise.resolve(key.id)),
  auditPosition('record_id', async ({ api }) => {
    const resource = await api.post('/api/v1/resources', { name: 'Crew 1' });
    return dataOf<{ id: string }>(resource, 201).id;
  }),
  ...[...RECORD_TOOLS, MERGE_LEADS].map(toolIdPosition),
  ...[...TOOLS, MERGE_LEADS].flatMap((tool) =>
    idFieldsOf(tool.route).map((field) => toolArgumentPosition(tool, field)),
  ),
  ...READ_TOOLS.filter(isDeclaredIn(DECLARED_RESOURCES)).map(resourceUriPosition),
  ...READ_TOOLS.filter(isDeclaredIn(DECLARED_COMPLETIONS)).map(completionPosition),
  promptPosition('prepare_appointment', 'appointment_id', 'get_appointment'),
  promptPosition('follow_up_lead', 'lead_id', 'get_lead'),
  {
    ...promptPosition('plan_my_day', 'assigned_to_user_id', 'get_task', { date: '2020-02-01' }),
    whenUnknown: 'no records',
    makeId: createAssignee,
  },
];

/** The sorted names of the positions that an application has. */
export function positionsIn(
  controllers: readonly Type<object>[],
  tools: readonly ToolDefinition[],
  templates: readonly ResourceTemplateType[],
  prompts: readonly Prompt[],
  completed: readonly string[],
): string[] {
  // The routes of operators have no records of organizations, and only people create grants.
  const declared = controllers.flatMap((controller) => handlersOf(controller));
  const handlers = restPlansOf(declared).filter(
    ({ access, route }) => access !== 'operator' && !route.includes('/api/v1/grants'),
  );
  const ofRoutes = handlers.flatMap((route) =>
    [...parametersOf(route), ...idFieldsIn(route)].map((field) => `${field} of ${route.route}`),
  );
  const ofTools = tools.flatMap(({ name, inputSchema }) =>
    Object.entries(inputSchema.properties ?? {})
      .filter(([, { description = '' }]) => /\bUUID\b/.test(description))
      .map(([field]) => `${field} of ${name}`),
  );
  const ofTemplates = templates.map(({ uriTemplate }) => `id of ${uriTemplate}`);
  const ofCompletions = completed.map((kind) => `id typed of ${kind}://{id}`);
  const ofPrompts = prompts.flatMap(({ name, arguments: taken = [] }) =>
    taken.filter((one) => one.name.endsWith('_id')).map((one) => `${one.name} of ${name}`),
  );
  // It names no record, and the response has a random key.
  const ofKeys = 'user_id of POST /api/v1/keys';
  return [
    ...ofRoutes.filter((name) => name !== ofKeys),
    ...ofTools,
    ...ofTemplates,
    ...ofCompletions,
    ...ofPrompts,
  ].sort();
}

/** Connects a tenant to /mcp, with a session if the protocol mode has sessions. */
export async function connectTenant(
  { url }: TestServer,
  tenant: Tenant,
  protocolMode: ProtocolMode = 'sessions',
): Promise<McpTenant> {
  const caller = new McpHttpClient(url, tenant.key.key);
  if (protocolMode === 'stateless') {
    return { ...tenant, rpc: (method, params) => caller.statelessRpc(method, params, 1) };
  }
  const session = await caller.openSession();
  return { ...tenant, rpc: (method, params) => caller.rpc(session, method, params, 1) };
}

function pathPosition(route: Route & Required<Pick<Route, 'makeRecord'>>): IdPosition {
  return {
    name: `id of ${routeName(route)}`,
    whenUnknown: 'not_found',
    makeId: route.makeRecord,
    prepare: async (caller) => {
      const body = await route.body?.(caller);
      return (id) => send(caller.api, route, { path: pathOf(route, id), body });
    },
  };
}

function fieldPosition(route: Route, field: string): IdPosition {
  return {
    name: `${field} of ${routeName(route)}`,
    ...referenceOf(route, field),
    prepare: async (caller) => {
      const { path, body } = await validRequest(route, caller);
      return (id) => {
        return route.method === 'GET'
          ? send(caller.api, route, { path: `${path}?${route.query ?? ''}&${field}=${id}` })
          : send(caller.api, route, { path, body: { ...body, [field]: id } });
      };
    },
  };
}

function toolIdPosition({ name, args, makeRecord }: (typeof RECORD_TOOLS)[number]): IdPosition {
  return {
    name: `id of ${name}`,
    whenUnknown: 'not_found',
    makeId: makeRecord,
    prepare: async (caller) => {
      const others = await args(caller);
      return (id) => caller.rpc('tools/call', { name, arguments: { ...others, id } });
    },
  };
}

function toolArgumentPosition(tool: ToolCase, field: string): IdPosition {
  const { name, route } = tool;
  return {
    name: `${field} of ${name}`,
    ...referenceOf(route, field),
    prepare: async (caller) => {
      const others = await validArguments(tool, caller);
      return (id) => caller.rpc('tools/call', { name, arguments: { ...others, [field]: id } });
    },
  };
}

/** Whether a tool reads a declared resource. All resources of the core must be declared. */
function isDeclaredIn(declared: readonly { readonly name: string }[]) {
  return (tool: RecordTool) =>
    isCore(tool) || declared.some(({ name }) => name === resourceName(tool));
}

function resourceName({ name }: ToolCase): string {
  return name.replace('get_', '');
}

function resourceUriPosition(tool: RecordTool): IdPosition {
  const { makeRecord } = tool;
  const scheme = resourceName(tool);
  return {
    name: `id of ${scheme}://{id}`,
    whenUnknown: 'not_found',
    makeId: makeRecord,
    prepare: (caller) =>
      Promise.resolve((id) => caller.rpc('resources/read', { uri: `${scheme}://${id}` })),
  };
}

function completionPosition(tool: RecordTool): IdPosition {
  const { makeRecord } = tool;
  const uri = `${resourceName(tool)}://{id}`;
  const ref = { type: 'ref/resource', uri };
  return {
    name: `id typed of ${uri}`,
    whenUnknown: 'no records',
    makeId: makeRecord,
    prepare: (caller) =>
      Promise.resolve((value) =>
        caller.rpc('completion/complete', { ref, argument: { name: 'id', value } }),
      ),
  };
}

function promptPosition(name: string, argument: string, reader: string, others = {}): IdPosition {
  const { makeRecord } = READ_TOOLS.find((tool) => tool.name === reader)!;
  return {
    name: `${argument} of ${name}`,
    whenUnknown: 'not_found',
    makeId: makeRecord,
    prepare: (caller) =>
      Promise.resolve((id) => {
        return caller.rpc('prompts/get', { name, arguments: { ...others, [argument]: id } });
      }),
  };
}

/** Creates an overdue task and returns its assignee. */
async function createAssignee({ api }: Tenant): Promise<string> {
  const assigned_to_user_id = randomUUID();
  const task = { title: 'Call', due_date: '2020-01-01', assigned_to_user_id };
  dataOf(await api.post('/api/v1/tasks', task), 201);
  return assigned_to_user_id;
}

function referenceOf(route: Route, field: string): Pick<IdPosition, 'whenUnknown' | 'makeId'> {
  const named = REFERENCES[field];
  if (!named) throw new Error(`Nothing says what ${field} of ${routeName(route)} names`);
  const { kind, column = field } = named;
  const ofBody = {
    lead: 'lead_not_found',
    resource: 'not_found',
    hold: 'not_found',
    user: 'kept',
  } as const;
  return {
    whenUnknown: route.method === 'GET' ? 'empty list' : ofBody[kind],
    makeId: async (owner) => {
      if (kind === 'hold') return createHold(owner);
      if (kind === 'resource') {
        const resource = await owner.api.post('/api/v1/resources', { name: 'Crew 1' });
        const { id: resource_id } = dataOf<{ id: string }>(resource, 201);
        const { id: lead_id } = await createLead(owner.api);
        const times = { start_time: '2031-01-06T09:00Z', end_time: '2031-01-06T10:00Z' };
        const appointment = { lead_id, resource_id, ...times };
        dataOf(await owner.api.post('/api/v1/appointments', appointment), 201);
        return resource_id;
      }
      const path = route.pattern.replace(/\/(:id|counts).*/, '');
      const creation = ROUTES.find(({ method, pattern }) => method === 'POST' && pattern === path)!;
      const created = await owner.api.post(path, await creation.body!(owner));
      const record = dataOf<Record<string, string> & { id: string }>(created, 201);
      return record[column] ?? record.id;
    },
  };
}

/** A filter of the audit log. */
function auditPosition(
  field: 'key_id' | 'record_id',
  makeId: (owner: Tenant) => Promise<string>,
): IdPosition {
  return {
    name: `${field} of GET /api/v1/audit`,
    whenUnknown: 'empty list',
    makeId,
    prepare: (caller) =>
      Promise.resolve((id: string) => caller.api.get(`/api/v1/audit?${field}=${id}`)),
  };
}

function idFieldsOf(route: Route): string[] {
  return idsAmong([...declaredFieldsOf(route, 'query'), ...declaredFieldsOf(route, 'body')]);
}

function idFieldsIn({ input }: RestPlan): string[] {
  const types = [input?.query?.type, input?.body?.type];
  return idsAmong(types.flatMap((dto) => (dto ? fieldsOf(dto) : [])));
}

function idsAmong(fields: readonly Field[]): string[] {
  return fields
    .filter(({ schema }) => schema.format === UUID_SCHEMA.format)
    .map(({ name }) => name);
}

function parametersOf({ route }: RestPlan): string[] {
  return [...route.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter!);
}
