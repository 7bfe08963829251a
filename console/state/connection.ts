import { Store } from './store.js';

/** What is left of a limit, from the headers of the last response. */
export interface Limit {
  readonly limit: number;
  readonly remaining: number;
}

export interface Limits {
  readonly reads?: Limit;
  readonly writes?: Limit;
}

/** Whether requests reach the service. `until` is when the next one is sent after a 429. */
export interface Connection {
  readonly state: 'connected' | 'lost' | 'waiting';
  readonly until?: Date;
}

const CONNECTED: Connection = { state: 'connected' };

export const limits = new Store<Limits>({});
export const connection = new Store<Connection>(CONNECTED);
/** Whether the service has refused the key since it was entered. */
export const isKeyRefused = new Store(false);

/** Responses with an entity tag, so that an unchanged record is not sent again. */
const known = new Map<string, { readonly etag: string; readonly body: string }>();
const MAX_KNOWN = 100;

export function forgetResponses(): void {
  known.clear();
}

/** `fetch` for the client: follows limits and connection, and repeats no body that is known. */
export const observedFetch: typeof fetch = async (input, init = {}) => {
  const url = input as string;
  const stored = init.method === 'GET' ? known.get(url) : undefined;
  const headers = { ...(init.headers as Record<string, string>) };
  if (stored) headers['If-None-Match'] = stored.etag;
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers, cache: 'no-store', credentials: 'omit' });
  } catch (error) {
    if (!init.signal?.aborted) connection.set({ state: 'lost' });
    throw error;
  }
  observe(response, init.method === 'GET' ? 'reads' : 'writes');
  if (stored && response.status === 304) return answer(stored.body, response);
  const etag = response.headers.get('ETag');
  if (init.method !== 'GET' || !response.ok || etag === null) return response;
  const body = await response.text();
  known.delete(url);
  known.set(url, { etag, body });
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  return answer(body, response);
};

function observe({ status, headers }: Response, kind: keyof Limits): void {
  const limit = headers.get('RateLimit-Limit');
  const remaining = headers.get('RateLimit-Remaining');
  if (limit !== null && remaining !== null) {
    const left = { limit: Number(limit), remaining: Number(remaining) };
    limits.set({ ...limits.value, [kind]: left });
  }
  const seconds = Number(headers.get('Retry-After'));
  const isWaiting = status === 429 && seconds > 0;
  const until = new Date(Date.now() + seconds * 1_000);
  connection.set(isWaiting ? { state: 'waiting', until } : CONNECTED);
  if (status === 401) isKeyRefused.set(true);
}

function answer(body: string, { headers }: Response): Response {
  return new Response(body, { status: 200, headers });
}
