import { createLead } from '../../../../src/testing/factories.js';
import { connectTenant } from '../../../support/id-positions.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

import { MessagesModule } from '../../../support/modules/messages.module.js';

describe("a team's own prompt", () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ modules: [MessagesModule] });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  /** Sends a request to /mcp and returns the response. */
  async function ask(method: string, params: object, of = tenant) {
    const { rpc } = await connectTenant(app, of);
    return (await rpc(method, params)).body as { result: never; error?: { message: string } };
  }

  it('is listed after the prompts of Latitude, with its arguments, for keys with its scope', async () => {
    const { result } = await ask('prompts/list', {});
    expect((result as { prompts: object[] }).prompts.at(-1)).toEqual({
      name: 'thank_lead',
      title: 'Thank a lead',
      description: 'Draft words of thanks to a lead.',
      arguments: [
        {
          name: 'lead_id',
          required: true,
          description: expect.stringMatching(/^The lead/) as string,
        },
        { name: 'way', required: false, description: 'How to thank.' },
      ],
    });
    const blind = await app.key(tenant.id, ['tasks:read']);
    expect(await ask('prompts/list', {}, blind)).toMatchObject({ result: { prompts: [] } });
  });

  it('validates its arguments and attaches its records', async () => {
    const { id } = await createLead(tenant.api);
    const get = (args: object) => ask('prompts/get', { name: 'thank_lead', arguments: args });
    expect(await get({ lead_id: `Ada ${id}`, way: 'call' })).toMatchObject({
      result: {
        messages: [
          { content: { text: expect.stringContaining('data') as string } },
          { content: { text: 'Draft a call of thanks to this lead:' } },
          { content: { type: 'resource', resource: { uri: `lead://${id}` } } },
        ],
      },
    });
    const { error } = await get({ lead_id: id, way: 'song' });
    expect(error?.message).toContain('way must be one of letter, call');
  });

  it('completes its arguments and the ids of its own records', async () => {
    const ref = { type: 'ref/prompt', name: 'thank_lead' };
    const ways = await ask('completion/complete', { ref, argument: { name: 'way', value: 'l' } });
    expect(ways).toMatchObject({ result: { completion: { values: ['letter'] } } });
    const thread = { type: 'ref/resource', uri: 'thread://{id}' };
    const ids = await ask('completion/complete', {
      ref: thread,
      argument: { name: 'id', value: 'x' },
    });
    expect(ids).toMatchObject({ result: { completion: { values: ['x-1'], hasMore: true } } });
  });
});
