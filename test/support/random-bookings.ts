import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient, Answer } from '../../src/testing/api-client.js';

const APPOINTMENTS = '/api/v1/appointments';
const HOLDS = '/api/v1/holds';

const START = Date.UTC(2040, 0, 2);
const HOUR = 3_600_000;
/** Few enough that callers often want the same time. */
const HOURS = 24;

const STATUSES = ['scheduled', 'confirmed', 'completed', 'cancelled', 'no_show'];

interface Appointment {
  id: string;
  resource_id: string | null;
  start_time: string;
  end_time: string;
  status: string;
}

/** SQL that counts the pairs of appointments of one resource whose times overlap, without the table of busy times. */
export const COUNT_OVERLAPS = `select count(*)::int as overlaps from appointments a
  join appointments b on a.organization_id = b.organization_id and a.resource_id = b.resource_id and a.id < b.id
    and a.start_time < b.end_time and b.start_time < a.end_time
  where a.status not in ('cancelled', 'no_show') and b.status not in ('cancelled', 'no_show')`;

/** SQL that counts the appointments that take time and have no row of it, and the rows without an appointment. */
export const COUNT_DIFFERENCES = `select count(*)::int as differences
  from (select organization_id, id, resource_id, start_time, end_time from appointments
      where resource_id is not null and status not in ('cancelled', 'no_show')) a
    full join (select organization_id, id, resource_id, start_time, end_time from busy_times where key_id is null) b
      using (organization_id, id, resource_id, start_time, end_time)
  where a.id is null or b.id is null`;

/** Callers that book, move, cancel, reschedule and hold the same times at random. */
export class RandomBookings {
  /** The appointments as they were last acknowledged, without those of requests whose outcome is unknown. */
  readonly acknowledged = new Map<string, Appointment>();
  readonly codes = new Map<string, number>();
  requests = 0;

  /** @param random returns a number from 0 to 1 */
  constructor(
    private readonly leadId: string,
    private readonly resources: readonly string[],
    private readonly random: () => number = Math.random,
  ) {}

  /** One caller. Only it changes the appointments that it has created. */
  async run(client: () => ApiClient, isOver: () => boolean): Promise<void> {
    const own: string[] = [];
    while (!isOver()) {
      try {
        await this.act(client(), own);
      } catch {
        // The server was killed.
        this.count('lost');
        await pause(100);
      }
    }
  }

  private async act(api: ApiClient, own: string[]): Promise<void> {
    const id = own[Math.floor(this.random() * own.length)];
    const kind = this.random();
    if (id === undefined || kind < 0.3) return this.create(api, own, this.target());
    if (kind < 0.45) return this.create(api, own, await this.held(api));
    if (kind < 0.6) return this.change(id, () => api.delete(`${APPOINTMENTS}/${id}`));
    const changes = {
      ...(this.random() < 0.5 && this.time()),
      ...(this.random() < 0.5 && { status: this.pick(STATUSES) }),
      ...(this.random() < 0.3 && { resource_id: this.pick([...this.resources, null]) }),
    };
    return this.change(id, () => api.put(`${APPOINTMENTS}/${id}`, changes));
  }

  private async create(api: ApiClient, own: string[], target: object): Promise<void> {
    const answer = await api.post(APPOINTMENTS, { lead_id: this.leadId, ...target });
    this.count(codeOf(answer));
    if (answer.status !== 201) return;
    const { data } = answer.body as { data: Appointment };
    own.push(data.id);
    this.acknowledged.set(data.id, data);
  }

  private async change(id: string, send: () => Promise<Answer>): Promise<void> {
    const before = this.acknowledged.get(id);
    this.acknowledged.delete(id);
    const answer = await send();
    this.count(codeOf(answer));
    if (answer.status >= 500 || !before) return;
    const changed =
      answer.status === 200 ? (answer.body as { data: Partial<Appointment> }).data : {};
    const isCancelled = 'cancelled' in changed;
    this.acknowledged.set(id, {
      ...before,
      ...changed,
      ...(isCancelled && { status: 'cancelled' }),
    });
  }

  /** A hold, which some callers use and others let expire. */
  private async held(api: ApiClient): Promise<object> {
    const seconds = this.random() < 0.5 ? 1 : 10;
    const answer = await api.post(HOLDS, { ...this.target(), seconds });
    this.count(codeOf(answer));
    if (answer.status !== 201 || this.random() < 0.3) return this.target();
    return { hold_id: (answer.body as { data: { id: string } }).data.id };
  }

  private target(): object {
    const resource = this.random();
    if (resource < 0.2) return { any_of: this.resources, ...this.time() };
    return { resource_id: this.pick(this.resources), ...this.time() };
  }

  private time() {
    const start = START + (Math.floor(this.random() * HOURS * 4) / 4) * HOUR;
    const end = start + this.pick([0.25, 0.5, 1, 2]) * HOUR;
    return { start_time: new Date(start).toISOString(), end_time: new Date(end).toISOString() };
  }

  private pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)]!;
  }

  private count(code: string): void {
    this.requests++;
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  /** @returns the acknowledged appointments that the API does not answer as they were acknowledged */
  async lost(api: ApiClient): Promise<string[]> {
    const lost: string[] = [];
    for (const [id, known] of this.acknowledged) {
      const { body } = await api.get(`${APPOINTMENTS}/${id}`);
      const { resource_id, start_time, end_time, status } =
        (body as { data?: Appointment }).data ?? {};
      const stored = JSON.stringify([resource_id, start_time, end_time, status]);
      const expected = [known.resource_id, known.start_time, known.end_time, known.status];
      if (stored !== JSON.stringify(expected)) lost.push(id);
    }
    return lost;
  }
}

function codeOf({ status, body }: Answer): string {
  return status < 300 ? 'ok' : (body as { error: { code: string } }).error.code;
}
