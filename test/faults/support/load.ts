import { setTimeout as after } from 'node:timers/promises';
import { type Answer, ApiClient } from '../../../src/testing/api-client.js';
import { createLead, LEADS } from '../../../src/testing/factories.js';
import { sessionHeader, McpHttpClient, rpcRequest } from '../../../src/testing/mcp-client.js';
import { until } from '../../support/servers/product.js';
import { WriteLog, type ErrorSummary, errorOf } from './write-log.js';

/** Sends one request. */
type SendRequest = () => Promise<Answer>;

/** Kinds of concurrent requests. */
const KINDS = ['get', 'list', 'search', 'create', 'create once', 'update', 'tool'] as const;

type Kind = (typeof KINDS)[number];

interface Caller {
  readonly api: ApiClient;
  readonly mcp: McpHttpClient;
  readonly session: string;
  readonly writeLog: WriteLog;
  /** The lead that only this caller changes. */
  readonly id: string;
}

function requestsOf({ api, mcp, session, writeLog, id }: Caller): Record<Kind, SendRequest> {
  const callTool = (name: string, input: object) =>
    mcp.post(rpcRequest('tools/call', { name, arguments: input }), sessionHeader(session));
  return {
    get: () => api.get(`${LEADS}/${id}`),
    list: () => api.get(`${LEADS}?sort_by=updated_at&limit=20`),
    search: () => api.get(`${LEADS}?search=plain&limit=5`),
    create: () => writeLog.create(api),
    'create once': writeLog.idempotentCreator(api),
    update: () => writeLog.change(id, (change) => api.put(`${LEADS}/${id}`, change)),
    tool: () => writeLog.change(id, (change) => callTool('update_lead', { id, ...change })),
  };
}

const CALLERS_PER_KIND = 4;

/**
 * Pause of a caller between requests in milliseconds. All callers together send more than a hundred requests a second.
 */
const THINK_TIME_MS = 150;

/** One request; times are milliseconds of `performance.now()`. */
export interface Sample {
  readonly kind: Kind;
  readonly sentAt: number;
  readonly endedAt: number;
  /** Undefined on success. */
  readonly refusal: ErrorSummary | undefined;
}

/** Describes a request without a response of the product. */
function noAnswer({ message }: Error): ErrorSummary {
  return { code: 'no answer', retryable: false, message };
}

/** Callers that send all kinds of requests until `stop`, even after failures. */
export class Load {
  readonly samples: Sample[] = [];
  readonly writeLog = new WriteLog();
  private readonly callers: Promise<void>[] = [];
  private isStopped = false;
  /** The time that `recoveryTime` measures without a fault. */
  private undisturbedMs = 0;

  private constructor(readonly api: ApiClient) {}

  /** Starts the load and waits until each kind of request has succeeded. */
  static async start(url: string, key: string): Promise<Load> {
    const api = new ApiClient(url, key);
    const mcp = new McpHttpClient(url, key);
    const session = await mcp.openSession();
    const load = new Load(api);
    for (const kind of KINDS) {
      for (let n = 0; n < CALLERS_PER_KIND; n++) {
        const { id } = await createLead(api);
        const requests = requestsOf({ api, mcp, session, writeLog: load.writeLog, id });
        load.callers.push(load.repeatRequest(kind, requests[kind]));
      }
    }
    await load.timeUntilAllSucceed();
    load.undisturbedMs = await load.timeUntilAllSucceed();
    return load;
  }

  /** Waits until each kind of request has succeeded. Returns the time that it took in milliseconds. */
  private async timeUntilAllSucceed(): Promise<number> {
    const since = performance.now();
    await until(() => Promise.resolve(this.recoveryTime(since) < Infinity));
    return this.recoveryTime(since);
  }

  /**
   * Milliseconds from a time until each kind of request has succeeded and no later request failed.
   */
  recoveryTime(since: number): number {
    const firsts = KINDS.map((kind) => {
      const isSuccess = (one: Sample) => one.kind === kind && !one.refusal && one.endedAt >= since;
      return this.samples.find(isSuccess)?.endedAt ?? Infinity;
    });
    const failures = this.samples.filter(({ refusal }) => refusal).map(({ sentAt }) => sentAt);
    return Math.max(since, ...firsts, ...failures) - since;
  }

  /** The part of the recovery time that is due to the fault, and not to the speed of the machine. */
  delayAfter(since: number): number {
    return this.recoveryTime(since) - this.undisturbedMs;
  }

  /** Waits for the last requests to end. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.callers);
  }

  private async repeatRequest(kind: Kind, ask: SendRequest): Promise<void> {
    while (!this.isStopped) {
      const sentAt = performance.now();
      const refusal = await ask().then(errorOf, noAnswer);
      this.samples.push({ kind, sentAt, endedAt: performance.now(), refusal });
      await after(THINK_TIME_MS);
    }
  }
}
