import assert from 'node:assert/strict';
import axios from 'axios';
import {
  type CreateLead,
  type DuplicateOrIdempotencyKeyInUseResponse,
  leadsCreate,
  leadsList,
  tasksCreate,
} from '../generated/orval/client.ts';
import {
  LeadsCreateBody,
  LeadsCreateResponse,
  LeadsListResponse,
  TasksCreateBody,
  TasksCreateResponse,
} from '../generated/orval/schemas.ts';
import { API_KEY, BASE_URL, newEmail } from './server.ts';

axios.defaults.baseURL = BASE_URL;
axios.defaults.headers.common.Authorization = `Bearer ${API_KEY}`;
const body: CreateLead = LeadsCreateBody.parse({
  first_name: 'Ada',
  email: newEmail(),
  tags: null,
  custom_fields: { budget: 12500, roof: { material: 'slate' } },
});

const created = await leadsCreate(body);
const { data: lead } = LeadsCreateResponse.parse(created.data);
assert.deepEqual(lead.tags, []);

const listed = await leadsList({ search: body.email! });
assert.deepEqual(
  LeadsListResponse.parse(listed.data).data.map(({ id }) => id),
  [lead.id],
);

await assert.rejects(leadsCreate(body), (thrown) => {
  assert(axios.isAxiosError<DuplicateOrIdempotencyKeyInUseResponse>(thrown));
  const { error } = thrown.response!.data;
  assert.equal(error.code, 'duplicate');
  assert.equal(error.details?.[0]?.existing_id, lead.id);
  return true;
});

// Non-ASCII text and a date without a time.
const other = await leadsCreate(
  LeadsCreateBody.parse({ first_name: 'Zoë', email: `ö${newEmail()}` }),
);
LeadsCreateResponse.parse(other.data);
const task = await tasksCreate(TasksCreateBody.parse({ title: 'Call', due_date: '2026-03-06' }));
assert.equal(TasksCreateResponse.parse(task.data).data.due_date, '2026-03-06T00:00:00.000Z');
