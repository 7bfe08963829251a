import { Body, Controller, Get, Global, Injectable, Module, Param, Post } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { RequireScope } from '../../src/auth/access.js';
import { DeletedDto } from '../../src/fields/deleted.dto.js';
import { RecordOf } from '../../src/fields/field.js';
import { Flag, Integer, OneOf, Text, Uuid } from '../../src/fields/kinds.js';
import { Id } from '../../src/http/request/id.decorator.js';
import { LeadComplianceService } from '../../src/leads/lead-compliance.service.js';
import { LeadScorer, type ScorableLead } from '../../src/leads/lead-scorer.js';
import { LeadsModule } from '../../src/leads/leads.module.js';
import { LeadsService } from '../../src/leads/leads.service.js';
import { Completion, type CompletionMatches } from '../../src/mcp/prompts/completion.decorator.js';
import { LabelledId } from '../../src/mcp/prompts/labelled-id.js';
import { Prompt, type PromptPart } from '../../src/mcp/prompts/prompt.decorator.js';
import { Resource } from '../../src/mcp/resources/resource.decorator.js';
import { Tool } from '../../src/mcp/tools/tool.decorator.js';
import { Caller } from '../../src/http/request/api-request.js';
import type { Actor } from '../../src/tenancy/actor.js';
import { type Agent, connectAgent, stopWithAgents, textOf } from '../support/agent.js';
import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  getLead,
  LEADS,
  updateLead,
} from '../../src/testing/factories.js';
import { connectTenant } from '../support/id-positions.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { ALL_TOOLS, CORE_TOOLS, isCore } from '../support/tools.js';

class SendMessageDto {
  @Text({ max: 160, required: true }) text: string;
  @Flag({ default: false }) urgent?: boolean;
}

class MessageDto extends RecordOf(SendMessageDto) {
  @Uuid({ required: true }) lead_id: string;
}

class ReasonDto {
  @Text({ max: 50, required: true }) reason: string;
}

class CountDto {
  @Integer({ min: 0, max: 100, required: true }) count: number;
  @Text({ max: 10, required: true }) channel: string;
}

@Injectable()
class MessagesService {
  constructor(
    private readonly leads: LeadsService,
    private readonly compliance: LeadComplianceService,
  ) {}

  async send(actor: Actor, leadId: string, message: SendMessageDto): Promise<MessageDto> {
    this.compliance.assertContactable(await this.leads.get(actor, leadId));
    return { id: uuidv7(), lead_id: leadId, urgent: false, ...message };
  }
}

@Controller(`${LEADS}/:id/messages`)
class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Post()
  @RequireScope('leads:write')
  send(@Caller() actor: Actor, @Id() id: string, @Body() message: SendMessageDto) {
    return this.messages.send(actor, id, message);
  }
}

@Injectable()
class MessagesTools {
  constructor(
    private readonly messages: MessagesService,
    private readonly leads: LeadsService,
  ) {}

  @Tool('send_message', {
    title: 'Send a message',
    description: 'Send a text message to a lead.',
    effect: 'creates',
    scope: 'leads:write',
    id: 'Id of the lead, from list_leads.',
    input: SendMessageDto,
    output: MessageDto,
  })
  send(actor: Actor, id: string, message: SendMessageDto) {
    return this.messages.send(actor, id, message);
  }

  @Tool('delete_thread', {
    title: 'Delete a thread',
    description: 'Delete a lead with all that was said.',
    effect: 'deletes',
    scope: 'leads:write',
    id: 'Id of the lead, from list_leads.',
    input: ReasonDto,
    output: DeletedDto,
  })
  async delete(actor: Actor, id: string, { reason }: ReasonDto) {
    await this.leads.update(actor, id, { notes: reason });
    return this.leads.delete(actor, id);
  }

  @Tool('count_messages', {
    title: 'Count messages',
    description: 'Count what was sent to nobody.',
    effect: 'reads',
    scope: 'leads:read',
    output: CountDto,
  })
  count({ channel }: Actor) {
    return { count: 0, channel };
  }
}

class ThankLeadDto {
  @LabelledId('lead', { required: true, description: 'The lead to thank.' })
  lead_id: string;
  @OneOf(['letter', 'call'], { default: 'letter', description: 'How to thank.' })
  way: string;
}

@Injectable()
class MessagesPrompts {
  constructor(private readonly leads: LeadsService) {}

