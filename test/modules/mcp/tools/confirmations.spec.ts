import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Answer } from '../../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  getLead,
  type LeadRecord,
  LEADS,
} from '../../../../src/testing/factories.js';
import {
  McpHttpClient,
  STATELESS_META,
  STATELESS_REVISION,
} from '../../../../src/testing/mcp-client.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import { connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';
const TIMES = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

type Json = Record<string, unknown>;

interface Question {
  readonly resultType: string;
  readonly requestState: string;
  readonly inputRequests: {
    readonly confirm: {
      readonly method: string;
      readonly params: { readonly message: string; readonly requestedSchema: Json };
    };
  };
}

interface Sent {
  readonly key?: Tenant;
  readonly capabilities?: Json;
  readonly responses?: Json;
  readonly state?: unknown;
  readonly headers?: Record<string, string>;
  readonly meta?: Json;
}

let app: TestServer;
let owner: Tenant;
let asking: Tenant;
let lead: LeadRecord;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  owner = await app.organization();
  asking = await app.key(owner.id, undefined, { confirmations: 'ask' });
  lead = await createLead(owner.api, { first_name: 'Grace', last_name: 'Hopper' });
});
afterAll(() => stopWithAgents(app));

const FORMS = { elicitation: { form: {} } };
const YES = { confirm: { action: 'accept', content: { confirm: true } } };

function send(name: string, args: object, sent: Sent = {}): Promise<Answer> {
  const { key = asking, capabilities = FORMS, responses, state, meta } = sent;
  const client = new McpHttpClient(app.url, key.key.key);
  return client.statelessRpc('tools/call', {
    ...{ name, arguments: args },
    ...(responses && { inputResponses: responses }),
    ...(state !== undefined && { requestState: state }),
    _meta: { ...STATELESS_META, [CAPABILITIES]: capabilities, ...meta },
  });
}

async function call(name: string, args: object, sent: Sent = {}): Promise<Json> {
  const { status, body } = await send(name, args, sent);
  expect({ status, body: body as unknown }).toMatchObject({ status: 200, body: { result: {} } });
  return (body as { result: Json }).result;
}

async function ask(name: string, args: object, sent: Sent = {}): Promise<Question> {
  const result = await call(name, args, sent);
  expect(result).toMatchObject({
    resultType: 'input_required',
    requestState: expect.any(String) as string,
    inputRequests: {
      confirm: {
        method: 'elicitation/create',
        params: {
          message: expect.any(String) as string,
          requestedSchema: {
            type: 'object',
            properties: { confirm: { type: 'boolean' } },
            required: ['confirm'],
          },
        },
      },
    },
  });
  return result as unknown as Question;
}

const messageOf = ({ inputRequests }: Question) => inputRequests.confirm.params.message;
const structured = (result: Json) => result.structuredContent as Json;
const exists = async () => (await owner.api.get(`${LEADS}/${lead.id}`)).status === 200;

async function confirmed(name: string, args: object, sent: Sent = {}): Promise<Json> {
  const { requestState: state } = await ask(name, args, sent);
  const result = await call(name, args, { ...sent, responses: YES, state });
  expect(result).not.toHaveProperty('inputRequests');
  return result;
}

