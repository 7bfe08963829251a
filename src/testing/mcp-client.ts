import { type Answer, ApiClient } from './api-client.js';

/** A server-sent event. */
export interface StreamEvent {
  readonly id?: string;
  readonly retry?: string;
  readonly data: string;
}

/** Additional HTTP headers of a request. */
type Headers = Readonly<Record<string, string>>;

export const LATEST_REVISION = '2025-11-25';

/** The protocol revision without sessions. */
export const STATELESS_REVISION = '2026-07-28';

export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** The `_meta` that every request of this revision contains. */
export const STATELESS_META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS_REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

let requests = 0;

/** A JSON-RPC request, by default with a unique id. */
export function rpcRequest(method: string, params?: object, id: unknown = ++requests) {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

export function rpcNotification(method: string, params?: object) {
  return { jsonrpc: '2.0', method, ...(params && { params }) };
}

/** A valid `initialize` request; `params` overrides its parameters. */
export function initializeRequest(params: object = {}, id?: unknown) {
  return rpcRequest(
    'initialize',
    {
      protocolVersion: LATEST_REVISION,
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
      ...params,
    },
    id,
  );
}

/** A valid request of the revision without sessions; `params` overrides its parameters. */
export function statelessRequest(method: string, params: object = {}, id?: unknown) {
  return rpcRequest(method, { _meta: STATELESS_META, ...params }, id);
}

/** The headers that repeat the method and name of such a request. */
export function mirrorHeaders(method: string, params: { name?: unknown; uri?: unknown } = {}) {
  const name = params.name ?? params.uri;
  return {
    'MCP-Protocol-Version': STATELESS_REVISION,
    'Mcp-Method': method,
    ...(typeof name === 'string' && { 'Mcp-Name': name }),
  };
}

/** The header with the id of a session. */
export function sessionHeader(id: string) {
  return { 'Mcp-Session-Id': id };
}

/** Sends plain HTTP requests to /mcp with one key, or without a key. */
export class McpHttpClient {
  private readonly api: ApiClient;

  constructor(
    private readonly url: string,
    private readonly key?: string,
  ) {
    this.api = new ApiClient(url, key);
  }

  request(
    method: string,
    { path = '/mcp', body, headers }: { path?: string; body?: unknown; headers?: Headers } = {},
  ): Promise<Answer> {
    const accept = { Accept: 'application/json, text/event-stream' };
    return this.api.request(method, path, { body, headers: { ...accept, ...headers } });
  }

  post(body: unknown, headers?: Headers): Promise<Answer> {
    return this.request('POST', { body, headers });
  }

  initialize(params?: object, headers?: Headers): Promise<Answer> {
    return this.post(initializeRequest(params), headers);
  }

  /** Opens a session and returns its id. */
  async openSession(protocolVersion = LATEST_REVISION): Promise<string> {
    const { status, headers, body } = await this.initialize({ protocolVersion });
    expect({ status, body: body as unknown }).toMatchObject({ status: 200 });
    const id = headers.get('mcp-session-id');
    expect(id).toBeTruthy();
    return id!;
  }

  /** Sends a request in a session. */
  rpc(session: string, method: string, params?: object, id?: unknown): Promise<Answer> {
    return this.post(rpcRequest(method, params, id), sessionHeader(session));
  }

  /** Sends a request of the revision without sessions. */
  statelessRpc(method: string, params: object = {}, id?: unknown): Promise<Answer> {
    return this.post(statelessRequest(method, params, id), mirrorHeaders(method, params));
  }

  delete(session?: string): Promise<Answer> {
    return this.request('DELETE', { headers: session === undefined ? {} : sessionHeader(session) });
  }

  /** Opens an event stream of a session. */
  openStream(session: string, headers: Headers = {}): Promise<EventReader> {
    return this.stream('GET', { ...sessionHeader(session), ...headers });
  }

  /** Opens an event stream without a session. Its first event acknowledges the subscriptions. */
  openStatelessStream(notifications: object, id: unknown = 'feed'): Promise<EventReader> {
    const method = 'subscriptions/listen';
    const headers = { 'Content-Type': 'application/json', ...mirrorHeaders(method) };
    const body = JSON.stringify(statelessRequest(method, { notifications }, id));
    return this.stream('POST', headers, body);
  }

  private async stream(method: string, headers: Headers, body?: string): Promise<EventReader> {
    const abort = new AbortController();
    const response = await fetch(`${this.url}/mcp`, {
      ...{ method, body, signal: abort.signal },
      headers: {
        Accept: 'text/event-stream',
        ...(this.key !== undefined && { Authorization: `Bearer ${this.key}` }),
        ...headers,
      },
    });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return new EventReader(response, abort);
  }
}

/** Reads the events of a stream one by one. */
export class EventReader {
  private readonly reader: ReadableStreamDefaultReader<string>;
  private text = '';

  constructor(
    private readonly response: Response,
    private readonly abort: AbortController,
  ) {
    this.reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  }

  get headers(): Response['headers'] {
    return this.response.headers;
  }

  /** The next event; undefined after the end of the stream. */
  async next(): Promise<StreamEvent | undefined> {
    for (;;) {
      const end = this.text.indexOf('\n\n');
      if (end === -1) {
        const { done, value } = await this.reader.read();
        if (done) {
          expect(this.text).toBe('');
          return undefined;
        }
        this.text += value;
      } else {
        const block = this.text.slice(0, end);
        this.text = this.text.slice(end + 2);
        // A block with only comments keeps the connection alive and is not an event.
        if (!/^(:.*\n?)*$/.test(block)) return readEvent(block);
      }
    }
  }

  /** The message of the next event. */
  async nextMessage(): Promise<{ id?: string; message: unknown }> {
    const event = await this.next();
    if (!event) throw new Error('the stream has ended');
    return { id: event.id, message: JSON.parse(event.data) as unknown };
  }

  /** Closes the connection without ending the session. */
  disconnect(): void {
    this.abort.abort();
    this.reader.closed.catch(() => undefined);
  }
}

function readEvent(block: string): StreamEvent {
  const fields = block.split('\n').map((line): [name: string, value: string] => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  const { data = '', ...others } = Object.fromEntries(fields);
  return { ...others, data };
}