  @Prompt('thank_lead', {
    title: 'Thank a lead',
    description: 'Draft words of thanks to a lead.',
    scopes: ['leads:read'],
    input: ThankLeadDto,
  })
  async thank(actor: Actor, { lead_id, way }: ThankLeadDto): Promise<PromptPart[]> {
    const record = await this.leads.get(actor, lead_id);
    return [`Draft a ${way} of thanks to this lead:`, { kind: 'lead', record }];
  }

  @Resource({ name: 'thread', title: 'Thread', description: 'A thread.', scope: 'leads:read' })
  read(_: Actor, id: string) {
    return { id };
  }

  @Completion({ name: 'thread', scope: 'leads:read' })
  find(_: Actor, typed: string): CompletionMatches {
    return { matches: [{ id: `${typed}-1`, label: 'Hello' }], hasMore: true };
  }
}

@Module({
  imports: [LeadsModule],
  controllers: [MessagesController],
  providers: [MessagesService, MessagesTools, MessagesPrompts],
})
class MessagesModule {}

@Injectable()
class RivalTools {
  @Tool('send_message', {
    title: 'Send another message',
    description: 'Send a message by other means.',
    effect: 'creates',
    scope: 'tasks:write',
    output: CountDto,
  })
  send({ channel }: Actor) {
    return { count: 1, channel };
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
  list({ channel }: Actor) {
    return { count: 1, channel };
  }
}

@Module({ providers: [TakenTools] })
class TakenModule {}

/** Knows one thing about a lead: how long its notes are. */
@Injectable()
class NotesScorer extends LeadScorer {
  score({ notes }: ScorableLead): number {
    return Math.min(100, notes?.length ?? 1);
  }
}

@Global()
@Module({ providers: [{ provide: LeadScorer, useClass: NotesScorer }], exports: [LeadScorer] })
class ScoringModule {}

/** Breaks the contract of `score` by whatever number the notes spell. */
@Injectable()
class CarelessScorer extends LeadScorer {
  score({ notes }: ScorableLead): number {
    return Number(notes ?? 0);
  }
}

@Global()
@Module({ providers: [{ provide: LeadScorer, useClass: CarelessScorer }], exports: [LeadScorer] })
class CarelessScoringModule {}

@Controller(LEADS)
class SummaryController {
  @Get('summary')
  @RequireScope('leads:read')
  summary() {
    return { leads: 'in short' };
  }
}

@Module({ controllers: [SummaryController] })
class SummaryModule {}

@Controller('api/v1/things')
class ThingsController {
  @Get(':id')
  @RequireScope('leads:read')
  get(@Param('id') id: string) {
    return { thing: id };
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

@Controller('api/v1/things')
class LatestThingController {
  @Get('latest')
  @RequireScope('leads:read')
  latest() {
    return { thing: 'the latest' };
  }
}

@Module({ controllers: [LatestThingController] })
class LatestThingModule {}

describe("a team's own route on leads (compliance_blocked)", () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ modules: [MessagesModule], settings: { writesPerMinute: 50 } });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  const messagesOf = (id: string) => `${LEADS}/${id}/messages`;

  it('given a lead that may be contacted, answers 201 in the envelope, with Location', async () => {
    const { id } = await createLead(tenant.api);
    const answer = await tenant.api.post(messagesOf(id.toUpperCase()), { text: ' Hello ' });
    const message = dataOf<{ id: string }>(answer, 201);
    expect(message).toEqual({ id: message.id, lead_id: id, text: 'Hello', urgent: false });
    expect(answer.headers.get('location')).toBe(`${messagesOf(id.toUpperCase())}/${message.id}`);
  });

  it.each([
    [{ sms_opted_out: true }, ['opted out']],
    [{ on_dnc_list: true }, ['do-not-call']],
    [{ sms_opted_out: true, on_dnc_list: true }, ['opted out', 'do-not-call']],
  ])('given a lead with %j, answers 422 compliance_blocked', async (flags, reasons) => {
    const { id } = await createLead(tenant.api, flags);
    const answer = await tenant.api.post(messagesOf(id), { text: 'Hello' });
    expectError(answer, 422, 'compliance_blocked');
    const error = errorOf(answer);
    expect(Object.keys(error).sort()).toEqual(['code', 'message', 'request_id', 'retryable']);
    expect(error.retryable).toBe(false);
    expect(error.request_id).toBe(answer.headers.get('x-request-id'));
    for (const reason of reasons) expect(error.message).toContain(reason);
  });

