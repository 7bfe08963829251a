import type { Settings } from '../../../src/platform/config/settings.js';
import { VERSION } from '../../../src/platform/config/version.js';
import type { Answer } from '../../../src/testing/api-client.js';
import { expectInvalid } from '../../../src/testing/factories.js';
import {
  sessionHeader,
  McpHttpClient,
  rpcRequest,
  SERVER_INFO,
} from '../../../src/testing/mcp-client.js';
import type { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant, TestServer } from '../../../src/testing/test-server.js';
import { until } from '../servers/product.js';

export const MCP = '/mcp';
export const VERSION_WITH_BATCHES = '2025-03-26';
export const VERSIONS_WITHOUT_BATCHES = ['2025-11-25', '2025-06-18', '2024-11-05'];
export const LIST_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
export const FOREIGN_ORIGIN = { Origin: 'https://evil.example' };

/** Sends a minimal request of each HTTP method, with or without a session id. */
export const SEND: Readonly<
  Record<'POST' | 'GET' | 'DELETE', (caller: McpHttpClient, session?: string) => Promise<Answer>>
> = {
  POST: (caller, session) => caller.post(rpcRequest('ping'), headersOf(session)),
  GET: (caller, session) => caller.request('GET', { headers: headersOf(session) }),
  DELETE: (caller, session) => caller.delete(session),
};
export const METHODS = ['POST', 'GET', 'DELETE'] as const;

function headersOf(session: string | undefined) {
  return session === undefined ? {} : sessionHeader(session);
}

/**
 * Helpers for a suite that tests one server, and other instances on the same database.
 * @param main returns the server of the suite
 */
export function mcpHelpers(main: () => TestServer) {
  const instances: TestServer[] = [];
  return {
    /** Starts one more instance on the same database. It has its own sessions and rate limits. */
    start: async (settings: Partial<Settings> = {}): Promise<TestApp> => {
      const { TestApp } = await import('../../../src/testing/test-app.js');
      const instance = await TestApp.start({ settings, database: main().database });
      instances.push(instance);
      return instance;
    },
    stopAll: () => Promise.all([main(), ...instances].map((app) => app.stop())),
    callerOf: ({ key }: Tenant, app: TestServer = main()) => new McpHttpClient(app.url, key.key),
    callerWithoutKey: (app: TestServer = main()) => new McpHttpClient(app.url),
  };
}

/** @returns the id of a terminated session */
export async function terminatedSession(caller: McpHttpClient): Promise<string> {
  const session = await caller.openSession();
  await caller.delete(session);
  return session;
}

/** Waits until a synchronous condition is true. */
export function untilTrue(condition: () => boolean): Promise<void> {
  return until(() => Promise.resolve(condition()));
}

export function expectLimits({ headers }: Answer): void {
  for (const name of ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']) {
    expect({ [name]: headers.get(name) }).toEqual({
      [name]: expect.stringMatching(/^\d+$/) as string,
    });
  }
}

/** Expects the error envelope and the headers of REST, and problems with these fields if any are given. */
export function expectRefusal(
  answer: Answer,
  status: number,
  code: string,
  ...fields: string[]
): void {
  const { headers } = answer;
  expect({ status: answer.status, body: answer.body as unknown }).toEqual({
    status,
    body: {
      error: {
        code,
        message: expect.stringMatching(/./) as string,
        retryable: status === 429 || status >= 500,
        request_id: headers.get('x-request-id'),
        ...(code === 'validation_error' && { details: expect.any(Array) as unknown[] }),
      },
    },
  });
  expect(headers.get('x-request-id')).toBeTruthy();
  expect(headers.get('content-type')).toMatch(/^application\/json\b/);
  expectLimits(answer);
  if (fields.length > 0) expectInvalid(answer, ...fields);
}

/** Expects a JSON-RPC response with this result. */
export function expectResult(answer: Answer, id: unknown, result: unknown): void {
  expect({ status: answer.status, body: answer.body as unknown }).toEqual({
    status: 200,
    body: { jsonrpc: '2.0', id, result },
  });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  expectLimits(answer);
}

/** Expects a complete result of the stateless protocol version and returns it without the common fields. */
export function statelessResultOf({ status, headers, body }: Answer): Record<string, unknown> {
  expect({ status, body: body as unknown }).toMatchObject({
    status: 200,
    body: { jsonrpc: '2.0' },
  });
  expect(headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
  const { resultType, _meta, ...result } = (body as { result: Record<string, unknown> }).result;
  const serverInfo = { name: 'latitude', title: 'Latitude', version: VERSION };
  expect({ resultType, _meta }).toMatchObject({
    resultType: 'complete',
    _meta: { [SERVER_INFO]: serverInfo },
  });
  return result;
}

/** Expects a JSON-RPC error with this HTTP status. */
export function expectRpcError(
  { status, body }: Answer,
  expected: number,
  code: number,
  data?: object,
): void {
  expect({ status, body: body as unknown }).toMatchObject({
    status: expected,
    body: { jsonrpc: '2.0', error: { code, message: expect.stringMatching(/./) as string } },
  });
  if (data) expect((body as { error: object }).error).toMatchObject({ data });
}

/** Expects a JSON-RPC error and returns it without its message. */
export async function rpcErrorOf(answer: Promise<Answer>): Promise<object> {
  const { body } = await answer;
  const { message, ...error } = (body as { error: { message: string } }).error;
  expect(message).toMatch(/./);
  return error;
}

/** Expects that a session answers a ping of its key. */
export async function expectAlive(caller: McpHttpClient, session: string): Promise<void> {
  expectResult(await caller.rpc(session, 'ping', undefined, 'alive'), 'alive', {});
}
