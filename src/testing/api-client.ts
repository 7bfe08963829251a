import http from 'node:http';
import { rawRequest } from './raw-http.js';

/** Closes an idle connection before the server does, so that no request meets a closed connection. */
const AGENT = new http.Agent({ keepAlive: true, timeout: 2_000 });

/** A complete response. `body` is the parsed JSON, untyped so that tests can read any field. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

interface RequestOptions {
  /** Sent as JSON; a string or bytes are sent as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends requests to the API with one key, or without a key. */
export class ApiClient {
  constructor(
    private readonly url: string,
    private readonly key?: string,
  ) {}

  get(path: string, options?: RequestOptions): Promise<Answer> {
    return this.request('GET', path, options);
  }

  post(path: string, body: unknown, options?: RequestOptions): Promise<Answer> {
    return this.request('POST', path, { body, ...options });
  }

  put(path: string, body: unknown, options?: RequestOptions): Promise<Answer> {
    return this.request('PUT', path, { body, ...options });
  }

  delete(path: string, options?: RequestOptions): Promise<Answer> {
    return this.request('DELETE', path, options);
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { body, headers } = options;
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const { port, pathname, search } = new URL(this.url + path);
    return rawRequest(Number(port), {
      method,
      path: pathname + search,
      headers: {
        ...(this.key !== undefined && { Authorization: `Bearer ${this.key}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: raw || body === undefined ? body : JSON.stringify(body),
      agent: AGENT,
    });
  }
}
