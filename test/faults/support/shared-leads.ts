import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Answer, ApiClient } from '../../../src/testing/api-client.js';
import {
  dataOf,
  createLead,
  getLead,
  type LeadRecord,
  LEADS,
} from '../../../src/testing/factories.js';
import { errorOf } from './write-log.js';

/** The number of leads that all callers of an organization read and update. */
const LEAD_COUNT = 4;

/** Each caller changes a field of its own in all leads, so that it knows which values can be stored. */
const FIELDS = [
  ...(['notes', 'status', 'company', 'address_street'] as const),
  ...(['city', 'last_name', 'zip', 'first_name'] as const),
];

type Field = (typeof FIELDS)[number];

/** The operations of a caller. Reads and updates are of shared leads. */
const OPERATIONS = [
  ...['read', 'read', 'read', 'update', 'update', 'update'],
  ...['create', 'create with a key', 'delete'],
] as const;

/**
 * One organization whose callers read, update, create and delete leads at the same time. It records which state
 * PostgreSQL can have: exactly one if all writes were acknowledged, more after a write whose outcome is unknown.
 */
export class SharedLeads {
  /** What was answered wrongly. */
  readonly problems: string[] = [];
  /** Error codes and their number. */
  readonly refusals = new Map<string, number>();
  requests = 0;
  private ids: string[] = [];
  /** The values that a field of a lead can have. */
  private readonly possible = new Map<string, Set<string | null>>();
  /** The ids of leads whose creation was acknowledged and whose deletion was not sent, by e-mail. */
  private readonly created = new Map<string, string>();
  /** The e-mails of leads whose deletion was acknowledged. */
  private readonly deleted = new Set<string>();
  private written = 0;

  /** @param name the prefix of all values that this organization stores */
  constructor(
    private readonly organizationId: string,
    private readonly api: ApiClient,
    private readonly name: string,
  ) {}

  async prepare(): Promise<void> {
    const body = Object.fromEntries(FIELDS.map((field) => [field, this.name]));
    for (let n = 0; n < LEAD_COUNT; n++) this.ids.push((await createLead(this.api, body)).id);
    for (const id of this.ids) {
      for (const field of FIELDS) this.possible.set(id + field, new Set([this.name]));
    }
  }

  /** Returns one caller for each field. A caller sends requests until `isOver`. */
  callers(isOver: () => boolean): Promise<void>[] {
    return FIELDS.map(async (field) => {
      const own: string[] = [];
      for (let n = 0; !isOver(); n++) await this.request(n, field, own);
    });
  }

  private async request(n: number, field: Field, own: string[]): Promise<void> {
    const id = this.ids[n % LEAD_COUNT]!;
    // The callers of an organization are at different operations.
    const operation = OPERATIONS[(n + FIELDS.indexOf(field)) % OPERATIONS.length]!;
    if (operation === 'read') await this.read(id, field);
    else if (operation === 'update') await this.update(id, field);
    else if (operation === 'delete') await this.delete(own.pop());
    else await this.create(own, operation === 'create with a key');
  }

  private async read(id: string, field: Field): Promise<void> {
    const answer = this.count(await this.api.get(`${LEADS}/${id}`));
    if (answer.status === 200) this.checkLead(id, dataOf(answer), [field]);
  }

  private async update(id: string, field: Field): Promise<void> {
    const value = `${this.name}${this.written++}`;
    const answer = this.count(await this.api.put(`${LEADS}/${id}`, { [field]: value }));
    const possible = this.possible.get(id + field)!;
    possible.add(value);
    if (answer.status !== 200) return;
    this.possible.set(id + field, new Set([value]));
    this.checkLead(id, dataOf(answer), [field]);
  }

  private async create(own: string[], withKey: boolean): Promise<void> {
    const email = `${randomUUID()}@${this.name}.example`;
    const headers: Record<string, string> = withKey ? { 'Idempotency-Key': email } : {};
    const body = { first_name: this.name, email };
    const answer = this.count(await this.api.post(LEADS, body, { headers }));
    if (answer.status !== 201) return;
    const lead = dataOf(answer, 201);
    if (lead.email !== email) this.problems.push(`created ${email}, got ${lead.email}`);
    this.created.set(email, lead.id);
    own.push(email);
  }

  private async delete(email: string | undefined): Promise<void> {
    if (email === undefined) return;
    const id = this.created.get(email)!;
    this.created.delete(email);
    const answer = this.count(await this.api.delete(`${LEADS}/${id}`));
    if (answer.status === 200) this.deleted.add(email);
  }

  private count(answer: Answer): Answer {
    this.requests++;
    const error = errorOf(answer);
    if (error) {
      const code = error.retryable ? error.code : `${error.code} (final)`;
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    }
    return answer;
  }

  private checkLead(id: string, lead: LeadRecord, known: readonly Field[]): void {
    const values = lead as unknown as Record<Field, string | null>;
    if (lead.id !== id) this.problems.push(`asked for ${id}, got ${lead.id}`);
    for (const field of FIELDS) {
      if (!values[field]?.startsWith(this.name)) {
        this.problems.push(`${field} of ${this.name} is ${values[field]}`);
      }
    }
    for (const field of known) {
      const possible = this.possible.get(id + field)!;
      if (!possible.has(values[field])) {
        this.problems.push(`${field} is ${values[field]} and not ${[...possible].join(' or ')}`);
      }
    }
  }

  /**
   * Expects that acknowledged writes are stored, that each stored lead has one event of its creation, that the
   * total is exact and that no response was wrong.
   * @param client a connection without row-level security, when no statement of the server runs
   */
  async expectConsistent(client: pg.Client): Promise<void> {
    for (const id of this.ids) this.checkLead(id, await getLead(this.api, id), FIELDS);
    expect(this.problems).toEqual([]);

    const { rows } = await client.query<{ id: string; email: string; deleted: boolean }>(
      `select id, email, deleted_at is not null as deleted from leads
       where organization_id = $1 and email is not null`,
      [this.organizationId],
    );
    const stored = new Map(rows.map((row) => [row.email, row]));
    for (const [email, id] of this.created) {
      expect(stored.get(email)).toEqual({ id, email, deleted: false });
    }
    for (const email of this.deleted) expect(stored.get(email)).toMatchObject({ deleted: true });
    expect(rows.filter(({ email }) => !email.endsWith(`@${this.name}.example`))).toEqual([]);

    const list = await this.api.get(`${LEADS}?limit=1`);
    const total = LEAD_COUNT + rows.filter(({ deleted }) => !deleted).length;
    expect(list.body).toMatchObject({ meta: { total } });
    const events = await client.query<{ created: number }>(
      `select count(*)::int as created from (
         select organization_id, type from events union all
         select organization_id, type from event_outbox) event
       where organization_id = $1 and type = 'lead.created'`,
      [this.organizationId],
    );
    expect(events.rows).toEqual([{ created: LEAD_COUNT + rows.length }]);
  }
}
