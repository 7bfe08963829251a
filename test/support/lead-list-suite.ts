import type { ApiClient } from '../../src/testing/api-client.js';
import { createLead, type LeadBody, type LeadRecord, LEADS } from '../../src/testing/factories.js';
import { TestServer } from '../../src/testing/test-server.js';

export interface LeadPage {
  data: LeadRecord[];
  meta: { page: number; limit: number; total: number; total_pages: number };
}

export type ListParameters = Record<string, string | number>;

export function listPath(query: ListParameters): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.append(name, String(value));
  return `${LEADS}?${parameters.toString()}`;
}

export async function listLeads(api: ApiClient, query: ListParameters = {}): Promise<LeadPage> {
  const answer = await api.get(listPath(query));
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as LeadPage;
}

/** The first names of what a query finds, in no particular order. */
export async function firstNames(api: ApiClient, query: ListParameters): Promise<string[]> {
  const { data, meta } = await listLeads(api, query);
  expect(meta.total).toBe(data.length);
  return data.map((lead) => lead.first_name).sort();
}

/** Starts the shared server for a test file of lists, and returns how to prepare data on it. */
export function leadListSuite() {
  const suite = {} as { app: TestServer };
  beforeAll(async () => {
    suite.app = await TestServer.shared();
  });

  /** An organization of its own that has these leads and no others. */
  async function organizationWith(bodies: readonly LeadBody[]) {
    const { api } = await suite.app.organization();
    const leads = await Promise.all(bodies.map((body) => createLead(api, body)));
    return { api, leads };
  }

  async function setTime(lead: LeadRecord, column: 'created_at' | 'updated_at', time: string) {
    await suite.app.sql(`update leads set ${column} = $1 where id = $2`, [time, lead.id]);
  }

  return Object.assign(suite, { organizationWith, setTime });
}
