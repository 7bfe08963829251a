import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { ApiClient, type Answer } from '../../../src/testing/api-client.js';
import type { ErrorBody } from '../../../src/testing/factories.js';
import { type ProtocolMode, type McpSdkClient, createSdkClient } from './mcp-sdk-clients.js';

export type Arguments = Readonly<Record<string, unknown>>;

/**
 * What `_meta["latitude/error"]` holds in the result of a failed call
 * (docs/contract/mcp.md#tool-errors).
 */
export interface ToolFailure extends ErrorBody {
  required_scope?: string;
  retry_after_seconds?: number;
  resets_at?: string;
}

/** The owner of the key of an agent, such as a `Tenant`. */
interface AgentOwner {
  readonly key: { readonly key: string };
}

type LastAnswer = Pick<Response, 'status' | 'headers'>;

const connected = new Set<Agent>();

/** An AI agent that is connected by the client of an SDK. */
export class Agent {
  private readonly client: McpSdkClient;
  private readonly raw: ApiClient;
  private last: LastAnswer = { status: 0, headers: new Headers() };

  private constructor(
    readonly url: string,
    { key: { key } }: AgentOwner,
    protocolMode: ProtocolMode,
  ) {
    this.raw = new ApiClient(url, key);
    this.client = createSdkClient(protocolMode, new URL('/mcp', url), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
      fetch: async (address, init) => {
        const response = await fetch(address, init);
        if (init?.method === 'POST') this.last = response;
        return response;
      },
    });
  }

  static async connect(
    { url }: { readonly url: string },
    owner: AgentOwner,
    protocolMode: ProtocolMode,
  ): Promise<Agent> {
    const agent = new Agent(url, owner, protocolMode);
    await agent.client.connect();
    connected.add(agent);
    return agent;
  }

  /** The HTTP response to the last message. */
  get lastAnswer(): LastAnswer {
    return this.last;
  }

  /** Lists the tools. Afterwards the client validates their results against the output schemas. */
  listTools(): Promise<Tool[]> {
    return this.client.listTools();
  }

  /** Sends a request that does not count against the rate limit of reads. */
  ping(): Promise<void> {
    return this.client.ping();
  }

  /** @throws McpError if the response is a JSON-RPC error */
  call(name: string, args?: Arguments): Promise<CallToolResult> {
    return this.client.call({ name, arguments: args });
  }

  /** Calls a tool, expects success and returns the structured content. */
  async succeed<T = Record<string, unknown>>(name: string, args?: Arguments): Promise<T> {
    const { isError = false, structuredContent, _meta } = await this.call(name, args);
    expect({ name, isError, _meta }).toEqual({ name, isError: false });
    return structuredContent as T;
  }

  /** Calls a tool, expects a failure and returns its error. */
  async fail(name: string, args?: Arguments): Promise<ToolFailure> {
    const result = await this.call(name, args);
    expect({ name, isError: result.isError, got: result.structuredContent }).toEqual({
      name,
      isError: true,
    });
    return failureOf(result);
  }

  /** POSTs the raw text of a request, which can be one that the SDK would not send. */
  async post(text: string): Promise<Answer> {
    const { text: body, headers } = this.client.toRequest(text);
    const accept = { Accept: 'application/json, text/event-stream' };
    const answer = await this.raw.post('/mcp', body, { headers: { ...accept, ...headers } });
    const { result } = answer.body as { result?: CallToolResult };
    if (!result) return answer;
    return { ...answer, body: { ...answer.body, result: this.client.withoutServerInfo(result) } };
  }

  /** Ends the session, if there is one, and the connection. */
  async close(): Promise<void> {
    connected.delete(this);
    await this.client.close();
  }
}

/** Connects an agent of a tenant to an app. */
export function connectAgent(
  app: { readonly url: string },
  owner: AgentOwner,
  protocolMode: ProtocolMode = 'sessions',
): Promise<Agent> {
  return Agent.connect(app, owner, protocolMode);
}

/** Closes the agents of an app and stops it. Agents that stay open would try to reconnect. */
export async function stopWithAgents(app: {
  readonly url: string;
  stop(): Promise<void>;
}): Promise<void> {
  const { url } = app;
  await Promise.all(
    [...connected].filter((agent) => agent.url === url).map((agent) => agent.close()),
  );
  await app.stop();
}

/** The error in the result of a tool. */
export function failureOf({ _meta }: CallToolResult): ToolFailure {
  return _meta?.['latitude/error'] as ToolFailure;
}

/** The text of a result, which must be its only content. */
export function textOf({ content }: CallToolResult): string {
  expect(content).toEqual([{ type: 'text', text: expect.any(String) as string }]);
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}