  it('follows the flags of the lead as they are changed', async () => {
    const { id } = await createLead(tenant.api, { sms_opted_out: true });
    await updateLead(tenant.api, id, { sms_opted_out: false });
    dataOf(await tenant.api.post(messagesOf(id), { text: 'Hello' }), 201);
    await updateLead(tenant.api, id, { on_dnc_list: true });
    const answer = await tenant.api.post(messagesOf(id), { text: 'Hello' });
    expectError(answer, 422, 'compliance_blocked');
  });

  it.each([
    [{}, ['text']],
    [{ text: '' }, ['text']],
    [{ text: 'x'.repeat(161), urgent: 'yes', to: 'me' }, ['text', 'urgent', 'to']],
  ])('checks its own DTO: %j', async (body, fields) => {
    const { id } = await createLead(tenant.api, { sms_opted_out: true });
    expectInvalid(await tenant.api.post(messagesOf(id), body), ...fields);
  });

  it('asks for a key, and for the scope that it declares', async () => {
    const { id } = await createLead(tenant.api);
    expectError(await app.client().post(messagesOf(id), {}), 401, 'unauthorized');
    const reader = await app.key(tenant.id, ['leads:read', 'tasks:write']);
    expectError(await reader.api.post(messagesOf(id), {}), 403, 'insufficient_scope');
    const writer = await app.key(tenant.id, ['leads:write']);
    dataOf(await writer.api.post(messagesOf(id), { text: 'Hello' }), 201);
  });

  it("answers not_found for another organization's lead, a deleted one and a malformed id", async () => {
    const { id } = await createLead(tenant.api);
    const stranger = await app.organization();
    expectError(await stranger.api.post(messagesOf(id), { text: 'Hi' }), 404, 'not_found');
    await tenant.api.delete(`${LEADS}/${id}`);
    expectError(await tenant.api.post(messagesOf(id), { text: 'Hi' }), 404, 'not_found');
    expectError(await tenant.api.post(messagesOf('x'), { text: 'Hi' }), 404, 'not_found');
  });

  it('counts against the writes of the key, with the headers on every answer', async () => {
    const { api } = await app.organization();
    const { id } = await createLead(api);
    const left = async () =>
      Number((await api.post(messagesOf(id), { text: 'Hi' })).headers.get('ratelimit-remaining'));
    expect(await left()).toBe(48);
    expect(await left()).toBe(47);
    for (let remaining = 47; remaining > 0; remaining--) await left();
    const answer = await api.post(messagesOf(id), { text: 'Hi' });
    expectError(answer, 429, 'rate_limit_exceeded');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe("a team's own LeadScorer", () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ modules: [ScoringModule] });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  it('gives the score on create', async () => {
    expect((await createLead(tenant.api)).lead_score).toBe(1);
    const lead = await createLead(tenant.api, { notes: 'x'.repeat(42), temperature: 'hot' });
    expect(lead.lead_score).toBe(42);
    expect((await getLead(tenant.api, lead.id)).lead_score).toBe(42);
  });

  it('gives the score on update, from the whole lead as it then is', async () => {
    const { id } = await createLead(tenant.api, { notes: 'x'.repeat(42) });
    expect((await updateLead(tenant.api, id, { city: 'Paris' })).lead_score).toBe(42);
    expect((await updateLead(tenant.api, id, { notes: 'x'.repeat(200) })).lead_score).toBe(100);
    expect((await updateLead(tenant.api, id, { notes: null })).lead_score).toBe(1);
  });

  it('is what lists sort by', async () => {
    const { api } = await app.organization();
    for (const length of [5, 50, 20]) await createLead(api, { notes: 'x'.repeat(length) });
    const { body } = (await api.get(`${LEADS}?sort_by=lead_score`)) as { body: unknown };
    expect(body).toMatchObject({
      data: [{ lead_score: 50 }, { lead_score: 20 }, { lead_score: 5 }],
    });
  });
});

describe("a team's LeadScorer that breaks its contract", () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ modules: [CarelessScoringModule] });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  it.each(['101', '-1', '33.3', 'NaN', 'Infinity'])(
    'given the score %s, answers internal_error on create and update and stores nothing',
    async (notes) => {
      const answer = await tenant.api.post(LEADS, { first_name: 'Ada', notes });
      expectError(answer, 500, 'internal_error');
      const lead = await createLead(tenant.api, { notes: '7' });
      const update = await tenant.api.put(`${LEADS}/${lead.id}`, { notes });
      expectError(update, 500, 'internal_error');
      expect(await getLead(tenant.api, lead.id)).toStrictEqual(lead);
      expect(errorOf(update).message).not.toContain('Scorer');
    },
  );
});

