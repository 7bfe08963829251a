import { setTimeout as after } from 'node:timers/promises';
import { type Answer, ApiClient } from '../../../src/testing/api-client.js';
import { createLead, LEADS } from '../../../src/testing/factories.js';
import { inSession, McpCaller, rpcRequest } from '../../../src/testing/mcp-client.js';
import { until } from '../../support/product.js';
import { Ledger, type Refusal, refusalOf } from './ledger.js';

/** Asks once for what a caller wants. */
type Ask = () => Promise<Answer>;

/** What is asked for beside one another. */
const KINDS = ['get', 'list', 'search', 'create', 'create once', 'update', 'tool'] as const;

type Kind = (typeof KINDS)[number];

interface Caller {
  readonly api: ApiClient;
  readonly mcp: McpCaller;
  readonly session: string;
  readonly ledger: Ledger;
  /** A lead of this caller's own. */
  readonly id: string;
}

function asksOf({ api, mcp, session, ledger, id }: Caller): Record<Kind, Ask> {
  const callTool = (name: string, input: object) =>
    mcp.post(rpcRequest('tools/call', { name, arguments: input }), inSession(session));
  return {
    get: () => api.get(`${LEADS}/${id}`),
    list: () => api.get(`${LEADS}?sort_by=updated_at&limit=20`),
    search: () => api.get(`${LEADS}?search=plain&limit=5`),
    create: () => ledger.create(api),
    'create once': ledger.creator(api),
    update: () => ledger.change(id, (change) => api.put(`${LEADS}/${id}`, change)),
    tool: () => ledger.change(id, (change) => callTool('update_lead', { id, ...change })),
  };
}

const CALLERS_OF_EACH = 4;

/** How long a caller thinks before it asks again (milliseconds). */
const PACE_MS = 50;

/** One request; times are milliseconds of `performance.now()`. */
export interface Sample {
  readonly kind: Kind;
  readonly sentAt: number;
  readonly endedAt: number;
  /** Undefined where it succeeded. */
  readonly refusal: Refusal | undefined;
}

/** What a request without an answer counts as: the server was not there. */
const NO_ANSWER: Refusal = { code: 'no answer', retryable: false };

/** Callers of everything, who ask on whatever happens until they are told to stop. */
export class Load {
  readonly samples: Sample[] = [];
  readonly ledger = new Ledger();
  private readonly callers: Promise<void>[] = [];
  private isOver = false;

  private constructor(readonly api: ApiClient) {}

  /** Begins, and returns when each kind of request has succeeded. */
  static async start(url: string, key: string): Promise<Load> {
    const api = new ApiClient(url, key);
    const mcp = new McpCaller(url, key);
    const session = await mcp.open();
    const load = new Load(api);
    for (const kind of KINDS) {
      for (let n = 0; n < CALLERS_OF_EACH; n++) {
        const { id } = await createLead(api);
        const asks = asksOf({ api, mcp, session, ledger: load.ledger, id });
        load.callers.push(load.keepAsking(kind, asks[kind]));
      }
    }
    await until(() => Promise.resolve(load.recovery(0) < Infinity));
    return load;
  }

  /**
   * How long after a moment all was well: each kind of request had succeeded, and none failed that was
   * sent later (milliseconds).
   */
  recovery(since: number): number {
    const firsts = KINDS.map((kind) => {
      const isSuccess = (one: Sample) => one.kind === kind && !one.refusal && one.endedAt >= since;
      return this.samples.find(isSuccess)?.endedAt ?? Infinity;
    });
    const failures = this.samples.filter(({ refusal }) => refusal).map(({ sentAt }) => sentAt);
    return Math.max(since, ...firsts, ...failures) - since;
  }

  /** Lets the last requests end. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.callers);
  }

  private async keepAsking(kind: Kind, ask: Ask): Promise<void> {
    while (!this.isOver) {
      const sentAt = performance.now();
      const refusal = await ask().then(refusalOf, () => NO_ANSWER);
      this.samples.push({ kind, sentAt, endedAt: performance.now(), refusal });
      await after(PACE_MS);
    }
  }
}