describe('a tool that deletes, cancels or merges', () => {
  it('asks the user, and deletes when the user confirms', async () => {
    const question = await ask('delete_lead', { id: lead.id });
    expect(messageOf(question)).toMatch(/^Delete a lead: first name Grace, last name Hopper/);
    expect(await exists()).toBe(true);
    const again = { responses: YES, state: question.requestState };
    const result = await call('delete_lead', { id: lead.id }, again);
    expect(structured(result)).toEqual({ id: lead.id, deleted: true });
    expect(await exists()).toBe(false);
  });

  it('asks about a task, an appointment and a merge', async () => {
    const { id: task } = dataOf(await owner.api.post(TASKS, { title: 'Call' }), 201);
    const booking = { lead_id: lead.id, ...TIMES };
    const appointment = dataOf(await owner.api.post(APPOINTMENTS, booking), 201).id;
    const other = await createLead(owner.api, { first_name: 'Ada', last_name: null });
    expect(messageOf(await ask('delete_task', { id: task }))).toContain('title Call');
    expect(messageOf(await ask('cancel_appointment', { id: appointment }))).toContain(
      'lead name Grace Hopper',
    );
    const merge = { id: other.id, lead_id: lead.id };
    expect(messageOf(await ask('merge_leads', merge))).toBe(
      'Merge Grace Hopper into Ada, and delete Grace Hopper? These records move: appointments 1, tasks 0.',
    );
    expect(structured(await confirmed('delete_task', { id: task }))).toMatchObject({ id: task });
    await confirmed('cancel_appointment', { id: appointment });
    expect(structured(await confirmed('merge_leads', merge))).toMatchObject({ id: other.id });
    expectError(await owner.api.get(`${TASKS}/${task}`), 404, 'not_found');
    expect(dataOf(await owner.api.get(`${APPOINTMENTS}/${appointment}`))).toMatchObject({
      status: 'cancelled',
      lead_id: other.id,
    });
    expect(await exists()).toBe(false);
  });

  it('asks on one line, whose direction no value of a record changes', async () => {
    const { id } = dataOf(await owner.api.post(TASKS, { title: 'Call\u202eyadot\nnow' }), 201);
    expect(messageOf(await ask('delete_task', { id }))).toContain('title Callyadot now,');
    const other = await createLead(owner.api, { first_name: 'A\u2066da\nB', last_name: null });
    const question = await ask('merge_leads', { id: lead.id, lead_id: other.id });
    expect(messageOf(question)).toMatch(/^Merge Ada B into Grace Hopper, /);
  });

  it.each([
    ['declines', { action: 'decline' }, 'The user declined: nothing was changed.'],
    ['cancels', { action: 'cancel' }, 'The user cancelled: nothing was changed.'],
    [
      'does not confirm',
      { action: 'accept', content: { confirm: false } },
      'The user did not confirm: nothing was changed.',
    ],
  ])('changes nothing when the user %s', async (_, confirm, message) => {
    const { requestState: state } = await ask('delete_lead', { id: lead.id });
    const result = await call('delete_lead', { id: lead.id }, { responses: { confirm }, state });
    expect(result.isError).toBeUndefined();
    expect(structured(result)).toEqual({ confirmed: false, message });
    expect(await exists()).toBe(true);
  });

  it.each([
    ['an answer without content', { confirm: { action: 'accept' } }],
    [
      'a content that is no boolean',
      { confirm: { action: 'accept', content: { confirm: 'yes' } } },
    ],
    ['another question', { other: { action: 'accept', content: { confirm: true } } }],
    ['no object', { confirm: 'yes' }],
    ['nothing', {}],
  ])('asks again for %s', async (_, responses) => {
    const { requestState: state } = await ask('delete_lead', { id: lead.id });
    await ask('delete_lead', { id: lead.id }, { responses, state });
    expect(await exists()).toBe(true);
  });

  it('asks again for a state that is missing, forged, or of another call or caller', async () => {
    const other = await createLead(owner.api);
    const colleague = await app.key(owner.id, undefined, { confirmations: 'ask' });
    const { requestState: own } = await ask('delete_lead', { id: lead.id });
    const [head = '', body = '', mac = ''] = own.split('.');
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as { exp: number };
    const later = { ...payload, exp: payload.exp + 1 };
    const changed = Buffer.from(JSON.stringify(later)).toString('base64url');
    const states = [
      undefined,
      '',
      'x',
      `${head}.${changed}.${mac}`,
      (await ask('delete_lead', { id: other.id })).requestState,
      (await ask('merge_leads', { id: other.id, lead_id: lead.id })).requestState,
      (await ask('delete_lead', { id: lead.id }, { key: colleague })).requestState,
    ];
    for (const state of states) {
      await ask('delete_lead', { id: lead.id }, { responses: YES, state });
    }
    expect(await exists()).toBe(true);
    const answer = { responses: YES, state: own };
    expect(structured(await call('delete_lead', { id: lead.id }, answer))).toMatchObject({
      deleted: true,
    });
  });

  it('asks again about a record that has changed since', async () => {
    const first = await ask('delete_lead', { id: lead.id });
    await owner.api.put(`${LEADS}/${lead.id}`, { last_name: 'Murray' });
    const again = { responses: YES, state: first.requestState };
    const second = await ask('delete_lead', { id: lead.id }, again);
    expect(messageOf(second)).toContain('last name Murray');
    expect(await exists()).toBe(true);
    const answer = { responses: YES, state: second.requestState };
    expect(structured(await call('delete_lead', { id: lead.id }, answer))).toMatchObject({
      deleted: true,
    });
  });

  it('asks again about a merge if either lead or what moves has changed since', async () => {
    const source = await createLead(owner.api, { first_name: 'Ada' });
    const args = { id: lead.id, lead_id: source.id };
    let { requestState: state } = await ask('merge_leads', args);
    const changes = [
      () => owner.api.put(`${LEADS}/${source.id}`, { city: 'Oslo' }),
      () => owner.api.put(`${LEADS}/${lead.id}`, { city: 'Rome' }),
      () => owner.api.post(TASKS, { title: 'Call', contact_id: source.id }),
    ];
    for (const change of changes) {
      expect((await change()).status).toBeLessThan(300);
      ({ requestState: state } = await ask('merge_leads', args, { responses: YES, state }));
    }
    const merged = await call('merge_leads', args, { responses: YES, state });
    expect(structured(merged)).toMatchObject({ id: lead.id, city: 'Rome' });
  });

  it('answers the error of the tool in place of a question', async () => {
    const unknown = await call('delete_lead', { id: randomUUID() });
    expect(unknown).toMatchObject({ isError: true });
    expect(JSON.stringify(unknown)).toContain('not_found');
    const invalid = await call('delete_lead', { id: 'x' });
    expect(JSON.stringify(invalid)).toContain('validation_error');
    const reader = await app.key(owner.id, ['leads:read'], { confirmations: 'ask' });
    const refused = await call('delete_lead', { id: lead.id }, { key: reader });
    expect(JSON.stringify(refused)).toContain('insufficient_scope');
  });

  it('shows no record that the key may not read, and asks again if it has changed', async () => {
    const key = await app.key(owner.id, ['leads:write'], { confirmations: 'ask' });
    const question = await ask('delete_lead', { id: lead.id }, { key });
    expect(messageOf(question)).toBe(`Delete a lead: ${lead.id}?`);
    await owner.api.put(`${LEADS}/${lead.id}`, { city: 'Oslo' });
    const { requestState } = question;
    await ask('delete_lead', { id: lead.id }, { key, responses: YES, state: requestState });
  });
});

