import { LatitudeClient } from '../../src/client/index.js';
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
