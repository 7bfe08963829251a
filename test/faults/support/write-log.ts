import { randomUUID } from 'node:crypto';
import type { Answer, ApiClient } from '../../../src/testing/api-client.js';
import { dataOf, getLead, type LeadRecord, LEADS } from '../../../src/testing/factories.js';

/** Concurrent checks, few enough not to add load. */
const CONCURRENT_CHECKS = 4;

/** Records the writes that were sent during faults and those that were acknowledged. */
export class WriteLog {
  private readonly status = randomUUID();
  private readonly plainIds: string[] = [];
  /** Ids of acknowledged creations by idempotency key. */
  private readonly idempotentIds = new Map<string, string | undefined>();
  private readonly batchStatus = randomUUID();
  /** Ids of the leads of acknowledged batches by idempotency key. */
  private readonly batches = new Map<string, readonly (string | null)[] | undefined>();
  /** For each lead, the number of the last change that was sent and of the last that was acknowledged. */
  private readonly changes = new Map<string, { sent: number; acknowledged: number }>();

  /** Number of acknowledged writes. */
  get acknowledged(): number {
    const once = [...this.idempotentIds.values(), ...this.batches.values()].filter(
      (acknowledged) => acknowledged !== undefined,
    );
    const changes = [...this.changes.values()].map(({ acknowledged }) => acknowledged);
    return this.plainIds.length + once.length + changes.reduce((sum, each) => sum + each, 0);
  }

  /** The leads that are changed. */
  get changed(): string[] {
    return [...this.changes.keys()];
  }

  /** Creates a lead without an idempotency key. */
  async create(api: ApiClient): Promise<Answer> {
    const answer = await api.post(LEADS, { first_name: 'plain' });
    if (answer.status === 201) this.plainIds.push(idOf(answer));
    return answer;
  }

  /** @returns a function that creates leads with idempotency keys, and retries each until it succeeds */
  idempotentCreator(api: ApiClient): () => Promise<Answer> {
    let key = '';
    return async () => {
      key ||= randomUUID();
      this.idempotentIds.set(key, undefined);
      const answer = await this.createWithKey(api, key);
      if (answer.status === 201) {
        this.idempotentIds.set(key, idOf(answer));
        key = '';
      }
      return answer;
    };
  }

  /**
   * @returns a function that sends batches with idempotency keys, and retries each until it succeeds. Each batch creates
   *   two leads, and one of its items is refused.
   */
  batchCreator(api: ApiClient): () => Promise<Answer> {
    let key = '';
    return async () => {
      key ||= randomUUID();
      this.batches.set(key, undefined);
      const answer = await this.createBatch(api, key);
      if (answer.status === 207) {
        this.batches.set(key, idsOf(answer));
        key = '';
      }
      return answer;
    };
  }

  /** Changes a lead that no other writer changes. */
  async change(id: string, send: (body: object) => Promise<Answer>): Promise<Answer> {
    const change = this.changes.get(id) ?? { sent: 0, acknowledged: 0 };
    this.changes.set(id, change);
    const number = ++change.sent;
    const answer = await send({ company: String(number) });
    if (!errorOf(answer)) change.acknowledged = number;
    return answer;
  }

  /** Expects that no acknowledged write is lost, and that retried creations create no duplicates. */
  async expectConsistent(api: ApiClient): Promise<void> {
    await each(this.plainIds, async (id) => {
      await getLead(api, id);
    });
    await each(this.idempotentIds, async ([key, acknowledged]) => {
      const { id } = dataOf(await this.createWithKey(api, key), 201);
      expect(acknowledged ?? id).toBe(id);
    });
    await each(this.batches, async ([key, acknowledged]) => {
      const answer = await this.createBatch(api, key);
      expect(answer.status).toBe(207);
      const ids = idsOf(answer);
      expect(ids).toEqual(acknowledged ?? [expect.any(String), null, expect.any(String)]);
    });
    await each(this.changes, async ([id, { sent, acknowledged }]) => {
      const stored = Number((await getLead(api, id)).company);
      expect(stored).toBeGreaterThanOrEqual(acknowledged);
      expect(stored).toBeLessThanOrEqual(sent);
    });
    expect(await totalOf(api, this.status)).toBe(this.idempotentIds.size);
    expect(await totalOf(api, this.batchStatus)).toBe(2 * this.batches.size);
  }

  private createBatch(api: ApiClient, key: string): Promise<Answer> {
    const data = { first_name: 'batch', status: this.batchStatus };
    const items = [
      { action: 'create', data },
      { action: 'create', data: { ...data, first_name: '' } },
      { action: 'upsert', match_on: ['external_id'], data: { ...data, external_id: key } },
    ];
    return api.post(`${LEADS}/batch`, { items }, { headers: { 'Idempotency-Key': key } });
  }

  private createWithKey(api: ApiClient, key: string): Promise<Answer> {
    const lead = { first_name: 'once', status: this.status };
    return api.post(LEADS, lead, { headers: { 'Idempotency-Key': key } });
  }
}

/** The error of an error response. */
export interface ErrorSummary {
  readonly code: string;
  readonly retryable: boolean;
  readonly message: string;
  /** Undefined if there was no response. */
  readonly request_id?: string;
}

/** The error of a REST response or tool result; undefined on success. */
export function errorOf({ status, body }: Answer): ErrorSummary | undefined {
  const { error, result } = body as {
    error?: ErrorSummary;
    result?: { _meta?: { 'latitude/error'?: ErrorSummary } };
  };
  return status < 300 ? result?._meta?.['latitude/error'] : error;
}

function idOf({ body }: Answer): string {
  return (body as { data: LeadRecord }).data.id;
}

/** The ids of the items of a batch. */
function idsOf({ body }: Answer): (string | null)[] {
  return (body as { data: { id: string | null }[] }).data.map(({ id }) => id);
}

async function totalOf(api: ApiClient, status: string): Promise<number> {
  const { body } = await api.get(`${LEADS}?status=${status}&limit=1`);
  return (body as { meta: { total: number } }).meta.total;
}

async function each<T>(all: Iterable<T>, check: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all].values();
  const checker = async () => {
    for (const one of rest) await check(one);
  };
  await Promise.all(Array.from({ length: CONCURRENT_CHECKS }, checker));
}
