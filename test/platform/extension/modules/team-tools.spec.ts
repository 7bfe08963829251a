import { Injectable, Module } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Tool } from '../../../../src/modules/mcp/tools/tool.decorator.js';
import type { Call } from '../../../../src/platform/data/call.js';
import { type Agent, connectAgent, stopWithAgents, textOf } from '../../../support/mcp/agent.js';
import { createLead, expectError, getLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { ALL_TOOLS, CORE_TOOLS, isCore } from '../../../support/mcp/tools.js';

import { CountDto, MessagesModule } from '../../../support/modules/messages.module.js';

@Injectable()
class RivalTools {
  @Tool('send_message', {
    title: 'Send another message',
    description: 'Send a message by other means.',
    effect: 'creates',
    scope: 'tasks:write',
    output: CountDto,
  })
  send({ actor }: Call) {
    return { count: 1, channel: actor.channel };
  }
}

@Module({ providers: [RivalTools] })
class RivalModule {}

@Injectable()
class TakenTools {
  @Tool('list_leads', {
    title: 'List leads otherwise',
    description: 'Find leads by other means.',
    effect: 'reads',
    scope: 'leads:read',
    output: CountDto,
  })
  list({ actor }: Call) {
    return { count: 1, channel: actor.channel };
  }
}

@Module({ providers: [TakenTools] })
class TakenModule {}

describe("a team's own tool (one source with REST)", () => {
  const WRITES = 40;
  let app: TestApp;
  let tenant: Tenant;
  let agent: Agent;

  beforeAll(async () => {
    app = await TestApp.start({ modules: [MessagesModule], settings: { writesPerMinute: WRITES } });
    tenant = await app.organization();
    agent = await connectAgent(app, tenant);
  });
  afterAll(() => stopWithAgents(app));

  it('is listed after the tools of Latitude', async () => {
    const names = (await agent.listTools()).map(({ name }) => name);
    const added = ['send_message', 'delete_thread', 'count_messages'];
    expect(names.slice(ALL_TOOLS.length)).toEqual(added);
    const core = names.filter((name) => isCore({ name }));
    expect(core).toEqual(CORE_TOOLS.map(({ name }) => name));
  });

  it('is listed with the schemas of its DTOs', async () => {
    const tools = await agent.listTools();
    expect(tools.find(({ name }) => name === 'send_message')).toEqual({
      name: 'send_message',
      title: 'Send a message',
      description: 'Send a text message to a lead.',
      inputSchema: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'Id of the lead, from list_leads. A UUID.' },
          text: { type: 'string', description: 'Max 160 characters.' },
          urgent: { type: 'boolean' },
        },
        required: ['id', 'text'],
        additionalProperties: false,
      },
      outputSchema: expect.objectContaining({ type: 'object' }) as object,
      annotations: {
        title: 'Send a message',
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
    });
    expect(tools.find(({ name }) => name === 'count_messages')).toMatchObject({
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      outputSchema: { properties: { count: { type: 'integer' }, channel: { type: 'string' } } },
      annotations: { readOnlyHint: true },
    });
  });

  it('is listed only to keys with the scope that it declares', async () => {
    const reader = await connectAgent(app, await app.key(tenant.id, ['leads:read']));
    const names = (await reader.listTools()).map(({ name }) => name);
    const listed = [
      ...['count_messages', 'count_records', 'describe_fields', 'find_duplicates'],
      ...['get_lead', 'list_leads', 'whoami'],
    ];
    expect(names.sort()).toEqual(listed);
    const { code, required_scope } = await reader.fail('send_message', {});
    expect({ code, required_scope }).toEqual({
      code: 'insufficient_scope',
      required_scope: 'leads:write',
    });
  });

  it('receives the call, the id and its DTO with defaults', async () => {
    await agent.listTools();
    const { id } = await createLead(tenant.api);
    const args = { id: id.toUpperCase(), text: ' Hello ' };
    const message = await agent.succeed('send_message', args);
    const sent = { id: message.id, lead_id: id, text: 'Hello', urgent: false };
    expect(message).toEqual(sent);
    expect(JSON.parse(textOf(await agent.call('count_messages')))).toEqual({
      count: 0,
      channel: 'ai',
    });
  });

  it.each([
    [{}, ['text']],
    [{ text: 'x'.repeat(161), urgent: 'yes', to: 'me' }, ['text', 'urgent', 'to']],
    [{ id: 'x', text: 5 }, ['id', 'text']],
  ])('validates its arguments like the body of its route: %j', async (args, fields) => {
    const { id } = await createLead(tenant.api);
    const { code, details = [] } = await agent.fail('send_message', { id, ...args });
    expect(code).toBe('validation_error');
    expect(details.map(({ field }) => field).sort()).toEqual(fields.sort());
  });

  it('rejects arguments that it does not declare', async () => {
    for (const args of [{ id: uuidv7() }, { text: 'Hello' }]) {
      const { details } = await agent.fail('count_messages', args);
      expect(details).toMatchObject([{ field: Object.keys(args)[0] }]);
    }
  });

  it('accepts dry_run if it deletes, and then changes no row', async () => {
    const lead = await createLead(tenant.api);
    const { id } = lead;
    const call = { id, reason: 'Done' };
    const dryRun = await agent.succeed('delete_thread', { ...call, dry_run: true });
    expect(dryRun).toEqual({ dry_run: true, would_answer: { id, deleted: true } });
    expect(await getLead(tenant.api, id)).toStrictEqual(lead);
    const invalid = await agent.fail('delete_thread', { id, dry_run: true });
    expect(invalid.details).toMatchObject([{ field: 'reason' }]);
    expect(await agent.succeed('delete_thread', call)).toEqual({ id, deleted: true });
    expectError(await tenant.api.get(`${LEADS}/${id}`), 404, 'not_found');
  });

  it('returns compliance_blocked with the instruction not to contact the lead', async () => {
    const { id } = await createLead(tenant.api, { sms_opted_out: true });
    const result = await agent.call('send_message', { id, text: 'Hello' });
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'latitude/error': { code: 'compliance_blocked', retryable: false } },
    });
    expect(textOf(result)).toMatch(/^compliance_blocked: .*opted out.* Do not contact the lead\./);
  });

  it("answers not_found for another organization's lead, through LeadsService", async () => {
    const { id } = await createLead(tenant.api);
    const stranger = await connectAgent(app, await app.organization());
    const theirs = await stranger.fail('send_message', { id, text: 'Hello' });
    const unknown = await stranger.fail('send_message', { id: uuidv7(), text: 'Hello' });
    expect(theirs).toMatchObject({ code: 'not_found' });
    expect({ ...theirs, request_id: '' }).toEqual({ ...unknown, request_id: '' });
  });

  it('counts toward the same write limit of the key as REST', async () => {
    const party = await app.organization();
    const { id } = await createLead(party.api);
    const sender = await connectAgent(app, party);
    const send = async () => {
      const result = await sender.call('send_message', { id, text: 'Hello' });
      return [result.isError ?? false, sender.lastAnswer.headers.get('ratelimit-remaining')];
    };
    for (let left = WRITES - 2; left >= 0; left--) expect(await send()).toEqual([false, `${left}`]);
    expect(await sender.fail('send_message', { id, text: 'Hello' })).toMatchObject({
      code: 'rate_limit_exceeded',
      retry_after_seconds: expect.any(Number) as number,
    });
    const answer = await party.api.post(LEADS, { first_name: 'Ada' });
    expectError(answer, 429, 'rate_limit_exceeded');
    await sender.succeed('count_messages');
  });

  it.each([
    ['two tools of a team', [MessagesModule, RivalModule], 'send_message'],
    ['a tool of a team and one of Latitude', [TakenModule], 'list_leads'],
  ])(
    'makes startup fail with an error that names the duplicate name: %s',
    async (_, modules, name) => {
      const starting = TestApp.start({ modules, database: app.database });
      await expect(starting).rejects.toThrow(name);
    },
  );
});
