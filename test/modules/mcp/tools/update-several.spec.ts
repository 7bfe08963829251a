import { randomUUID } from 'node:crypto';
import { createLead, dataOf, getLead, LEADS } from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import { type Agent, connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';

const TASKS = '/api/v1/tasks';

interface Results {
  readonly results: readonly {
    readonly index: number;
    readonly id?: string;
    readonly status?: string;
    readonly error?: {
      readonly code: string;
      readonly message: string;
      readonly details?: readonly { field: string }[];
    };
  }[];
  readonly failed: number;
}

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => stopWithAgents(app));

interface Subject {
  readonly tool: string;
  readonly list: 'leads' | 'tasks';
  readonly path: string;
  readonly make: () => Promise<{ id: string }>;
  /** A required field, a field that can be emptied, and values of it. */
  readonly name: string;
  readonly text: string;
}

const SUBJECTS: readonly Subject[] = [
  {
    ...{ tool: 'update_leads', list: 'leads', path: LEADS, name: 'first_name', text: 'company' },
    make: () => createLead(tenant.api, { company: 'Old' }),
  },
  {
    ...{ tool: 'update_tasks', list: 'tasks', path: TASKS, name: 'title', text: 'description' },
    make: async () =>
      dataOf(await tenant.api.post(TASKS, { title: 'Call', description: 'Old' }), 201),
  },
];

describe.each(
  SUBJECTS.flatMap((subject) =>
    PROTOCOL_MODES.map((mode) => [subject.tool, mode, subject] as const),
  ),
)('%s (%s)', (tool, mode, { list, path, make, name, text }) => {
  let agent: Agent;

  beforeEach(async () => {
    agent = await connectAgent(app, tenant, mode);
    await agent.listTools();
  });

  const update = (records: readonly object[], more = {}) =>
    agent.succeed<Results>(tool, { [list]: records, ...more });
  const read = async (id: string) => dataOf(await tenant.api.get(`${path}/${id}`));

  it('answers the status or the error of each record', async () => {
    const [one, other, third] = [await make(), await make(), await make()];
    const unknown = randomUUID();
    const answer = await update([
      { id: one.id, [text]: 'New', [name]: null },
      { id: other.id, [text]: 'Old' },
      { id: third.id, clear: [text] },
      { id: unknown, [text]: 'New' },
      { id: one.id.replace(/.$/, 'x'), [text]: 'x' },
    ]);
    expect(answer).toEqual({
      results: [
        { index: 0, id: one.id, status: 'updated' },
        { index: 1, id: other.id, status: 'unchanged' },
        { index: 2, id: third.id, status: 'updated' },
        { index: 3, id: unknown, error: expect.objectContaining({ code: 'not_found' }) as object },
        {
          index: 4,
          id: null,
          error: expect.objectContaining({ code: 'validation_error' }) as object,
        },
      ],
      failed: 2,
    });
    expect(await read(one.id)).toMatchObject({ [text]: 'New' });
    expect(await read(third.id)).toMatchObject({ [text]: null });
  });

  it('names the parameters of a record that is invalid', async () => {
    const { id } = await make();
    const wrong: [object, string][] = [
      [{ id, [text]: 5 }, text],
      [{ id, unknown: 1 }, 'unknown'],
      [{ id, clear: [name] }, 'clear'],
      [{ id, clear: 'x' }, 'clear'],
      [{ id, clear: [text], [text]: 'x' }, 'clear'],
      [{ [text]: 'x' }, 'id'],
      [{ id: null }, 'id'],
    ];
    const { results, failed } = await update(wrong.map(([record]) => record));
    expect(failed).toBe(wrong.length);
    const fields = results.map(({ error }) => error?.details?.map(({ field }) => field));
    expect(fields).toEqual(wrong.map(([, field]) => [field]));
    const messages = results.map(({ error }) => error?.message);
    for (const [index, [, field]] of wrong.entries()) {
      expect(messages[index]).toMatch(new RegExp(`^${field} `));
    }
    expect(messages[1]).toContain(`; the parameters are ${name}, `);
    expect(await read(id)).toMatchObject({ [text]: 'Old' });
  });

  it.each([true, null])('changes nothing if dry_run is %j', async (dry_run) => {
    const { id } = await make();
    const answer = await agent.succeed(tool, { [list]: [{ id, [text]: 'New' }], dry_run });
    expect(answer).toMatchObject({
      dry_run: true,
      would_answer: { results: [{ id, status: 'updated' }], failed: 0 },
    });
    expect(await read(id)).toMatchObject({ [text]: 'Old' });
  });

  it('takes 1 to 25 records, and counts as a write for every ten', async () => {
    const { id } = await make();
    const some = (count: number) => Array.from({ length: count }, () => ({ id: randomUUID() }));
    for (const wrong of [[], some(26), { id }]) {
      const { code, details } = await agent.fail(tool, { [list]: wrong });
      expect([code, details?.map(({ field }) => field)]).toEqual(['validation_error', [list]]);
    }
    const remaining = () => Number(agent.lastAnswer.headers.get('ratelimit-remaining'));
    await update(some(1));
    const before = remaining();
    expect((await update(some(25))).failed).toBe(25);
    expect(before - remaining()).toBe(3);
  });

  it('needs the scope for writes', async () => {
    const key = await app.key(tenant.id, [`${list}:read`]);
    const reader = await connectAgent(app, key, mode);
    expect((await reader.listTools()).map((one) => one.name)).not.toContain(tool);
    const failure = await reader.fail(tool, { [list]: [{ id: randomUUID() }] });
    expect(failure).toMatchObject({ code: 'insufficient_scope', required_scope: `${list}:write` });
  });
});

describe('update_leads', () => {
  it('refuses to append to notes that it empties, as update_lead does', async () => {
    const agent = await connectAgent(app, tenant);
    const { id } = await createLead(tenant.api, { notes: 'One.' });
    const both = { id, clear: ['notes'], append_notes: 'Two.' };
    const message = 'cannot be given together with notes';
    const details = [{ field: 'append_notes', message }];
    expect(await agent.fail('update_lead', both)).toMatchObject({ details });
    const { results } = await agent.succeed<Results>('update_leads', { leads: [both] });
    expect(results).toEqual([{ index: 0, id, error: expect.objectContaining({ details }) }]);
    expect(await getLead(tenant.api, id)).toMatchObject({ notes: 'One.' });
  });

  it('appends notes and names the lead that has a value', async () => {
    const agent = await connectAgent(app, tenant);
    const one = await createLead(tenant.api, { notes: 'One.' });
    const other = await createLead(tenant.api, { email: 'taken@example.com' });
    const leads = [
      { id: one.id, append_notes: 'Two.', add_tags: ['a'] },
      { id: other.id, email: 'Taken@example.com' },
    ];
    expect(await agent.succeed('update_leads', { leads })).toMatchObject({ failed: 0 });
    expect(await getLead(tenant.api, one.id)).toMatchObject({ notes: 'One.\nTwo.', tags: ['a'] });
    const taken = { id: one.id, email: 'taken@example.com' };
    const { results } = await agent.succeed<Results>('update_leads', { leads: [taken] });
    expect(results[0]!.error).toMatchObject({
      code: 'duplicate',
      details: [{ field: 'email', existing_id: other.id }],
    });
  });
});
