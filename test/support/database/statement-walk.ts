import { randomUUID } from 'node:crypto';
import { OperatorsService } from '../../../src/modules/auth/operators.service.js';
import { buildLead, createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { ALL_ROUTES, OPERATOR_ROUTES, send, validRequest } from '../../../src/testing/routes.js';
import type { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { connectTenant, type McpTenant } from '../id-positions.js';
import { importFile } from '../lead-imports.js';
import { TOOLS, validArguments } from '../mcp/tools.js';

/** Sends a valid request to every route and tool, and requests with each kind of parameter. */
export async function sendRequests(app: TestApp, tenant: Tenant): Promise<void> {
  const caller = await connectTenant(app, tenant);
  for (const route of ALL_ROUTES) await send(tenant.api, route, await validRequest(route, tenant));
  for (const tool of TOOLS) {
    const args = await validArguments(tool, tenant);
    await caller.rpc('tools/call', { name: tool.name, arguments: args });
  }
  await sendOtherRequests(tenant);
  await book(app, tenant);
  await importFile(tenant.api, 'first_name,email\nAda,ada@example.com\n,not an address');
  await useSession(caller);
  await useOperator(app);
}

async function sendOtherRequests(tenant: Tenant): Promise<void> {
  const { api } = tenant;
  for (const path of READS) await api.get(`/api/v1/${path}`);
  const headers = { 'Idempotency-Key': randomUUID() };
  const lead = buildLead();
  for (let i = 0; i < 2; i++) await api.post(LEADS, lead, { headers });
  const [kept, other] = [await createLead(api), await createLead(api)];
  await api.post('/api/v1/tasks', { title: 'Call', contact_id: other.id });
  await api.post(`${LEADS}/${kept.id}/merge`, { lead_id: other.id, dry_run: true });
  await api.post(`${LEADS}/${kept.id}/merge`, { lead_id: other.id });
  await api.get(`${LEADS}/${other.id}`);
  const items = [{ action: 'update', id: kept.id, data: { city: 'Graz' } }];
  await api.post(`${LEADS}/batch`, { items }, { headers });
  await api.post(`${LEADS}/upsert`, {
    match_on: ['email'],
    data: { email: kept.email, city: 'Linz' },
  });
  await api.put(`${LEADS}/${kept.id}`, { first_name: kept.first_name });
  await api.put('/api/v1/organization', { unknown_fields: 'accept', time_zone: 'UTC' });
}

/** Lists and counts with the parameters that add SQL. */
const READS = [
  'leads?search=ada%20b&tag=hot&sort_by=name',
  'leads?after=&limit=2',
  'leads?deleted=true',
  'leads?include=next_appointment,open_task_count',
  `leads?filter=${encodeURIComponent('{"or":[{"city":"Graz"},{"tasks":{"none":{"status":"open"}}}],"appointments":{"some":{"type":"x"}},"custom_fields.age":{"gte":20}}')}`,
  'leads/counts?by=status',
  'leads/counts?by=tag',
  'leads/counts?by=created_day',
  'appointments/counts?by=start_day',
  'tasks/counts?by=due_day',
  'appointments?include=lead&after=',
  `tasks?include=lead&filter=${encodeURIComponent('{"lead":{"city":"Graz"}}')}`,
  'tasks?deleted=true',
  'events?after=',
];

async function book({ url: origin }: TestApp, { api }: Tenant): Promise<void> {
  const hours = { monday: [{ start: '09:00', end: '17:00' }] };
  const { id: resource_id } = dataOf<{ id: string }>(
    await api.post('/api/v1/resources', { name: 'Crew', hours }),
    201,
  );
  const { id: lead_id } = await createLead(api);
  const slot = { start_time: '2040-01-02T09:00:00Z', end_time: '2040-01-02T10:00:00Z' };
  const later = { start_time: '2040-01-02T12:00:00Z', end_time: '2040-01-02T13:00:00Z' };
  const window = `from=2040-01-02&to=2040-01-09&duration_minutes=60`;
  await api.get(`/api/v1/availability?resource_id=${resource_id}&${window}`);
  const booking = { lead_id, resource_id, ...slot };
  const made = await api.post('/api/v1/appointments', booking);
  await api.post('/api/v1/appointments', booking);
  const headers = { 'Idempotency-Key': randomUUID() };
  await api.post('/api/v1/appointments', booking, { headers });
  await api.post('/api/v1/appointments', { lead_id, any_of: [resource_id], ...later });
  const { id } = dataOf<{ id: string }>(made, 201);
  await api.put(`/api/v1/appointments/${id}`, { start_time: '2040-01-02T09:30:00Z' });
  await api.put(`/api/v1/appointments/${id}`, { status: 'confirmed' });
  const calendar = await api.post(`/api/v1/resources/${resource_id}/calendar`, { details: true });
  const { url } = dataOf<{ url: string }>(calendar, 201);
  await fetch(new URL(new URL(url).pathname, origin));
  await api.delete(`/api/v1/appointments/${id}`);
}

async function useSession({ api, rpc }: McpTenant): Promise<void> {
  const lead = await createLead(api);
  await rpc('resources/subscribe', { uri: `lead://${lead.id}` });
  const argument = { name: 'id', value: 'ab' };
  for (const scheme of ['lead', 'appointment', 'task']) {
    const ref = { type: 'ref/resource', uri: `${scheme}://{id}` };
    await rpc('completion/complete', { ref, argument });
  }
}

async function useOperator(app: TestApp): Promise<void> {
  const operators = app.app.get(OperatorsService);
  const { id, key } = await operators.createKey('Onboarding', null);
  const api = app.client(key);
  const created = await api.post('/api/v1/organizations', { name: 'Harbor Roofing' });
  const organization = dataOf<{ id: string }>(created, 201);
  const made = await api.post(`/api/v1/organizations/${organization.id}/keys`, { name: 'first' });
  const first = dataOf<{ id: string }>(made, 201);
  const bodies: Record<string, object> = {
    'PUT /api/v1/organizations/:id': { suspended: true },
    'PUT /api/v1/organizations/:id/keys/:key_id': { reads_per_minute: 10 },
  };
  for (const { method, pattern } of OPERATOR_ROUTES) {
    const path = pattern.replace(':id', organization.id).replace(':key_id', first.id);
    await api.request(method, path, { body: bodies[`${method} ${pattern}`] });
  }
  await operators.rotateKey(id, 60_000);
  await operators.listKeys();
  await operators.revokeKey(id);
}
