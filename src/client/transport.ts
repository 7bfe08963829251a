import { Deadline, DeadlineExceeded, sleep } from './deadline.js';
import { type ApiResponse, FailedAttempt, isObject, parseResponse } from './response.js';
import {
  LatitudeAbortError,
  LatitudeConnectionError,
  LatitudeError,
  LatitudeTimeoutError,
} from './errors.js';
import { retryDelay } from './retry-policy.js';
import type { CallOptions, ClientOptions } from './types.js';

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, relative to the base URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body: JSON, unless a header says otherwise. */
  readonly body?: string | Uint8Array<ArrayBuffer> | Blob;
  /** Whether the response is a file. Its body is then a string. */
  readonly isFile?: boolean;
  /** Time in milliseconds that the server may wait before it responds. The timeout begins after it. */
  readonly waitMs?: number;
  /** The result of a 404 after an attempt that may have deleted the record. Only for calls that delete it. */
  readonly bodyIfGone?: unknown;
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
    if (typeof baseUrl !== 'string' || !/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
      throw new TypeError('baseUrl must be an address such as https://crm.example.com');
    }
    const { username, password } = new URL(baseUrl);
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
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.authorization = `Bearer ${apiKey}`;
    // Browsers reject a fetch that is called as a method of another object.
    this.fetch = fetch ?? ((...args) => globalThis.fetch(...args));
    validateLimits(options);
  }

  /** @throws LatitudeError, or TypeError that names the option */
  async send(call: ApiCall, options: CallOptions = {}): Promise<ApiResponse> {
    const { maxAttempts, timeoutMs } = validateLimits({ ...this.options, ...defined(options) });
    const signals = [this.options.signal, options.signal];
    const attemptMs = timeoutMs + (call.waitMs ?? 0);
    let isUncertain = false;
    for (let attempt = 1; ; attempt++) {
      const result = await this.attempt(call, signals, attemptMs, isUncertain);
      if (!(result instanceof FailedAttempt)) return result;
      isUncertain ||= result.isOutcomeUnknown;
      if (isUncertain && call.bodyIfGone && result.error.status === 404) {
        return { body: call.bodyIfGone, etag: null };
      }
      if (!result.isWorthRetrying || attempt >= maxAttempts) throw result.error;
      const delay = retryDelay(attempt, result.retryAfterMs);
      await sleep(delay, signals).catch((reason: unknown) => {
        throw abortError(reason, isUncertain);
      });
    }
  }

  private async attempt(
    call: ApiCall,
    signals: readonly (AbortSignal | undefined)[],
    timeoutMs: number,
    wasUncertain: boolean,
  ): Promise<ApiResponse | FailedAttempt> {
    const isWrite = call.method !== 'GET';
    const deadline = new Deadline(signals, timeoutMs);
    try {
      if (deadline.signal.aborted) throw abortError(deadline.signal.reason, wasUncertain);
      const response = await deadline.race(this.fetch(...this.request(call, deadline.signal)));
      const text = await deadline.race(response.text());
      return parseResponse(response, text, { isWrite, wasUncertain, isFile: call.isFile });
    } catch (cause) {
      if (cause instanceof LatitudeError) throw cause;
      const uncertain = wasUncertain || isWrite;
      if (cause instanceof DeadlineExceeded) {
        const message = `${call.method} ${call.path}: ${cause.message}`;
        const options = { code: 'timeout', retryable: true, uncertain, cause } as const;
        return new FailedAttempt(new LatitudeTimeoutError(message, options), 0, isWrite);
      }
      if (deadline.signal.aborted) throw abortError(deadline.signal.reason, uncertain);
      const isOutcomeUnknown = isWrite && !failedBeforeSending(cause);
      const message = `${call.method} ${call.path}: the connection to ${this.baseUrl} failed`;
      const error = new LatitudeConnectionError(message, {
        code: 'connection_failed',
        retryable: true,
        uncertain: wasUncertain || isOutcomeUnknown,
        cause,
      });
      return new FailedAttempt(error, 0, isOutcomeUnknown);
    } finally {
      deadline.clear();
    }
  }

  private request(call: ApiCall, signal: AbortSignal): [string, RequestInit] {
    const { method, path, headers, body } = call;
    const init: RequestInit = {
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
    return [this.baseUrl + path, init];
  }
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

/** @throws TypeError that names the option */
function validateLimits({
  maxAttempts = DEFAULT_ATTEMPTS,
  timeoutMs = DEFAULT_TIMEOUT_MS,
}: CallOptions) {
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1) {
    throw new TypeError('maxAttempts must be an integer of at least 1');
  }
  if (!(timeoutMs > 0)) throw new TypeError('timeoutMs must be a number of milliseconds above 0');
  return { maxAttempts, timeoutMs };
}

function defined(options: CallOptions): CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
