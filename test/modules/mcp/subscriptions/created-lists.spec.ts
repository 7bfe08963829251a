import { createLead } from '../../../../src/testing/factories.js';
import { McpHttpClient } from '../../../../src/testing/mcp-client.js';
import { TestServer } from '../../../../src/testing/test-server.js';
import { readAllEvents } from '../../../support/events.js';

it('lead://list has the time at which each lead was created', async () => {
  const server = await TestServer.shared();
  const tenant = await server.organization();
  const { id, created_at } = await createLead(tenant.api);
  await readAllEvents(tenant.api, 1);
  const client = new McpHttpClient(server.url, tenant.key.key);
  const { body } = await client.statelessRpc('resources/read', { uri: 'lead://list' });
  const { contents } = (body as { result: { contents: [{ text: string }] } }).result;
  expect(JSON.parse(contents[0].text)).toEqual({ created: [{ uri: `lead://${id}`, created_at }] });
  await server.stop();
});
