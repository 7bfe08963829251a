import { etagOf, LatitudeClient } from '../../src/client/index.js';
import { OperatorsService } from '../../src/modules/auth/operators.service.js';
import { TestApp } from '../../src/testing/test-app.js';

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.stop());

const clientOf = (apiKey: string) => new LatitudeClient({ baseUrl: app.url, apiKey });

it('client.keys creates, rotates, lists and revokes keys', async () => {
  const { key } = await app.organization({ scopes: app.scopes.every });
  const client = clientOf(key.key);
  const created = await client.keys.create({ name: 'n8n', scopes: ['leads:read'] });
  expect(await clientOf(created.key ?? '').me()).toMatchObject({ key: { id: created.id } });
  const next = await client.keys.rotate(created.id, { overlap_seconds: 60 });
  expect(await client.keys.get(created.id)).toMatchObject({ successor_id: next.id });
  expect((await client.keys.list()).meta.total).toBe(3);
  expect(await client.keys.revoke(next.id)).toMatchObject({ id: next.id });
  await expect(client.keys.rotate('..')).rejects.toThrow('id must be the id of a record');
  expect((await client.grants.list()).data).toEqual([]);
  expect(await client.organization()).toMatchObject({ counts: { leads: 0, keys: 2 } });
});

it('client.updateOrganization changes settings of the organization', async () => {
  const { key } = await app.organization({ scopes: app.scopes.every });
  const client = clientOf(key.key);
  const changed = await client.updateOrganization({ time_zone: 'Europe/Vienna' });
  expect(changed).toMatchObject({ time_zone: 'Europe/Vienna', unknown_fields: 'allow' });
  expect(await client.organization()).toEqual(changed);
  await expect(client.updateOrganization({ time_zone: 'Moon' })).rejects.toMatchObject({
    details: [{ field: 'time_zone' }],
  });
});

it('client.webhooks creates, lists, changes and deletes webhooks', async () => {
  const { webhooks } = clientOf((await app.organization()).key.key);
  const { secret, ...created } = await webhooks.create({
    url: 'https://receiver.invalid/hook',
    types: ['lead.created'],
  });
  expect(secret).toMatch(/^whsec_/);
  const read = await webhooks.get(created.id);
  expect(read).toEqual(created);
  expect((await webhooks.list({ limit: 1 })).data).toEqual([created]);
  const ifMatch = etagOf(read)!;
  const fields = { description: 'CRM', filter: { city: 'Graz' } };
  expect(await webhooks.update(created.id, fields, { ifMatch })).toMatchObject(fields);
  await expect(webhooks.delete(created.id, { ifMatch })).rejects.toMatchObject({
    code: 'precondition_failed',
  });
  const rotated = await webhooks.rotateSecret(created.id);
  expect([rotated.secret, rotated.previous_secret_expires_at]).not.toContain(secret);
  expect(await webhooks.delete(created.id)).toEqual({ id: created.id, deleted: true });
  for await (const webhook of webhooks.all()) throw new Error(`${webhook.id} still exists`);
});

it('client.webhooks sends a test event, lists deliveries and sends one again', async () => {
  const { webhooks } = clientOf((await app.organization()).key.key);
  const { id } = await webhooks.create({
    url: 'https://receiver.invalid/hook',
    types: ['lead.created'],
  });
  const delivery = await webhooks.test(id);
  expect(delivery).toMatchObject({ webhook_id: id, type: 'webhook.test' });
  const { data, meta } = await webhooks.deliveries(id, { limit: 1 });
  expect([data[0]?.id, meta.total]).toEqual([delivery.id, 1]);
  expect((await webhooks.deliveries(id, { status: 'succeeded' })).data).toEqual([]);
  expect(await webhooks.redeliver(id, delivery.id)).toMatchObject({ id: delivery.id });
  await expect(webhooks.redeliver(id, '..')).rejects.toThrow('id must be the id of a record');
});

it('client.organizations creates an organization and its first key with an operator key', async () => {
  const operator = await app.app.get(OperatorsService).createKey('Onboarding', null);
  const client = clientOf(operator.key);
  const { id } = await client.organizations.create({ name: 'Harbor Roofing' });
  await client.organizations.createFirstKey(id, { name: 'First' });
  const { key = '' } = await client.organizations.replaceFirstKey(id);
  const renamed = await client.organizations.update(id, { name: 'Harbor', suspended: false });
  expect(renamed).toMatchObject({ id, name: 'Harbor', suspended: false });
  expect(await clientOf(key).me()).toMatchObject({ organization: { id } });
  expect(await client.organizations.get(id)).toMatchObject({ has_had_key: true });
  await expect(client.organizations.createFirstKey(id, { name: 'Second' })).rejects.toMatchObject({
    code: 'first_key_exists',
  });
});

it('client.audit lists and iterates over the entries of the audit log', async () => {
  const { audit, keys } = clientOf((await app.organization({ scopes: app.scopes.every })).key.key);
  const created = await keys.create({ name: 'n8n', scopes: ['leads:read'] });
  const { data, meta } = await audit.list({ limit: 1 });
  expect(data).toMatchObject([{ type: 'key.created', record: { id: created.id } }]);
  const { data: rest } = await audit.list({ before: meta.next });
  const all = [...data, ...rest];
  expect(all).toHaveLength(3);
  const read = async (query = {}) => {
    const entries = [];
    for await (const entry of audit.all({ limit: 2, ...query })) entries.push(entry);
    return entries;
  };
  expect(await read()).toEqual(all);
  expect(await read({ after: '' })).toEqual(all.toReversed());
  expect(await read({ record_id: created.id })).toEqual(data);
});
