import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator as StatelessValidator } from '@modelcontextprotocol/client/validators/ajv';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import {
  sessionHeader,
  mirrorHeaders,
  SERVER_INFO,
  STATELESS_META,
  STATELESS_REVISION,
} from '../../../src/testing/mcp-client.js';

/** Protocol revisions with sessions, and the revision without. */
export const PROTOCOL_MODES = ['sessions', 'stateless'] as const;
export type ProtocolMode = (typeof PROTOCOL_MODES)[number];

/** The half of the cases for a mode. Both modes call the same handlers of tools, so that one of them tests each case. */
export function casesOf<T>(mode: ProtocolMode, cases: readonly T[]): T[] {
  const own = PROTOCOL_MODES.indexOf(mode);
  return cases.filter((_, index) => index % PROTOCOL_MODES.length === own);
}

type Call = Readonly<{ name: string; arguments?: Readonly<Record<string, unknown>> }>;

/** A client of the MCP SDK for one protocol mode. */
export interface McpSdkClient {
  connect(): Promise<void>;
  listTools(): Promise<Tool[]>;
  call(call: Call): Promise<CallToolResult>;
  /** Sends a request that does not count against the rate limit of reads. */
  ping(): Promise<void>;
  /** Converts the text of a message to the body and headers of a request. */
  toRequest(text: string): { readonly text: string; readonly headers: Record<string, string> };
  /** Removes the server information that a revision adds to every result. */
  withoutServerInfo(result: CallToolResult): CallToolResult;
  close(): Promise<void>;
}

interface Connection {
  readonly requestInit: { readonly headers: Record<string, string> };
  readonly fetch: (address: string | URL, init?: RequestInit) => Promise<Response>;
}

const CLIENT = { name: 'agent', version: '1.0.0' };

/**
 * Makes a validator of schemas compile each schema once for all clients of a suite. A client would compile those of all
 * tools, which takes longer than many tests.
 */
function compilingOnce<V extends { getValidator(schema: object): unknown }>(validator: V): V {
  const compile = validator.getValidator.bind(validator);
  const compiled = new Map<string, unknown>();
  validator.getValidator = (schema) => {
    const key = JSON.stringify(schema);
    if (!compiled.has(key)) compiled.set(key, compile(schema));
    return compiled.get(key);
  };
  return validator;
}

const VALIDATOR = compilingOnce(new AjvJsonSchemaValidator());
const STATELESS_VALIDATOR = compilingOnce(new StatelessValidator());

export function createSdkClient(
  protocolMode: ProtocolMode,
  address: URL,
  connection: Connection,
): McpSdkClient {
  return protocolMode === 'sessions'
    ? new SessionSdkClient(address, connection)
    : new StatelessSdkClient(address, connection);
}

class SessionSdkClient implements McpSdkClient {
  private readonly client = new Client(CLIENT, { jsonSchemaValidator: VALIDATOR });
  private readonly transport: StreamableHTTPClientTransport;

  constructor(address: URL, connection: Connection) {
    this.transport = new StreamableHTTPClientTransport(address, connection);
  }

  async connect(): Promise<void> {
    await this.client.connect(this.transport);
  }

  async listTools(): Promise<Tool[]> {
    return (await this.client.listTools()).tools;
  }

  async call(call: Call): Promise<CallToolResult> {
    return (await this.client.callTool(call)) as CallToolResult;
  }

  async ping(): Promise<void> {
    await this.client.ping();
  }

  toRequest(text: string) {
    const { sessionId = '', protocolVersion = '' } = this.transport;
    return {
      text,
      headers: { ...sessionHeader(sessionId), 'MCP-Protocol-Version': protocolVersion },
    };
  }

  withoutServerInfo(result: CallToolResult): CallToolResult {
    return result;
  }

  async close(): Promise<void> {
    await this.transport.terminateSession();
    await this.client.close();
  }
}

class StatelessSdkClient implements McpSdkClient {
  private readonly client = new StatelessClient(CLIENT, {
    jsonSchemaValidator: STATELESS_VALIDATOR,
    versionNegotiation: { mode: { pin: STATELESS_REVISION } },
  });

  constructor(
    private readonly address: URL,
    private readonly connection: Connection,
  ) {}

  async connect(): Promise<void> {
    await this.client.connect(new StatelessTransport(this.address, this.connection));
  }

  async listTools(): Promise<Tool[]> {
    const { tools } = await this.client.listTools(undefined, { cacheMode: 'refresh' });
    return tools as Tool[];
  }

  async call(call: Call): Promise<CallToolResult> {
    return this.withoutServerInfo((await this.client.callTool(call)) as CallToolResult);
  }

  async ping(): Promise<void> {
    await this.client.discover();
  }

  toRequest(text: string) {
    const [, method = ''] = /"method":"([^"]*)"/.exec(text) ?? [];
    const [, name] = /"name":"([^"]*)"/.exec(text) ?? [];
    const meta = `"_meta":${JSON.stringify(STATELESS_META)}`;
    const dressed = text.includes('"params":{')
      ? text.replace(/"params":\{(\}?)/, (_, end: string) => `"params":{${meta}${end || ','}`)
      : text.replace(/\}$/, `,"params":{${meta}}}`);
    return { text: dressed, headers: mirrorHeaders(method, { name }) };
  }

  withoutServerInfo({ _meta, resultType: _, ...result }: CallToolResult): CallToolResult {
    const { [SERVER_INFO]: server, ...others } = _meta ?? {};
    expect(server).toMatchObject({ name: 'latitude' });
    return { ...result, ...(Object.keys(others).length > 0 && { _meta: others }) };
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}
