import type { ApiClient, Answer } from './api-client.js';

/** A lead in responses of the API (docs/contract/resources.md#leads). */
export interface LeadRecord {
  id: string;
  first_name: string;
  last_name: string | null;
  phone: string | null;
  email: string | null;
  company: string | null;
  address_street: string | null;
  city: string | null;
  state: string | null;
  zip: string | null;
  status: string | null;
  temperature: string | null;
  source: string;
  notes: string | null;
  tags: string[];
  custom_fields: Record<string, unknown>;
  sms_opted_out: boolean;
  on_dnc_list: boolean;
  external_id: string | null;
  lead_score: number;
  created_at: string;
  updated_at: string;
}

export type LeadBody = Record<string, unknown>;

export const LEADS = '/api/v1/leads';

/** The property `error` of an error response (docs/contract/errors.md#error-body). */
export interface ErrorBody {
  code: string;
  message: string;
  retryable: boolean;
  request_id: string;
  details?: {
    field: string;
    message: string;
    existing_id?: string;
    merged_into?: string;
    lead_ids?: string[];
    free?: Readonly<Record<string, string>>[];
  }[];
}

let leads = 0;

/** A valid body with every writable field and a unique e-mail, phone and external id. */
export function buildLead(overrides: LeadBody = {}): LeadBody {
  const number = ++leads;
  return {
    first_name: 'Ada',
    last_name: 'Lovelace',
    phone: `+1 415 ${String(2_000_000 + number)}`,
    email: `lead-${number}@example.com`,
    company: 'Analytical Engines',
    address_street: '12 Square',
    city: 'London',
    state: 'LN',
    zip: 'W1H 1',
    status: 'new',
    temperature: 'warm',
    source: 'website',
    notes: 'Prefers letters.',
    tags: ['poet', 'engine'],
    custom_fields: { budget: 12.5, contact: { by: ['mail'] } },
    sms_opted_out: false,
    on_dnc_list: false,
    external_id: `crm-${number}`,
    ...overrides,
  };
}

/** Creates a lead with the given fields and a default first name. */
export async function createLead(api: ApiClient, body: LeadBody = {}): Promise<LeadRecord> {
  return dataOf(await api.post(LEADS, { first_name: 'Ada', ...body }), 201);
}

export async function getLead(api: ApiClient, id: string): Promise<LeadRecord> {
  return dataOf(await api.get(`${LEADS}/${id}`));
}

export async function updateLead(
  api: ApiClient,
  id: string,
  changes: LeadBody,
): Promise<LeadRecord> {
  return dataOf(await api.put(`${LEADS}/${id}`, changes));
}

/** Expects a status and returns `data` of the response. */
export function dataOf<T = LeadRecord>(answer: Answer, status = 200): T {
  expect({ status: answer.status, error: errorOf(answer) }).toEqual({ status });
  return (answer.body as { data: T }).data;
}

/** The error of a response. */
export function errorOf({ body }: Answer): ErrorBody {
  return (body as { error: ErrorBody }).error;
}

/** Expects a `validation_error` whose details and message name these fields and no others. */
export function expectInvalid(answer: Answer, ...fields: string[]): void {
  expect(answer).toMatchObject({
    status: 400,
    body: { error: { code: 'validation_error', retryable: false } },
  });
  const { message, details = [] } = errorOf(answer);
  expect(details.map(({ field }) => field).sort()).toEqual([...fields].sort());
  for (const field of fields) expect(message).toContain(field);
}

/** Expects an error with this status and code. */
export function expectError(answer: Answer, status: number, code: string): void {
  expect(answer).toMatchObject({ status, body: { error: { code } } });
}
