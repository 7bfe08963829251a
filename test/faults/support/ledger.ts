import { randomUUID } from 'node:crypto';
import type { Answer, ApiClient } from '../../../src/testing/api-client.js';
import { dataOf, getLead, type LeadRecord, LEADS } from '../../../src/testing/factories.js';

/** Few enough at a time to be no load of their own. */
const CHECKERS = 4;

/** What was written through faults, and what of it was acknowledged. */
export class Ledger {
  private readonly status = randomUUID();
  private readonly plain: string[] = [];
  /** The ids that creates were answered with, by their idempotency keys. */
  private readonly once = new Map<string, string | undefined>();
  /** For each lead the number of the last change that was sent, and of the last that was answered. */
  private readonly changes = new Map<string, { sent: number; acknowledged: number }>();

  /** How many writes were acknowledged, of any kind. */
  get acknowledged(): number {
    const once = [...this.once.values()].filter((id) => id !== undefined);
    const changes = [...this.changes.values()].map(({ acknowledged }) => acknowledged);
    return this.plain.length + once.length + changes.reduce((sum, each) => sum + each, 0);
  }

  /** The leads that are changed. */
  get changed(): string[] {
    return [...this.changes.keys()];
  }

  /** Creates a lead without a key, so that a retry would make a second one. */
  async create(api: ApiClient): Promise<Answer> {
    const answer = await api.post(LEADS, { first_name: 'plain' });
    if (answer.status === 201) this.plain.push(idOf(answer));
    return answer;
  }

  /** A caller who creates one lead after another, each tried again until it is there. */
  creator(api: ApiClient): () => Promise<Answer> {
    let key = '';
    return async () => {
      key ||= randomUUID();
      this.once.set(key, undefined);
      const answer = await this.createOnce(api, key);
      if (answer.status === 201) {
        this.once.set(key, idOf(answer));
        key = '';
      }
      return answer;
    };
  }

  /** Changes a lead that no one else changes, by whatever way sends it. */
  async change(id: string, send: (body: object) => Promise<Answer>): Promise<Answer> {
    const change = this.changes.get(id) ?? { sent: 0, acknowledged: 0 };
    this.changes.set(id, change);
    const number = ++change.sent;
    const answer = await send({ company: String(number) });
    if (!refusalOf(answer)) change.acknowledged = number;
    return answer;
  }

  /** Expects that nothing acknowledged is lost, and nothing doubled after every create is retried. */
  async expectKept(api: ApiClient): Promise<void> {
    await each(this.plain, async (id) => {
      await getLead(api, id);
    });
    await each(this.once, async ([key, acknowledged]) => {
      const { id } = dataOf(await this.createOnce(api, key), 201);
      expect(acknowledged ?? id).toBe(id);
    });
    await each(this.changes, async ([id, { sent, acknowledged }]) => {
      const stored = Number((await getLead(api, id)).company);
      expect(stored).toBeGreaterThanOrEqual(acknowledged);
      expect(stored).toBeLessThanOrEqual(sent);
    });
    const all = await api.get(`${LEADS}?status=${this.status}&limit=1`);
    expect(all.body).toMatchObject({ meta: { total: this.once.size } });
  }

  private createOnce(api: ApiClient, key: string): Promise<Answer> {
    const lead = { first_name: 'once', status: this.status };
    return api.post(LEADS, lead, { headers: { 'Idempotency-Key': key } });
  }
}

/** What an envelope says of a request that failed. */
export interface Refusal {
  readonly code: string;
  readonly retryable: boolean;
}

/** Why a request was refused, by REST or by a tool; undefined where it was not. */
export function refusalOf({ status, body }: Answer): Refusal | undefined {
  const { error, result } = body as {
    error?: Refusal;
    result?: { _meta?: { 'latitude/error'?: Refusal } };
  };
  return status < 300 ? result?._meta?.['latitude/error'] : error;
}

function idOf({ body }: Answer): string {
  return (body as { data: LeadRecord }).data.id;
}

async function each<T>(all: Iterable<T>, check: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all].values();
  const checker = async () => {
    for (const one of rest) await check(one);
  };
  await Promise.all(Array.from({ length: CHECKERS }, checker));
}
