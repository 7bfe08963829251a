import { IdempotencyRepository } from '../../../../src/platform/http/response/idempotency.repository.js';
import type { Scope } from '../../../../src/platform/access/scopes.js';
import type { Answer, ApiClient } from '../../../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  dataOf,
  expectError,
  LEADS,
} from '../../../../src/testing/factories.js';
import { mirrorHeaders, statelessRequest } from '../../../../src/testing/mcp-client.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const KEYS = '/api/v1/keys';
const ONCE = { 'Idempotency-Key': 'once' };

let app: TestApp;
let owner: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  owner = await app.organization({ scopes: app.scopes.every });
});
afterAll(() => app.stop());

const keyWith = async (...scopes: Scope[]): Promise<ApiClient> =>
  (await app.key(owner.id, scopes)).api;

const send = (api: ApiClient, path: string, body: object): Promise<Answer> =>
  api.post(path, body, { headers: ONCE });

function expectMissing(answer: Answer, scope: Scope): void {
  expectError(answer, 403, 'insufficient_scope');
  expect(answer.headers.get('www-authenticate')).toContain(`scope="${scope}"`);
  expect(answer.headers.get('idempotency-replayed')).toBeNull();
}

function expectReplay(answer: Answer, first: Answer): void {
  expect(answer.headers.get('idempotency-replayed')).toBe('true');
  expect([answer.status, answer.body]).toEqual([first.status, first.body]);
}

/** docs/contract/idempotency-and-versions.md#scopes-of-a-replay */
describe('a replay needs the scopes that the first request needed', () => {
  const upsert = () => ({ action: 'upsert', match_on: ['email'], data: buildLead() });

  it('of a batch with upserts: leads:read', async () => {
    const batch = { items: [{ action: 'create', data: buildLead() }, upsert()] };
    const first = await send(owner.api, `${LEADS}/batch`, batch);
    expect(first.status).toBe(200);
    expectMissing(await send(await keyWith('leads:write'), `${LEADS}/batch`, batch), 'leads:read');
    const equal = await keyWith('leads:write', 'leads:read');
    expectReplay(await send(equal, `${LEADS}/batch`, batch), first);
  });

  it('which are none of a batch whose upserts were refused', async () => {
    const writer = await keyWith('leads:write');
    const batch = { items: [{ action: 'create', data: buildLead() }, upsert()] };
    const first = await send(writer, `${LEADS}/batch`, batch);
    expect(first.body.data).toMatchObject([
      { status: 'created' },
      { status: 'failed', error: { code: 'insufficient_scope' } },
    ]);
    expectReplay(await send(writer, `${LEADS}/batch`, batch), first);
    expectReplay(await send(owner.api, `${LEADS}/batch`, batch), first);
  });

  it('of a batch without upserts: only leads:write', async () => {
    const batch = { items: [{ action: 'create', data: buildLead() }] };
    const first = await send(owner.api, `${LEADS}/batch`, batch);
    expectReplay(await send(await keyWith('leads:write'), `${LEADS}/batch`, batch), first);
  });

  it('of a new key: those of the new key', async () => {
    const key = { name: 'n8n', scopes: ['leads:read', 'tasks:read'] };
    dataOf(await send(owner.api, KEYS, key), 201);
    expectMissing(await send(await keyWith('keys:write', 'leads:read'), KEYS, key), 'tasks:read');
    const equal = await keyWith('keys:write', 'leads:read', 'tasks:read');
    expect((await send(equal, KEYS, key)).headers.get('idempotency-replayed')).toBe('true');
  });

  it('of a rotation: those of the rotated key', async () => {
    const { key } = await app.key(owner.id, ['leads:read', 'tasks:read']);
    const path = `${KEYS}/${key.id}/rotate`;
    dataOf(await send(owner.api, path, {}), 201);
    expectMissing(await send(await keyWith('keys:write', 'leads:read'), path, {}), 'tasks:read');
  });

  it.each([
    ['upsert', { match_on: ['email'], data: { first_name: 'Ada', email: 'ada@example.com' } }],
    ['merge', undefined],
  ])('of an %s: those of the route', async (action, body) => {
    const [one, two] = [await createLead(owner.api), await createLead(owner.api)];
    const path = body ? `${LEADS}/${action}` : `${LEADS}/${one.id}/${action}`;
    const sent = body ?? { lead_id: two.id };
    expect((await send(owner.api, path, sent)).status).toBeLessThan(300);
    expectMissing(await send(await keyWith('leads:write'), path, sent), 'leads:read');
  });

  it('of an import: those of the route', async () => {
    const headers = { ...ONCE, 'Content-Type': 'text/csv' };
    const file = 'first_name,email';
    dataOf(await owner.api.post(`${LEADS}/imports`, file, { headers }), 202);
    const writer = await keyWith('leads:write');
    expectMissing(await writer.post(`${LEADS}/imports`, file, { headers }), 'leads:read');
  });
});

