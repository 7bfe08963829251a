import { randomUUID } from 'node:crypto';
import { dataOf, expectError } from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';

const RESOURCES = '/api/v1/resources';
const ADDRESS = /^http:\/\/[\w.:]+(\/calendars\/[\w-]{32}\.ics)$/;

interface CreatedCalendar {
  readonly id: string;
  readonly url: string;
}

let app: TestServer;
let tenant: Tenant;
let resource: string;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  resource = await createResource();
});

async function createResource(): Promise<string> {
  return dataOf<{ id: string }>(await tenant.api.post(RESOURCES, { name: 'Crew 1' }), 201).id;
}

const calendarsOf = (id = resource) => `${RESOURCES}/${id}/calendars`;
const create = (body: object = {}, headers = {}, api = tenant.api) =>
  api.post(`${RESOURCES}/${resource}/calendar`, body, { headers });

it('a resource has several calendars, whose addresses are shown once', async () => {
  const first = await create();
  const { id, url, ...fields } = dataOf<CreatedCalendar & { created_at: string }>(first, 201);
  expect(url).toMatch(ADDRESS);
  expect(fields).toEqual({
    resource_id: resource,
    details: false,
    created_at: expect.any(String) as unknown,
  });
  const location = first.headers.get('location')!;
  expect(location).toBe(`${calendarsOf()}/${id}`);
  expect(dataOf(await tenant.api.get(location))).toEqual({ id, ...fields });
  const second = dataOf<CreatedCalendar>(await create({ details: true }), 201);
  expect(second.url).not.toBe(url);
  const { data, meta } = (await tenant.api.get(`${calendarsOf()}?sort_dir=asc`)).body;
  expect(data).toEqual([
    { id, ...fields },
    expect.objectContaining({ id: second.id, details: true }),
  ]);
  expect(meta).toMatchObject({ total: 2 });
  expect(Object.keys(data[1])).not.toContain('url');
});

it('a replay has no address', async () => {
  const headers = { 'Idempotency-Key': randomUUID() };
  const { url, ...shown } = dataOf<CreatedCalendar>(await create({}, headers), 201);
  expect(url).toMatch(ADDRESS);
  const replay = await create({}, headers);
  expect(dataOf(replay, 201)).toEqual(shown);
  expect(replay.headers.get('location')).toBe(`${calendarsOf()}/${shown.id}`);
});

it('an address is that of the service in the request', async () => {
  const headers = { Host: 'crm.example' };
  const { url } = dataOf<CreatedCalendar>(await create({}, headers), 201);
  expect(url).toMatch(/^http:\/\/crm\.example\/calendars\//);
});

it('a key makes only calendars that show what it may read', async () => {
  const { api: writer } = await app.key(tenant.id, ['resources:write']);
  expectError(await create({}, {}, writer), 403, 'insufficient_scope');
  const scopes = ['resources:write', 'appointments:read'] as const;
  const { api } = await app.key(tenant.id, [...scopes]);
  expect((await create({}, {}, api)).status).toBe(201);
  const refused = await create({ details: true }, {}, api);
  expectError(refused, 403, 'insufficient_scope');
  expect(refused.body.error.message).toMatch('leads:read');
  const { api: reader } = await app.key(tenant.id, [...scopes, 'leads:read']);
  expect((await create({ details: true }, {}, reader)).status).toBe(201);
});

it('a calendar is found only at its own resource', async () => {
  const { id } = dataOf<CreatedCalendar>(await create(), 201);
  const other = await createResource();
  const stranger = await app.organization();
  for (const path of [`${calendarsOf(other)}/${id}`, `${calendarsOf()}/${randomUUID()}`]) {
    expectError(await tenant.api.get(path), 404, 'not_found');
    expectError(await tenant.api.delete(path), 404, 'not_found');
  }
  expectError(await stranger.api.delete(`${calendarsOf()}/${id}`), 404, 'not_found');
  expect((await tenant.api.get(`${calendarsOf()}/${id}`)).status).toBe(200);
});

it('a deleted resource has no calendars', async () => {
  const id = await createResource();
  const path = `${RESOURCES}/${id}/calendar`;
  const calendar = dataOf<CreatedCalendar>(await tenant.api.post(path, {}), 201);
  dataOf(await tenant.api.delete(`${RESOURCES}/${id}`));
  expectError(await tenant.api.get(calendarsOf(id)), 404, 'not_found');
  expectError(await tenant.api.get(`${calendarsOf(id)}/${calendar.id}`), 404, 'not_found');
  expectError(await tenant.api.post(path, {}), 404, 'not_found');
});
