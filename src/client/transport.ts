import { DeadlineExceeded, sleep, withDeadline } from './deadline.js';
import { FailedAttempt, isObject, parseResponse } from './response.js';
import {
  LatitudeAbortError,
  LatitudeConnectionError,
  type LatitudeError,
  LatitudeTimeoutError,
} from './errors.js';
import { jsonOf } from './json.js';
import { retryDelay } from './retry-policy.js';
import type { CallOptions, ClientOptions } from './types.js';

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Relative to the base URL. */
  readonly path: string;
  /** Undefined parameters are left out. An array is a parameter that is given several times. */
  readonly query?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body: JSON, unless a header says otherwise. */
  readonly body?: string | Uint8Array<ArrayBuffer> | Blob;
  /** Whether the response is a file. Its body is then a string, or a `Blob`. */
  readonly isFile?: boolean | 'blob';
  /** Time in milliseconds that the server may wait before it responds. The timeout begins after it. */
  readonly waitMs?: number;
  /** The result of a 404 after an attempt that may have deleted the record. Only for calls that delete it. */
  readonly bodyIfGone?: object | undefined;
}

const DEFAULT_ATTEMPTS = 3;
const DEFAULT_TIMEOUT_MS = 10_000;

/** Sends requests and retries transient failures. */
export class Transport {
  private readonly baseUrl: string;
  private readonly fetch: typeof globalThis.fetch;
  private readonly authorization: string;