describe('a replay leaves out what the caller may not read', () => {
  it('the existing_id of duplicates in a batch', async () => {
    const lead = await createLead(owner.api, { email: 'taken@example.com' });
    const batch = { items: [{ action: 'create', data: buildLead({ email: lead.email }) }] };
    const first = await send(owner.api, `${LEADS}/batch`, batch);
    expect(JSON.stringify(first.body)).toContain(lead.id);
    const again = await send(await keyWith('leads:write'), `${LEADS}/batch`, batch);
    expect(again.status).toBe(207);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body.data).toMatchObject([{ status: 'failed', error: { code: 'duplicate' } }]);
    expect(JSON.stringify(again.body)).not.toContain(lead.id);
    expect(JSON.stringify(again.body)).not.toContain('existing_id');
    expectReplay(await send(owner.api, `${LEADS}/batch`, batch), first);
  });

  it('the merged_into of a lead that was merged', async () => {
    const [survivor, merged] = [await createLead(owner.api), await createLead(owner.api)];
    await owner.api.post(`${LEADS}/${survivor.id}/merge`, { lead_id: merged.id });
    const batch = { items: [{ action: 'delete', id: merged.id }] };
    const first = await send(owner.api, `${LEADS}/batch`, batch);
    expect(JSON.stringify(first.body)).toContain(survivor.id);
    const again = await send(await keyWith('leads:write'), `${LEADS}/batch`, batch);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(JSON.stringify(again.body)).not.toContain(survivor.id);
  });
});

describe('a tool that is called again with an idempotency key', () => {
  async function callTool(api: ApiClient, name: string, args: object) {
    const request = statelessRequest('tools/call', { name, arguments: args });
    const headers = { ...mirrorHeaders('tools/call', { name }), ...ONCE };
    const { body } = await api.post('/mcp', request, { headers });
    return JSON.stringify((body as { result: object }).result);
  }

  it('leaves the name of a lead out without leads:read', async () => {
    const lead = await createLead(owner.api, { first_name: 'Rumpelstiltskin' });
    const task = { title: 'Call', contact_id: lead.id };
    expect(await callTool(owner.api, 'create_task', task)).toContain('Rumpelstiltskin');
    const again = await callTool(await keyWith('tasks:write'), 'create_task', task);
    expect(again).toContain(lead.id);
    expect(again).not.toContain('Rumpelstiltskin');
  });

  it('leaves the contact data of a lead out without leads:read', async () => {
    const contact = { phone: '+1 415 555 0132', email: 'straw@example.com' };
    const lead = await createLead(owner.api, contact);
    const times = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };
    const booking = { lead_id: lead.id, ...times };
    const first = await callTool(owner.api, 'create_appointment', booking);
    for (const value of Object.values(contact)) expect(first).toContain(value);
    const writer = await keyWith('appointments:write');
    const again = await callTool(writer, 'create_appointment', booking);
    expect(again).toContain(lead.id);
    for (const value of Object.values(contact)) expect(again).not.toContain(value);
  });

  it('leaves the ids of duplicates out without leads:read', async () => {
    const lead = await createLead(owner.api, { email: 'twice@example.com' });
    const leads = { leads: [buildLead({ email: lead.email })] };
    expect(await callTool(owner.api, 'create_leads', leads)).toContain(lead.id);
    const again = await callTool(await keyWith('leads:write'), 'create_leads', leads);
    expect(again).toContain('duplicate');
    expect(again).not.toContain(lead.id);
  });
});

it('a response counts as stored until it is not replayed any more', async () => {
  await send(owner.api, LEADS, buildLead());
  const responses = app.app.get(IdempotencyRepository);
  const request = { key: 'once', route: `POST ${LEADS}`, content: '' };
  const call = { tenant: { id: owner.id } };
  expect(await responses.isStored(call, request)).toBe(true);
  const age = `update idempotency_keys set created_at = now() - $2::interval where organization_id = $1`;
  await app.sql(age, [owner.id, '23:59']);
  expect(await responses.isStored(call, request)).toBe(true);
  await app.sql(age, [owner.id, '24:00']);
  expect(await responses.isStored(call, request)).toBe(false);
});
