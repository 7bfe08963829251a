import type { Answer } from '../../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  LEADS,
} from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import {
  type Agent,
  type Arguments,
  connectAgent,
  stopWithAgents,
} from '../../../support/mcp/agent.js';
import { expectShorter } from '../../../support/times.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';

let app: TestServer;
let tenant: Tenant;
let agent: Agent;
let ada: string;
let bob: string;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  agent = await connectAgent(app, tenant, 'sessions');
  ({ id: ada } = await createLead(tenant.api, { city: 'Graz', zip: '8010', temperature: 'hot' }));
  ({ id: bob } = await createLead(tenant.api, { city: 'Wien', temperature: 'hot' }));
  await tenant.api.post(TASKS, { title: 'Call Bob', contact_id: bob });
});
afterAll(() => stopWithAgents(app));

/** @param filter JSON, or its text */
function urlOf(list: string, filter: object | string, others = ''): string {
  const text = typeof filter === 'string' ? filter : JSON.stringify(filter);
  return `${list}?filter=${encodeURIComponent(text)}${others}`;
}

function detailsOf(answer: Answer): unknown {
  expectError(answer, 400, 'validation_error');
  return errorOf(answer).details;
}

const idsOf = (answer: Answer) =>
  dataOf<{ id: string }[]>(answer)
    .map(({ id }) => id)
    .sort();

describe('the parameter filter', () => {
  it('is one condition more beside the others', async () => {
    const filter = {
      or: [{ zip: { starts_with: '80' } }, { tasks: { some: { status: 'open' } } }],
    };
    const list = (others: string) => tenant.api.get(urlOf(LEADS, filter, others));
    expect(idsOf(await list('&temperature=hot'))).toEqual([ada, bob].sort());
    expect(idsOf(await list('&search=wien'))).toEqual([]);
    const byCursor = await list('&after=&created_after=2026-01-01&fields=*');
    expect(idsOf(byCursor)).toEqual([ada, bob].sort());
  });

  it.each(['', '%20', '%7B%7D', '%20%7B%20%7D'])(
    'is not given when it is empty: %j',
    async (text) => {
      for (const list of [LEADS, APPOINTMENTS, TASKS]) {
        const path = `${list}?filter=${text}`;
        expect((await tenant.api.get(path)).body).toEqual((await tenant.api.get(list)).body);
      }
    },
  );

  it('is the object of a tool', async () => {
    const list = async (args: Arguments) =>
      (await agent.succeed<{ data: { id: string }[] }>('list_leads', args)).data.map(
        ({ id }) => id,
      );
    expect(await list({ filter: { tasks: { none: { status: 'open' } } } })).toEqual([ada]);
    expect(await list({ filter: { zip: null, city: { ne: 'Graz' } } })).toEqual([bob]);
    for (const filter of [null, {}, '']) expect(await list({ filter })).toHaveLength(2);
  });
});

