import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../../src/testing/api-client.js';
import { createLead, dataOf, expectError, expectInvalid } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';

const HOLDS = '/api/v1/holds';
const APPOINTMENTS = '/api/v1/appointments';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const TIME = { start_time: '2040-01-02T09:00:00.000Z', end_time: '2040-01-02T10:00:00.000Z' };

interface Hold {
  id: string;
  resource_id: string;
  created_at: string;
  expires_at: string;
}

let app: TestServer;
let tenant: Tenant;
let lead_id: string;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  lead_id = (await createLead(tenant.api)).id;
});

const resource = async (fields: object = {}) =>
  dataOf<{ id: string }>(
    await tenant.api.post('/api/v1/resources', { name: 'Crew', ...fields }),
    201,
  ).id;
const hold = async (fields: object, seconds = 900) =>
  dataOf<Hold>(await tenant.api.post(HOLDS, { ...TIME, seconds, ...fields }), 201);
const book = (fields: object, api = tenant.api) => api.post(APPOINTMENTS, { lead_id, ...fields });

const detailsOf = ({ body }: Answer) => (body as { error: { details: object[] } }).error.details;

async function untilExpired({ expires_at }: Hold): Promise<void> {
  while (Date.now() <= Date.parse(expires_at)) await sleep(20);
}

describe('a hold', () => {
  it('takes the time of its resource until it is deleted', async () => {
    const resource_id = await resource();
    const made = await hold({ resource_id });
    expect(made).toMatchObject({ resource_id, ...TIME });
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBeGreaterThan(899_000);
    const read = await tenant.api.get(`${HOLDS}/${made.id}`);
    expect(dataOf(read)).toEqual(made);
    const refused = await book({ resource_id, ...TIME });
    expectError(refused, 409, 'slot_taken');
    expect(detailsOf(refused)).toEqual([expect.not.objectContaining({ existing_id: made.id })]);
    expectError(
      await tenant.api.post(HOLDS, { resource_id, ...TIME, seconds: 1 }),
      409,
      'slot_taken',
    );
    expect(dataOf(await tenant.api.delete(`${HOLDS}/${made.id}`))).toEqual({
      id: made.id,
      deleted: true,
    });
    expectError(await tenant.api.get(`${HOLDS}/${made.id}`), 404, 'not_found');
    expectError(await tenant.api.delete(`${HOLDS}/${made.id}`), 404, 'not_found');
    dataOf(await book({ resource_id, ...TIME }), 201);
  });

  it('has the buffers of its resource', async () => {
    const resource_id = await resource({ buffer_before_minutes: 30 });
    await hold({ resource_id });
    const before = { start_time: '2040-01-02T08:00:00Z', end_time: '2040-01-02T08:31:00Z' };
    expectError(await book({ resource_id, ...before }), 409, 'slot_taken');
  });

  it('takes one of several resources', async () => {
    const hours = { monday: [{ start: '08:00', end: '12:00' }] };
    const any_of = [await resource({ hours }), await resource({ hours })];
    const made = [await hold({ any_of }), await hold({ any_of })];
    expect(made.map(({ resource_id }) => resource_id)).toEqual(any_of);
    expectError(await tenant.api.post(HOLDS, { any_of, ...TIME, seconds: 1 }), 409, 'slot_taken');
  });

  it('is refused for wrong fields, unknown and inactive resources', async () => {
    const resource_id = await resource({ active: false });
    const post = (fields: object) =>
      tenant.api.post(HOLDS, { resource_id, ...TIME, seconds: 60, ...fields });
    expectInvalid(await post({ seconds: 0 }), 'seconds');
    expectInvalid(await post({ seconds: 901 }), 'seconds');
    expectInvalid(await post({ resource_id: null }), 'resource_id');
    expectInvalid(await post({ any_of: [resource_id] }), 'any_of');
    expectInvalid(await post({ end_time: TIME.start_time }), 'end_time');
    expectError(await post({ resource_id: UNKNOWN }), 404, 'not_found');
    expectError(await post({}), 409, 'resource_inactive');
  });

  it('is at once as if it had never been when it has expired', async () => {
    const resource_id = await resource();
    const expired = await hold({ resource_id }, 1);
    await untilExpired(expired);
    expectError(await tenant.api.get(`${HOLDS}/${expired.id}`), 404, 'not_found');
    expectError(await tenant.api.delete(`${HOLDS}/${expired.id}`), 404, 'not_found');
    expectError(await book({ hold_id: expired.id }), 404, 'not_found');
    const next = await hold({ resource_id }, 1);
    await untilExpired(next);
    dataOf(await book({ resource_id, ...TIME }), 201);
  });

  it('is one of at most 20 of a key', async () => {
    const key = await app.key(tenant.id, ['appointments:write']);
    const post = async (seconds: number) =>
      key.api.post(HOLDS, { resource_id: await resource(), ...TIME, seconds });
    const made: Hold[] = [];
    for (let n = 0; n < 20; n++) made.push(dataOf<Hold>(await post(n === 0 ? 1 : 900), 201));
    await untilExpired(made[0]!);
    dataOf(await post(60), 201);
    expectError(await post(60), 409, 'too_many_holds');
    dataOf(await key.api.delete(`${HOLDS}/${made[1]!.id}`));
    dataOf(await post(60), 201);
  });
});

