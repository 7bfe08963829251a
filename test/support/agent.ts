import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { ApiClient, type Answer } from './api-client.js';
import type { ErrorBody } from './factories.js';

export type Arguments = Readonly<Record<string, unknown>>;

/** What `_meta["latitude/error"]` holds in the result of a call that failed (decisions 6). */
export interface ToolFailure extends ErrorBody {
  required_scope?: string;
  retry_after_seconds?: number;
  resets_at?: string;
}

/** Who an agent is: every `Tenant` is one. */
interface Owner {
  readonly key: { readonly key: string };
}

type LastAnswer = Pick<Response, 'status' | 'headers'>;

const open = new Set<Agent>();

/** An AI agent that has opened a session by the client of the SDK. */
export class Agent {
  private readonly client = new Client({ name: 'agent', version: '1.0.0' });
  private readonly transport: StreamableHTTPClientTransport;
  private readonly raw: ApiClient;
  private last: LastAnswer = { status: 0, headers: new Headers() };

  private constructor(
    readonly url: string,
    { key: { key } }: Owner,
  ) {
    this.raw = new ApiClient(url, key);
    this.transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
      fetch: async (address, init) => {
        const response = await fetch(address, init);
        if (init?.method === 'POST') this.last = response;
        return response;
      },
    });
  }

  static async connect({ url }: { readonly url: string }, owner: Owner): Promise<Agent> {
    const agent = new Agent(url, owner);
    await agent.client.connect(agent.transport);
    open.add(agent);
    return agent;
  }

  /** How HTTP answered the last message: of calls one after another, the last of them. */
  get lastAnswer(): LastAnswer {
    return this.last;
  }

  /** Afterwards the client holds the results of these tools to their output schemas. */
  async listTools(): Promise<Tool[]> {
    return (await this.client.listTools()).tools;
  }

  async ping(): Promise<void> {
    await this.client.ping();
  }

  /** @throws McpError where the answer is an error of JSON-RPC */
  async call(name: string, args?: Arguments): Promise<CallToolResult> {
    return (await this.client.callTool({ name, arguments: args })) as CallToolResult;
  }

  /** What a call answers that must not fail. */
  async succeed<T = Record<string, unknown>>(name: string, args?: Arguments): Promise<T> {
    const { isError = false, structuredContent, _meta } = await this.call(name, args);
    expect({ name, isError, _meta }).toEqual({ name, isError: false });
    return structuredContent as T;
  }

  /** The error of a call that must fail. */
  async fail(name: string, args?: Arguments): Promise<ToolFailure> {
    const result = await this.call(name, args);
    expect({ name, isError: result.isError, got: result.structuredContent }).toEqual({
      name,
      isError: true,
    });
    return failureOf(result);
  }

  /** POSTs a text in the session as it is, which the SDK would not write so. */
  post(text: string): Promise<Answer> {
    const { sessionId = '', protocolVersion = '' } = this.transport;
    return this.raw.post('/mcp', text, {
      headers: {
        Accept: 'application/json, text/event-stream',
        'Mcp-Session-Id': sessionId,
        'MCP-Protocol-Version': protocolVersion,
      },
    });
  }

  /** Ends the session and the connection. */
  async close(): Promise<void> {
    open.delete(this);
    await this.transport.terminateSession();
    await this.client.close();
  }
}

/** Opens a session for a tenant of an app. */
export function connectAgent(app: { readonly url: string }, owner: Owner): Promise<Agent> {
  return Agent.connect(app, owner);
}

/** Stops an app after the agents that are connected to it: they would try to come back. */
export async function stopWithAgents(app: {
  readonly url: string;
  stop(): Promise<void>;
}): Promise<void> {
  const { url } = app;
  await Promise.all([...open].filter((agent) => agent.url === url).map((agent) => agent.close()));
  await app.stop();
}

/** The error that a result tells. */
export function failureOf({ _meta }: CallToolResult): ToolFailure {
  return _meta?.['latitude/error'] as ToolFailure;
}

/** The text of a result, which must be its only content. */
export function textOf({ content }: CallToolResult): string {
  expect(content).toEqual([{ type: 'text', text: expect.any(String) as string }]);
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}