describe('an invalid filter', () => {
  const NESTED = (levels: number) =>
    '{"not":'.repeat(levels) + '{"city":"Graz"}' + '}'.repeat(levels);

  const CASES: readonly [text: string, field: string, message: string | RegExp][] = [
    [
      '{"or":[{"city":"Graz"},{"zip":{"starts":"80"}}]}',
      'filter.or[1].zip.starts',
      /contains, starts_with$/,
    ],
    [
      '{"town":"Graz"}',
      'filter.town',
      /the fields are id, .*, custom_fields.KEY, the relations are .*tasks/,
    ],
    ['{"temperature":"hott"}', 'filter.temperature', 'must be one of cold, warm, hot'],
    ['{"temperature":{"gt":"hot"}}', 'filter.temperature.gt', /^is no operator/],
    ['{"city":"Graz","city":"Wien"}', 'filter.city', 'must be given only once'],
    ['{"or":[{"city":{"eq":"a","eq":"b"}}]}', 'filter.or[0].city.eq', 'must be given only once'],
    ['{"custom_fields.age":{"gt":"20"}}', 'filter.custom_fields.age.gt', 'must be a number'],
    ['{"lead_score":1e400}', 'filter.lead_score', /beyond/],
    [String.raw`{"city":"\u0000"}`, 'filter.city', /u0000/],
    [String.raw`{"city":"\ud800"}`, 'filter.city', /unpaired surrogates/],
    ["{'city':'Graz'}", 'filter', 'must be valid JSON'],
    ["Graz' or 1=1 --", 'filter', 'must be valid JSON'],
    ['{"city":', 'filter', 'must be valid JSON'],
    ['[]', 'filter', /^must be an object/],
    ['null', 'filter', /^must be an object/],
    ['"city"', 'filter', /^must be an object/],
    [NESTED(4), 'filter.not.not.not.not', /too deep/],
    [NESTED(200), 'filter.not.not.not.not', /too deep/],
    ['['.repeat(2_500), 'filter', 'must be valid JSON'],
    ['['.repeat(1_300) + ']'.repeat(1_300), 'filter', /^must be an object/],
    [
      `{"or":[${Array.from({ length: 26 }, () => '{"city":"a"}').join()}]}`,
      'filter.or[25].city',
      /25 conditions/,
    ],
    [`{"city":{"in":[${'1,'.repeat(101)}1]}}`, 'filter.city.in', 'must have at most 100 values'],
    [`{"city":"${'a'.repeat(8_200)}"}`, 'filter', 'must be at most 8192 bytes as it is sent'],
    [`{"city":"${'é'.repeat(1_400)}"}`, 'filter', 'must be at most 8192 bytes as it is sent'],
    ['{"__proto__":{"city":"Graz"}}', 'filter.__proto__', /^is unknown/],
    ['{"constructor":{"prototype":1}}', 'filter.constructor', /^is unknown/],
    ['{"and":{"length":1}}', 'filter.and', 'must be an array of filters'],
    ['{"tasks":{"some":{"lead":{"city":"Graz"}}}}', 'filter.tasks.some.lead', /^is unknown/],
    ['{"city":{"contains":""}}', 'filter.city.contains', 'must not be empty'],
  ];

  it.each(CASES.map(([text, field, message]) => [field, text, message] as const))(
    'is refused at %s',
    async (field, text, message) => {
      const start = performance.now();
      const answer = await tenant.api.get(urlOf(LEADS, text));
      expectShorter(performance.now() - start, 50);
      expect(detailsOf(answer)).toContainEqual({ field, message: expect.stringMatching(message) });
    },
  );

  it('is refused together with the problems of other parameters, everywhere', async () => {
    const filter = { lead: { city: 5, town: 'Graz' }, status: 'new' };
    for (const list of [APPOINTMENTS, TASKS]) {
      const details = detailsOf(await tenant.api.get(urlOf(list, filter, '&limit=0')));
      expect((details as { field: string }[]).map(({ field }) => field)).toEqual([
        ...['limit', 'filter.lead.city', 'filter.lead.town', 'filter.status'],
      ]);
    }
    const path = urlOf(`${LEADS}/export`, { city: { gt: 'a' } }, '&format=xml');
    expect(detailsOf(await tenant.api.get(path))).toMatchObject([
      { field: 'filter.city.gt' },
      { field: 'format' },
    ]);
    const failure = await agent.fail('list_leads', { filter: { city: { gt: 'a' } } });
    expect(failure).toMatchObject({
      code: 'validation_error',
      details: [{ field: 'filter.city.gt' }],
    });
    const tooLarge = await agent.fail('list_tasks', { filter: { title: 'x'.repeat(9_000) } });
    expect(tooLarge.message).toBe('filter must be at most 8192 bytes as JSON.');
  });
});

describe('a relation', () => {
  it('needs the read scope of its records', async () => {
    const key = await app.key(tenant.id, ['leads:read']);
    const filter = { or: [{ city: 'Graz' }, { tasks: { none: { status: 'open' } } }] };
    for (const path of [LEADS, `${LEADS}/export`]) {
      const answer = await key.api.get(urlOf(path, filter));
      expectError(answer, 403, 'insufficient_scope');
      expect(answer.headers.get('www-authenticate')).toContain('scope="tasks:read"');
    }
    const colleague = await connectAgent(app, key, 'sessions');
    expect(await colleague.fail('list_leads', { filter })).toMatchObject({
      code: 'insufficient_scope',
      required_scope: 'tasks:read',
    });
    const others = await app.key(tenant.id, ['tasks:read']);
    expectError(
      await others.api.get(urlOf(TASKS, { lead: { city: 'Graz' } })),
      403,
      'insufficient_scope',
    );
    expect(idsOf(await others.api.get(urlOf(TASKS, { title: { contains: 'CALL' } })))).toHaveLength(
      1,
    );
  });
});