describe('a question', () => {
  const rates = ({ headers }: Answer) => ({
    limit: Number(headers.get('ratelimit-limit')),
    remaining: Number(headers.get('ratelimit-remaining')),
  });

  it('counts as a read, and the confirmed call as a write', async () => {
    const reads = rates(await asking.api.get('/api/v1/me'));
    const first = await send('delete_lead', { id: lead.id });
    expect(rates(first)).toEqual({ ...reads, remaining: reads.remaining - 1 });
    const { requestState: state } = first.body.result as Question;
    const declined = { confirm: { action: 'decline' } };
    const second = await send('delete_lead', { id: lead.id }, { responses: declined, state });
    expect(rates(second)).toEqual({ ...reads, remaining: reads.remaining - 2 });
    const third = await send('delete_lead', { id: lead.id }, { responses: YES, state });
    const after = rates(await asking.api.post(LEADS, { first_name: 'Ada' }));
    expect(rates(third)).toEqual({ ...after, remaining: after.remaining + 1 });
  });

  it.each([
    ['has no elicitation', {}],
    ['has only URLs', { elicitation: { url: {} } }],
  ])('is not asked if the client %s', async (_, capabilities) => {
    const result = await call('delete_lead', { id: lead.id }, { capabilities });
    expect(structured(result)).toEqual({ id: lead.id, deleted: true });
  });

  it('is asked if the client declares elicitation without a mode', async () => {
    await ask('delete_lead', { id: lead.id }, { capabilities: { elicitation: {} } });
  });

  it('is not asked of a plain key, in a session, or in a dry run', async () => {
    const others = [await createLead(owner.api), await createLead(owner.api)];
    const [one, other] = others as [LeadRecord, LeadRecord];
    expect(structured(await call('delete_lead', { id: one.id }, { key: owner }))).toMatchObject({
      deleted: true,
    });
    const agent = await connectAgent(app, asking);
    expect(await agent.succeed('delete_lead', { id: other.id })).toMatchObject({ deleted: true });
    for (const dry_run of [true, null]) {
      const result = await call('delete_lead', { id: lead.id, dry_run });
      expect(structured(result)).toMatchObject({ dry_run: true });
    }
    await ask('delete_lead', { id: lead.id, dry_run: false });
  });

  it('is not asked by tools that change records otherwise', async () => {
    const result = await call('update_lead', { id: lead.id, city: 'Oslo' });
    expect(structured(result)).toMatchObject({ city: 'Oslo' });
  });
});