describe('hold_id', () => {
  it('turns a hold into the appointment, once', async () => {
    const resource_id = await resource();
    const { id } = await hold({ resource_id });
    const booked = dataOf<{ id: string }>(await book({ hold_id: id, type: 'Estimate' }), 201);
    expect(booked).toMatchObject({ resource_id, ...TIME, lead_id, type: 'Estimate' });
    expectError(await book({ hold_id: id }), 404, 'not_found');
    expectError(await tenant.api.get(`${HOLDS}/${id}`), 404, 'not_found');
    const refused = await book({ resource_id, ...TIME });
    expect(detailsOf(refused)).toMatchObject([{ existing_id: booked.id }]);
  });

  it('may come with the same times and resource, and with no others', async () => {
    const [resource_id, other] = [await resource(), await resource()];
    const { id } = await hold({ resource_id });
    const later = '2040-01-02T11:00:00.000Z';
    expectInvalid(await book({ hold_id: id, end_time: later }), 'end_time');
    expectInvalid(
      await book({ hold_id: id, start_time: '2040-01-02T08:00:00Z', resource_id: other }),
      'start_time',
      'resource_id',
    );
    expectInvalid(await book({ hold_id: id, any_of: [other] }), 'any_of');
    dataOf(await book({ hold_id: id, ...TIME, any_of: [other, resource_id] }), 201);
    const { id: second } = await hold({ resource_id: other });
    dataOf(await book({ hold_id: second, ...TIME, resource_id: other }), 201);
  });

  it('of another organization, or unknown, is not_found', async () => {
    const { id } = await hold({ resource_id: await resource() });
    const { api } = await app.organization();
    expectError(await api.get(`${HOLDS}/${id}`), 404, 'not_found');
    expectError(await api.delete(`${HOLDS}/${id}`), 404, 'not_found');
    expectError(await book({ hold_id: id }, api), 404, 'not_found');
    expectError(await book({ hold_id: UNKNOWN }), 404, 'not_found');
    const key = await app.key(tenant.id, ['appointments:write']);
    dataOf(await book({ hold_id: id }, key.api), 201);
  });

  it('stays a hold if the create fails, also in a batch', async () => {
    const { id } = await hold({ resource_id: await resource() });
    expectError(await book({ hold_id: id, lead_id: UNKNOWN }), 404, 'lead_not_found');
    expectError(await book({ hold_id: id, within_hours: true }), 422, 'outside_hours');
    const create = (fields: object) => ({
      action: 'create',
      data: { lead_id, hold_id: id, ...fields },
    });
    const answer = await tenant.api.post(`${APPOINTMENTS}/batch`, {
      items: [create({ within_hours: true }), create({ lead_id: UNKNOWN }), create({}), create({})],
    });
    expect(answer.body.data).toMatchObject([
      { error: { code: 'outside_hours' } },
      { error: { code: 'lead_not_found' } },
      { status: 'created' },
      { error: { code: 'not_found' } },
    ]);
  });

  it('is required where times are missing', async () => {
    expectInvalid(await book({}), 'start_time', 'end_time');
    expectInvalid(await book({ hold_id: null, start_time: TIME.start_time }), 'end_time');
  });
});