describe('a static route beside one with :id (the most specific answers)', () => {
  it('wins over the :id of leads, which goes on answering for ids', async () => {
    const app = await TestApp.start({ modules: [SummaryModule] });
    try {
      const { api } = await app.organization();
      expect(dataOf(await api.get(`${LEADS}/summary`))).toEqual({ leads: 'in short' });
      const lead = await createLead(api);
      expect(await getLead(api, lead.id)).toStrictEqual(lead);
      expectError(await api.get(`${LEADS}/summarys`), 404, 'not_found');
      expectError(await api.delete(`${LEADS}/summary`), 404, 'not_found');
    } finally {
      await app.stop();
    }
  });

  it.each([
    ['after', [ThingsModule, LatestThingModule]],
    ['before', [LatestThingModule, ThingsModule]],
  ])('wins where its module is listed %s the other', async (_, modules) => {
    const app = await TestApp.start({ modules });
    try {
      const { api } = await app.organization();
      expect(dataOf(await api.get('/api/v1/things/latest'))).toEqual({ thing: 'the latest' });
      expect(dataOf(await api.get('/api/v1/things/7'))).toEqual({ thing: '7' });
    } finally {
      await app.stop();
    }
  });
});

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

  it('is listed behind those of Latitude', async () => {
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
    expect(names.sort()).toEqual(['count_messages', 'get_lead', 'list_leads', 'whoami']);
    const { code, required_scope } = await reader.fail('send_message', {});
    expect({ code, required_scope }).toEqual({
      code: 'insufficient_scope',
      required_scope: 'leads:write',
    });
  });

  it('is called with the actor, the id and its DTO, defaults included', async () => {
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
  ])('has its arguments checked as its body is: %j', async (args, fields) => {
    const { id } = await createLead(tenant.api);
    const { code, details = [] } = await agent.fail('send_message', { id, ...args });
    expect(code).toBe('validation_error');
    expect(details.map(({ field }) => field).sort()).toEqual(fields.sort());
  });

  it('takes no argument that it does not declare', async () => {
    for (const args of [{ id: uuidv7() }, { text: 'Hello' }]) {
      const { details } = await agent.fail('count_messages', args);
      expect(details).toMatchObject([{ field: Object.keys(args)[0] }]);
    }
  });

  it('that deletes can be rehearsed, and leaves nothing of what it wrote', async () => {
    const lead = await createLead(tenant.api);
    const { id } = lead;
    const call = { id, reason: 'Done' };
    const rehearsed = await agent.succeed('delete_thread', { ...call, dry_run: true });
    expect(rehearsed).toEqual({ dry_run: true, would_answer: { id, deleted: true } });
    expect(await getLead(tenant.api, id)).toStrictEqual(lead);
    const invalid = await agent.fail('delete_thread', { id, dry_run: true });
    expect(invalid.details).toMatchObject([{ field: 'reason' }]);
    expect(await agent.succeed('delete_thread', call)).toEqual({ id, deleted: true });
    expectError(await tenant.api.get(`${LEADS}/${id}`), 404, 'not_found');
  });

  it('may raise compliance_blocked, which tells the agent to leave the lead alone', async () => {
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

  it('counts against the writes of the key, together with REST', async () => {
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
    ['two of its own', [MessagesModule, RivalModule], 'send_message'],
    ['one of Latitude', [TakenModule], 'list_leads'],
  ])('ends the start where %s have one name, which it tells', async (_, modules, name) => {
    const starting = TestApp.start({ modules, database: app.database });
    await expect(starting).rejects.toThrow(name);
  });
});

describe("a team's own prompt", () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ modules: [MessagesModule] });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  /** What a party of the organization is answered, by whichever method. */
  async function ask(method: string, params: object, of = tenant) {
    const { rpc } = await connectTenant(app, of);
    return (await rpc(method, params)).body as { result: never; error?: { message: string } };
  }

  it('is listed behind those of Latitude, with its arguments, to keys that may read', async () => {
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

  it('has its arguments checked and its records attached', async () => {
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

  it('has its words completed, and the ids of its own records', async () => {
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
