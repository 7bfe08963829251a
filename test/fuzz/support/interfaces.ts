import { clearableFieldsOf } from '../../../src/platform/fields/field.js';
import { ToolRegistry } from '../../../src/modules/mcp/tools/tool-registry.js';
import type { Answer, ApiClient } from '../../../src/testing/api-client.js';
import type { ErrorBody } from '../../../src/testing/factories.js';
import type { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { sessionHeader, McpHttpClient } from '../../../src/testing/mcp-client.js';
import { routeName, pathOf } from '../../../src/testing/routes.js';
import { SCOPED_TOOLS, type ToolCase, TOOLS } from '../../support/mcp/tools.js';
import { expectWellFormed } from './answers.js';
import type { Json } from './json.js';

/** The result of a request: its value, or the error code and the invalid fields. */
export type Outcome = { readonly accepted: true; readonly value: Json } | Refusal;

interface Refusal {
  readonly accepted: false;
  readonly code: string;
  readonly fields: readonly string[];
}

/** An object, or the raw JSON text of the input. */
export type Input = object | Buffer;

/** REST or MCP. Each response is checked for the rules that apply to all responses. */
export interface ApiInterface {
  /** The meaning of null in an update: a value, or that the field is not given. */
  readonly nullInUpdates: 'value' | 'not given';
  /** Calls a tool or its equivalent route. */
  call(tool: ToolCase, id: string | undefined, input: Input): Promise<Outcome>;
}

type OpenInterface = (app: TestApp, tenant: Tenant) => Promise<ApiInterface>;

const ARGUMENTS = /^params\.arguments\./;

/** The interfaces, to run a suite through each. */
export const API_INTERFACES: readonly (readonly [name: string, open: OpenInterface])[] = [
  ['REST', (_, { api }) => Promise.resolve(new RestInterface(api))],
  ['MCP', (app, tenant) => McpInterface.open(app, tenant)],
];

/** The five tools of a kind of record. */
export interface KindOfRecord {
  readonly list: ToolCase;
  readonly get: ToolCase;
  readonly create: ToolCase;
  readonly update: ToolCase;
  readonly remove: ToolCase;
}

/** Every kind of record, by its path. */
export const KINDS: readonly (readonly [path: string, kind: KindOfRecord])[] = [
  ...new Set(
    SCOPED_TOOLS.map(({ route }) => route.pattern)
      .filter((pattern) => pattern.endsWith('/:id'))
      .map((pattern) => pattern.replace('/:id', '')),
  ),
].map((path) => [
  path,
  {
    list: toolOf(`GET ${path}`),
    get: toolOf(`GET ${path}/:id`),
    create: toolOf(`POST ${path}`),
    update: toolOf(`PUT ${path}/:id`),
    remove: toolOf(`DELETE ${path}/:id`),
  },
]);

/** The DTO of a tool's input, which is that of its route. */
export function dtoOf({ app }: TestApp, { name }: ToolCase) {
  return app.get(ToolRegistry).find(name)!.arguments.input;
}

/** Expects success and returns the value. */
export function accepted(outcome: Outcome): Json {
  if (outcome.accepted) return outcome.value;
  throw new Error(`refused: ${outcome.code}, ${outcome.fields.join(', ')}`);
}

/** Expects an error that names exactly these fields. */
export function expectRefusal(outcome: Outcome, fields: readonly string[]): void {
  const named = 'fields' in outcome ? [...new Set(outcome.fields)].sort() : [];
  expect({ ...outcome, fields: named }).toEqual({
    accepted: false,
    code: 'validation_error',
    fields: [...new Set(fields)].sort(),
  });
}

class RestInterface implements ApiInterface {
  readonly nullInUpdates = 'value';

  constructor(private readonly api: ApiClient) {}

  async call({ route }: ToolCase, id: string | undefined, input: Input): Promise<Outcome> {
    const path = pathOf(route, id);
    const takesBody = route.method === 'POST' || route.method === 'PUT';
    const answer = takesBody
      ? await this.api.request(route.method, path, { body: input })
      : await this.api.request(route.method, `${path}${queryOf(input)}`);
    expectWellFormed(answer);
    const { data, meta, error } = answer.body as { data: Json; meta?: Json; error?: ErrorBody };
    if (error) return refusalOf(error);
    expect(answer.status).toBe(route.method === 'POST' ? 201 : 200);
    return { accepted: true, value: meta ? { data, meta } : data };
  }
}

/** In JSON, null and an omitted field are the same. A query can only omit a field. */
function queryOf(input: Input): string {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(
    entries.map(([name, value]): [string, string] => [name, String(value)]),
  );
  return entries.length > 0 ? `?${query}` : '';
}

class McpInterface implements ApiInterface {
  readonly nullInUpdates = 'not given';

  private constructor(
    private readonly app: TestApp,
    private readonly caller: McpHttpClient,
    private readonly session: string,
  ) {}

  static async open(app: TestApp, { key }: Tenant): Promise<McpInterface> {
    const caller = new McpHttpClient(app.url, key.key);
    return new McpInterface(app, caller, await caller.openSession());
  }

  async call(tool: ToolCase, id: string | undefined, input: Input): Promise<Outcome> {
    const { name } = tool;
    const args =
      input instanceof Buffer
        ? input
        : Buffer.from(JSON.stringify(withClear(input, clearableFieldsOf(dtoOf(this.app, tool)))));
    const answer = await this.caller.post(callOf(name, id, args), sessionHeader(this.session));
    expectWellFormed(answer);
    if (answer.status !== 200) {
      const refusal = refusalOf((answer.body as { error: ErrorBody }).error);
      // The error of an invalid message names the path in the message.
      return { ...refusal, fields: refusal.fields.map((field) => field.replace(ARGUMENTS, '')) };
    }
    return outcomeOfCall(answer);
  }
}

/** An input of REST as the arguments of a tool, which empties the fields that `clear` names. */
function withClear(input: object, clearable: readonly string[]): object {
  const isCleared = ([name, value]: [string, unknown]) =>
    value === null && clearable.includes(name);
  const clear = Object.entries(input).filter(isCleared);
  if (clear.length === 0) return input;
  const others = Object.entries(input).filter((entry) => !isCleared(entry));
  return { ...Object.fromEntries(others), clear: clear.map(([name]) => name) };
}

/** The message that calls a tool; the id of a record stands first in an object of arguments. */
function callOf(name: string, id: string | undefined, args: Buffer): Buffer {
  const head = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":`;
  const parts =
    id === undefined ? [args] : [`{"id":"${id}"`, args.length > 2 ? ',' : '', args.subarray(1)];
  return Buffer.concat([head, ...parts, '}}'].map((part) => Buffer.from(part as string)));
}

interface CallResult {
  readonly isError?: true;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: Json;
  readonly _meta: Readonly<Record<string, ErrorBody>>;
}

function outcomeOfCall({ body }: Answer): Outcome {
  const { result, error } = body as { result?: CallResult; error?: { code: number } };
  // -32603 is the 5xx of JSON-RPC.
  expect(error?.code).not.toBe(-32603);
  if (!result) return { accepted: false, code: String(error?.code), fields: [] };
  if (result.isError) return refusalOf(result._meta['latitude/error']!);
  expect(JSON.parse(result.content[0]!.text)).toEqual(result.structuredContent);
  return { accepted: true, value: withoutNamesOfLeads(result.structuredContent) };
}

function refusalOf({ code, message, retryable, details = [] }: ErrorBody): Refusal {
  expect({ code, retryable }).toEqual({ code, retryable: false });
  const fields = details.map(({ field }) => field);
  expect(fields.filter((field) => !message.includes(field))).toEqual([]);
  return { accepted: false, code, fields };
}

function toolOf(route: string): ToolCase {
  const tool = TOOLS.find((candidate) => routeName(candidate.route) === route);
  if (!tool) throw new Error(`no tool does what ${route} does`);
  return tool;
}

/** Leaves out the names that only tools add, in a record and in the items of a page. */
function withoutNamesOfLeads(value: Json): Json {
  const { lead_name: _, contact_name: __, ...rest } = value;
  const { data } = rest as { data?: unknown };
  return Array.isArray(data) ? { ...rest, data: (data as Json[]).map(withoutNamesOfLeads) } : rest;
}
