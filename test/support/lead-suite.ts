import {
  createLead,
  getLead,
  type LeadBody,
  LEADS,
  updateLead,
} from '../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../src/testing/test-server.js';

interface LeadSuite {
  app: TestServer;
  tenant: Tenant;
}

/** JSON values of every type but string, with keys that have meanings elsewhere. */
export const NOT_STRINGS: readonly unknown[] = [
  5,
  0,
  true,
  false,
  [],
  ['Ada'],
  {},
  { toString: 'x' },
  { constructor: 'x' },
  { $ne: null },
];

/** Gives a test file an organization on the shared server, and the requests for leads of that organization. */
export function leadSuite() {
  const suite = {} as LeadSuite;
  beforeAll(async () => {
    suite.app = await TestServer.shared();
    suite.tenant = await suite.app.organization();
  });
  return Object.assign(suite, {
    post: (body: unknown) => suite.tenant.api.post(LEADS, body),
    put: (id: string, body: unknown) => suite.tenant.api.put(`${LEADS}/${id}`, body),
    create: (body?: LeadBody) => createLead(suite.tenant.api, body),
    get: (id: string) => getLead(suite.tenant.api, id),
    update: (id: string, changes: LeadBody) => updateLead(suite.tenant.api, id, changes),
    remove: (id: string) => suite.tenant.api.delete(`${LEADS}/${id}`),
  });
}
