import { type ClientOptions, LatitudeClient, LatitudeError } from '../../src/client/index.js';

/** A connection that was refused, so that nothing was sent. */
export const REFUSED = Object.assign(new TypeError('fetch failed'), {
  cause: { code: 'ECONNREFUSED' },
});
/** A connection that was lost after the request was sent. */
export const RESET = Object.assign(new TypeError('fetch failed'), {
  cause: { code: 'ECONNRESET' },
});

export interface Sent {
  at: number;
  url: string;
  init: RequestInit & { headers: Record<string, string> };
}

export type Step = Response | Error | 'silence' | (() => Response);

/** The requests of all clients of `clientOf`. A suite empties it before each test. */
export const sent: Sent[] = [];

/** Returns a client whose attempts get these answers, in this order. */
export function clientOf(
  steps: readonly Step[],
  options: Partial<ClientOptions> = {},
): LatitudeClient {
  const left = [...steps];
  const fetch = ((url: string, init: Sent['init']) => {
    sent.push({ at: Date.now(), url, init });
    const step = left.shift();
    if (step === undefined) throw new Error('one attempt too many');
    if (step === 'silence') return new Promise(() => undefined);
    if (step instanceof Error) return Promise.reject(step);
    return Promise.resolve(typeof step === 'function' ? step() : step);
  }) as unknown as typeof globalThis.fetch;
  return new LatitudeClient({ baseUrl: 'http://crm.test/', apiKey: 'lat_k', fetch, ...options });
}

export function answer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(body), { status, headers });
}

export function error(
  status: number,
  code: string,
  headers: Record<string, string> = {},
): Response {
  const retryable = status === 429 || (status >= 500 && status !== 501) || code.endsWith('_in_use');
  return answer(status, { error: { code, message: code, retryable, request_id: 'r' } }, headers);
}

/** Runs all timers of a call until it settles. */
async function settle<T>(call: Promise<T>): Promise<PromiseSettledResult<T>> {
  const settled = Promise.allSettled([call]).then(([result]) => result);
  await jest.runAllTimersAsync();
  return settled;
}

export async function failureOf(call: Promise<unknown>): Promise<LatitudeError> {
  const result = await settle(call);
  if (result.status === 'fulfilled') throw new Error('the call succeeded');
  expect(result.reason).toBeInstanceOf(LatitudeError);
  return result.reason as LatitudeError;
}

export async function resultOf<T>(call: Promise<T>): Promise<T> {
  const result = await settle(call);
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