  /** @throws TypeError that names the option */
  constructor(private readonly options: ClientOptions) {
    const { baseUrl, apiKey, fetch } = options;
    const url = addressOf(baseUrl);
    if (!url) throw new TypeError('baseUrl must be an address such as https://crm.example.com');
    const { username, password } = url;
    if (username || password || /[?#]/.test(baseUrl)) {
      throw new TypeError(
        'baseUrl must not contain a user name or password, a query or a fragment',
      );
    }
    if (typeof apiKey !== 'string' || !/^[!-~]+$/.test(apiKey)) {
      throw new TypeError('apiKey must be a string that contains an API key');
    }
    if (fetch !== undefined && typeof fetch !== 'function') {
      throw new TypeError('fetch must be a function');
    }
    this.baseUrl = url.href.replace(/\/+$/, '');
    this.authorization = `Bearer ${apiKey}`;
    // Browsers reject a fetch that is called as a method of another object.
    this.fetch = (...args) => (fetch ?? globalThis.fetch)(...args);
    validateLimits(options);
  }

  /**
   * @returns the body of the response
   * @throws LatitudeError, or TypeError that names the option
   */
  async send<Body>(call: ApiCall, options: CallOptions = {}): Promise<Body> {
    const { maxAttempts, timeoutMs } = validateLimits(options, this.options);
    const signals = [this.options.signal, options.signal];
    const attemptMs = timeoutMs + (call.waitMs ?? 0);
    let isUncertain = false;
    for (let attempt = 1; ; attempt++) {
      const result = await this.attempt(call, signals, attemptMs, isUncertain);
      if (!(result instanceof FailedAttempt)) return result as Body;
      isUncertain ||= result.error.uncertain;
      if (isUncertain && call.bodyIfGone && result.error.status === 404) {
        return call.bodyIfGone as Body;
      }
      if (!result.isWorthRetrying || attempt >= maxAttempts) throw result.error;
      const delay = retryDelay(attempt, result.retryAfterMs);
      await sleep(delay, signals).catch((reason: unknown) => {
        throw abortError(reason, isUncertain);
      });
    }
  }

  /** Sends a request that is answered with one record. @returns the record */
  async one<Record>(call: ApiCall, options?: CallOptions): Promise<Record> {
    return (await this.send<{ data: Record }>(call, options)).data;
  }

  /** @returns the body of the response, or why there is none */
  private async attempt(
    call: ApiCall,
    signals: readonly (AbortSignal | undefined)[],
    timeoutMs: number,
    wasUncertain: boolean,
  ): Promise<unknown> {
    const { method, query = {}, isFile } = call;
    const path = call.path + queryString(query);
    const isWrite = method !== 'GET';
    let uncertain = wasUncertain;
    try {
      return await withDeadline(signals, timeoutMs, async (signal) => {
        uncertain ||= isWrite;
        const response = await this.fetch(this.baseUrl + path, this.requestOf(call, signal));
        if (isFile === 'blob' && response.ok) return await response.blob();
        const text = await (isFile ? textOfFile(response) : response.text());
        return parseResponse(response, text, {
          isWrite,
          wasUncertain,
          isFile: isFile !== undefined,
        });
      });
    } catch (cause) {
      const isTimeout = cause instanceof DeadlineExceeded;
      const aborted = signals.find((signal) => signal?.aborted);
      if (aborted && !isTimeout) throw abortError(aborted.reason, uncertain);
      const isOutcomeUnknown = isWrite && (isTimeout || !failedBeforeSending(cause));
      const options = { retryable: true, uncertain: wasUncertain || isOutcomeUnknown, cause };
      const problem = isTimeout ? cause.message : `the connection to ${this.baseUrl} failed`;
      const message = `${method} ${path}: ${problem}`;
      const error = isTimeout
        ? new LatitudeTimeoutError(message, { code: 'timeout', ...options })
        : new LatitudeConnectionError(message, { code: 'connection_failed', ...options });
      return new FailedAttempt(error);
    }
  }

  private requestOf({ method, headers, body }: ApiCall, signal: AbortSignal): RequestInit {
    return {
      method,
      headers: {
        Accept: 'application/json',
        Authorization: this.authorization,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body,
      // A redirected POST would become a GET, and would send the key to another host.
      redirect: 'manual',
      signal,
    };
  }
}

/** The address of a server: absolute, or relative to that of the page as `fetch` resolves it, if there is a page. */
function addressOf(baseUrl: unknown): URL | undefined {
  if (typeof baseUrl !== 'string') return undefined;
  try {
    if (/^https?:\/\//.test(baseUrl)) return new URL(baseUrl);
    // Anything else is taken for a host name without `https:`.
    return /^\.{0,2}\/(?!\/)/.test(baseUrl) ? new URL(new Request(baseUrl).url) : undefined;
  } catch {
    return undefined;
  }
}

/** The query of a URL, with `?`. An object is sent as JSON. */
function queryString(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one == null) continue;
      parameters.append(name, typeof one === 'object' ? jsonOf(name, one as object) : String(one));
    }
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** Whether Node failed before it was connected. Browsers do not report this. */
function failedBeforeSending(failure: unknown): boolean {
  const { cause } = failure as { cause?: { code?: unknown } };
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(cause?.code as string);
}

function abortError(reason: unknown, uncertain: boolean): LatitudeError {
  const options = { uncertain, cause: reason };
  if (isObject(reason) && (reason as { name?: unknown }).name === 'TimeoutError') {
    const message = 'The signal of the caller timed out.';
    return new LatitudeTimeoutError(message, { code: 'timeout', retryable: true, ...options });
  }
  return new LatitudeAbortError('The call was aborted.', { code: 'aborted', ...options });
}

/**
 * @param defaults the options of the client
 * @throws TypeError that names the option
 */
function validateLimits(options: CallOptions, defaults: CallOptions = {}) {
  const { maxAttempts = defaults.maxAttempts ?? DEFAULT_ATTEMPTS } = options;
  const { timeoutMs = defaults.timeoutMs ?? DEFAULT_TIMEOUT_MS } = options;
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1) {
    throw new TypeError('maxAttempts must be an integer of at least 1');
  }
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be a number of milliseconds above 0');
  return { maxAttempts, timeoutMs };
}

/** The text of a file in its charset, with its byte order mark. `text()` takes every body for UTF-8 without one. */
async function textOfFile(response: Response): Promise<string> {
  const [, charset] = /charset=([\w-]+)/.exec(response.headers.get('content-type') ?? '') ?? [];
  const decoder = new TextDecoder(charset, { ignoreBOM: true });
  // Without `stream`, some versions of Node.js decode Windows-1252 as Latin-1.
  return decoder.decode(await response.arrayBuffer(), { stream: true });
}