describe('an idempotency key of a tool that asks', () => {
  it('stores only the final result', async () => {
    const args = { id: lead.id };
    const key = { meta: { 'latitude/idempotency_key': randomUUID() } };
    const { requestState: state } = await ask('delete_lead', args, key);
    const declined = { confirm: { action: 'decline' } };
    await call('delete_lead', args, { ...key, responses: declined, state });
    const answer = { ...key, responses: YES, state };
    const done = await call('delete_lead', args, answer);
    expect(structured(done)).toEqual({ id: lead.id, deleted: true });
    expect(await call('delete_lead', args, answer)).toEqual(done);
    expect(await call('delete_lead', args, key)).toEqual(done);
    const other = await createLead(owner.api);
    const reused = await call('delete_lead', { id: other.id }, key);
    expect(JSON.stringify(reused)).toContain('idempotency_key_reused');
    expect(await getLead(owner.api, other.id)).toEqual(other);
  });
});

describe('confirmations of keys', () => {
  const make = (body: object) => owner.api.post('/api/v1/keys', body);

  it('is never by default, and is kept by a rotation', async () => {
    owner = await app.organization({ scopes: app.scopes.every });
    const scopes = ['leads:read'];
    const plain = dataOf<Json>(await make({ name: 'a', scopes }), 201);
    expect(plain.confirmations).toBe('never');
    const asks = dataOf<Json>(await make({ name: 'b', scopes, confirmations: 'ask' }), 201);
    expect(asks.confirmations).toBe('ask');
    const rotated = await owner.api.post(`/api/v1/keys/${String(asks.id)}/rotate`, {});
    expect(dataOf<Json>(rotated, 201).confirmations).toBe('ask');
    for (const confirmations of ['always', true, 1]) {
      expectInvalid(await make({ name: 'c', scopes, confirmations }), 'confirmations');
    }
  });
});

describe('the client of the SDK', () => {
  it('asks its user and repeats the call by itself', async () => {
    const client = new Client(
      { name: 'agent', version: '1' },
      { capabilities: FORMS, versionNegotiation: { mode: { pin: STATELESS_REVISION } } },
    );
    const questions: unknown[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message);
      return { action: 'accept', content: { confirm: true } };
    });
    const headers = { Authorization: `Bearer ${asking.key.key}` };
    const url = new URL('/mcp', app.url);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    const result = await client.callTool({ name: 'delete_lead', arguments: { id: lead.id } });
    expect(result.structuredContent).toMatchObject({ id: lead.id, deleted: true });
    expect(questions).toEqual([expect.stringContaining('Grace')]);
    await client.close();
  });
});
