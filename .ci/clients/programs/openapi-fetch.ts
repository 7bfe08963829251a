import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/openapi-typescript/schema.d.ts';
import { API_KEY, BASE_URL, newEmail } from './server.ts';

const api = createClient<paths>({
  baseUrl: BASE_URL,
  headers: { Authorization: `Bearer ${API_KEY}` },
});
const body: components['schemas']['CreateLead'] = { first_name: 'Ada', email: newEmail() };

const created = await api.POST('/api/v1/leads', { body });
assert(created.data);
const { data: lead } = created.data;
assert.equal(lead.source, 'api');

const listed = await api.GET('/api/v1/leads', { params: { query: { search: body.email! } } });
assert(listed.data);
assert.deepEqual(
  listed.data.data.map(({ id }) => id),
  [lead.id],
);

const { error } = await api.POST('/api/v1/leads', { body });
assert(error);
switch (error.error.code) {
  case 'duplicate':
    assert.equal(error.error.details?.[0]?.existing_id, lead.id);
    break;
  default:
    assert.fail(error.error.code);
}

const task = await api.POST('/api/v1/tasks', {
  body: { title: 'Call', contact_id: lead.id, due_date: '2026-03-06' },
});
assert.equal(task.data?.data.due_date, '2026-03-06T00:00:00.000Z');
