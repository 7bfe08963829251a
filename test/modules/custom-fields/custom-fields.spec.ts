import {
  createLead,
  dataOf,
  type ErrorBody,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { readAllEvents } from '../../support/events.js';
import { mirrorHeaders, statelessRequest } from '../../../src/testing/mcp-client.js';
import { ownerPool } from '../../../src/testing/databases.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { SCOPES } from '../../../src/platform/access/scopes.js';

const FIELDS = '/api/v1/custom-fields';

interface FieldRecord {
  readonly id: string;
  readonly key: string;
  readonly updated_at: string;
}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: SCOPES });
});
afterAll(() => app.stop());

const define = async (field: object) =>
  dataOf<FieldRecord>(await tenant.api.post(FIELDS, { type: 'text', ...field }), 201);

const withFields = (custom_fields: object) => createLead(tenant.api, { custom_fields });

const isOwn = () => `organization_id = '${tenant.id}'`;

const post = (custom_fields: object) =>
  tenant.api.post(LEADS, { first_name: 'Ada', custom_fields });

describe('a definition', () => {
  it('is returned as it was given, with its defaults', async () => {
    const options = [{ value: 'slate', label: 'Slate' }, { value: 'tile' }];
    const answer = await tenant.api.post(FIELDS, { key: 'roof', type: 'select', options });
    const created = dataOf<FieldRecord>(answer, 201);
    expect(answer.headers.get('location')).toBe(`${FIELDS}/${created.id}`);
    expect(answer.headers.get('etag')).toMatch(/^"/);
    expect(created).toEqual({
      id: expect.any(String) as string,
      ...{ key: 'roof', label: null, description: null, type: 'select' },
      options: [
        { value: 'slate', label: 'Slate' },
        { value: 'tile', label: null },
      ],
      ...{ required: false, unique: false, filterable: false },
      created_at: expect.any(String) as string,
      updated_at: created.updated_at,
    });
    expect(dataOf(await tenant.api.get(`${FIELDS}/${created.id}`))).toEqual(created);
    expect(dataOf(await tenant.api.get(FIELDS))).toEqual([created]);
  });

  it('needs fields:write, which no key has that does not name it', async () => {
    const { api } = await app.organization();
    expectError(await api.post(FIELDS, { key: 'a', type: 'text' }), 403, 'insufficient_scope');
    expect(dataOf(await api.get(FIELDS))).toEqual([]);
  });

  it.each([
    [{ key: 'a', type: 'select' }, 'options'],
    [{ key: 'a', type: 'text', options: [{ value: 'x' }] }, 'options'],
    [{ key: 'a', type: 'select', options: [{ value: 'x' }, { value: 'x' }] }, 'options'],
    [{ key: 'a', type: 'multi_select', options: [{ value: 'x' }], unique: true }, 'unique'],
    [{ key: 'a', type: 'boolean', unique: true }, 'unique'],
    [{ key: '', type: 'text' }, 'key'],
    [{ key: 'a', type: 'money' }, 'type'],
    [{ type: 'text' }, 'key'],
  ])('is refused: %j', async (field, name) => {
    expectInvalid(await tenant.api.post(FIELDS, field), name);
  });

  it('has a key of its own', async () => {
    const { id } = await define({ key: 'age' });
    const answer = await tenant.api.post(FIELDS, { key: 'age', type: 'text' });
    expectError(answer, 409, 'duplicate');
    expect(errorOf(answer).details).toEqual([
      { field: 'key', message: expect.any(String) as string, existing_id: id },
    ]);
    expectInvalid(await tenant.api.put(`${FIELDS}/${id}`, { key: 'other' }), 'key');
  });

  it('is made once by requests with one Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'one' };
    const body = { key: 'age', type: 'number', filterable: true };
    const answers = await Promise.all([1, 2].map(() => tenant.api.post(FIELDS, body, { headers })));
    const created = answers.filter(({ status }) => status === 201);
    const again = await tenant.api.post(FIELDS, body, { headers });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(created.length).toBeGreaterThan(0);
    for (const { body: same } of created) expect(same).toEqual(again.body);
    const other = await tenant.api.post(FIELDS, { ...body, key: 'b' }, { headers });
    expectError(other, 422, 'idempotency_key_reused');
    expect(dataOf(await tenant.api.get(FIELDS))).toHaveLength(1);
  });

  it('changes with its version, and writes events', async () => {
    const { id } = await define({ key: 'age', type: 'number' });
    const path = `${FIELDS}/${id}`;
    const { headers } = await tenant.api.get(path);
    const labelled = await tenant.api.put(
      path,
      { label: 'Age' },
      { headers: { 'If-Match': headers.get('etag')! } },
    );
    expect(dataOf(labelled)).toMatchObject({ label: 'Age', type: 'number' });
    const stale = { headers: { 'If-Match': headers.get('etag')! } };
    expectError(await tenant.api.put(path, { unique: true }, stale), 412, 'precondition_failed');
    dataOf(await tenant.api.put(path, { filterable: true }));
    dataOf(await tenant.api.delete(path));
    expectError(await tenant.api.get(path), 404, 'not_found');
    expectError(await tenant.api.put(path, { unique: true }), 404, 'not_found');
    const types = ['created', 'updated', 'deleted'].map((change) => `custom_field.${change}`);
    const events = await readAllEvents(tenant.api, 4, `types=${types.join()}`);
    expect(events.map(({ type, changed }) => [type, changed])).toEqual([
      ['custom_field.created', []],
      ['custom_field.updated', ['label']],
      ['custom_field.updated', ['filterable']],
      ['custom_field.deleted', []],
    ]);
  });
});

/** Values that fit, and those that do not, by type. */
const VALUES: Readonly<Record<string, readonly [fit: unknown[], unfit: unknown[]]>> = {
  text: [
    ['', 'a', 'é'.repeat(500)],
    [1, true, [], {}, 'é'.repeat(501)],
  ],
  number: [
    [0, -1.5, 1e-7, 5e-324],
    ['1', true, [1]],
  ],
  boolean: [
    [true, false],
    ['true', 0],
  ],
  date: [
    ['2026-01-31', '0001-01-01', '2024-02-29'],
    ['2026-02-29', '2026-1-1', '2026-01-01T00:00Z', ' 2026-01-01', 20260101, '0000-01-01'],
  ],
  datetime: [
    [
      '2026-01-31',
      '2026-01-31T09:30',
      '2026-01-31t09:30:00.123456789z',
      '2026-01-31T09:30:00+05:30',
    ],
    [
      '2026-01-31T24:00Z',
      '2026-01-31T09:30:60Z',
      '2026-02-30T00:00Z',
      '2026-01-31T09:30+16:00',
      'now',
      5,
    ],
  ],
  select: [['slate'], ['Slate', 'other', ['slate'], 1]],
  multi_select: [
    [[], ['slate'], ['slate', 'tile']],
    ['slate', ['other'], [1], {}],
  ],
};

describe('the values of a definition', () => {
  const options = [{ value: 'slate' }, { value: 'tile' }];

  it.each(Object.keys(VALUES))('of the type %s rule all writes', async (type) => {
    const [fit, unfit] = VALUES[type]!;
    await define({ key: 'x', type, filterable: true, ...(type.includes('select') && { options }) });
    for (const value of [...fit, null]) {
      const { id, custom_fields } = await withFields({ x: value });
      expect(custom_fields).toEqual({ x: value });
      dataOf(await tenant.api.put(`${LEADS}/${id}`, { custom_fields: { x: value, y: 1 } }));
    }
    const lead = await withFields({});
    for (const value of unfit) {
      const refused = await post({ x: value });
      expectInvalid(refused, 'custom_fields.x');
      const update = { custom_fields: { x: value } };
      expectInvalid(await tenant.api.put(`${LEADS}/${lead.id}`, update), 'custom_fields.x');
      // PostgreSQL refuses the same values with the same words.
      const [row] = await app.sql<{ problem: string | null }>(
        `select custom_field_problem('${type}', '{slate,tile}', true, $1) as problem`,
        [JSON.stringify(value)],
      );
      expect(errorOf(refused).message).toBe(`custom_fields.x ${row?.problem}.`);
    }
  });
});

describe('a definition that stored leads do not fit', () => {
  it('is refused with their number and ten ids, also in a dry run', async () => {
    const leads = [];
    for (let number = 0; number < 12; number++) leads.push(await withFields({ age: 'old' }));
    await withFields({ age: 3 });
    const deleted = await withFields({ age: 'old' });
    dataOf(await tenant.api.delete(`${LEADS}/${deleted.id}`));
    const body = { key: 'age', type: 'number', filterable: true };
    for (const dry_run of [true, false]) {
      const answer = await tenant.api.post(FIELDS, { ...body, dry_run });
      expectError(answer, 409, 'definition_conflicts');
      const ids = leads
        .map(({ id }) => id)
        .sort()
        .slice(0, 10);
      expect(errorOf(answer).details).toEqual([
        {
          field: 'custom_fields.age',
          message: expect.any(String) as string,
          count: 12,
          lead_ids: ids,
        },
      ]);
    }
    expect(dataOf(await tenant.api.get(FIELDS))).toEqual([]);
    await withFields({ age: 'young' });
    expect(await app.sql(`select from custom_field_rules where ${isOwn()}`)).toHaveLength(0);
    expect(await app.sql(`select from custom_field_values where ${isOwn()}`)).toHaveLength(0);
  });

  it('answers a dry run that succeeds with 200, and stores nothing', async () => {
    await withFields({ age: 3 });
    const body = { key: 'age', type: 'number', filterable: true };
    const key = { headers: { 'Idempotency-Key': 'define-age' } };
    const tried = await tenant.api.post(FIELDS, { ...body, dry_run: true }, key);
    expect(dataOf(tried, 200)).toMatchObject(body);
    expect(tried.headers.get('location')).toBeNull();
    expect(dataOf(await tenant.api.get(FIELDS))).toEqual([]);
    const { id } = await withFields({ age: 'young' });
    // Each dry run checks again, and its key is free for the definition.
    const again = await tenant.api.post(FIELDS, { ...body, dry_run: true }, key);
    expectError(again, 409, 'definition_conflicts');
    dataOf(await tenant.api.delete(`${LEADS}/${id}`));
    const made = await tenant.api.post(FIELDS, body, key);
    expect(dataOf(made, 201)).toMatchObject(body);
    expect(made.headers.get('idempotency-replayed')).toBeNull();
  });

  it('is refused if a change makes it stricter, and stays as it was', async () => {
    const options = [{ value: 'slate' }, { value: 'tile' }];
    const { id } = await define({ key: 'roof', type: 'select', options });
    await withFields({ roof: 'tile' });
    const path = `${FIELDS}/${id}`;
    const stricter = { options: [{ value: 'slate' }] };
    const tried = await tenant.api.put(path, { ...stricter, dry_run: true });
    expectError(tried, 409, 'definition_conflicts');
    expectError(await tenant.api.put(path, stricter), 409, 'definition_conflicts');
    await withFields({ roof: 'tile' });
    const longer = { options: [...options, { value: 'tin' }] };
    dataOf(await tenant.api.put(path, longer));
    await withFields({ roof: 'tin' });
    const refused = await tenant.api.put(path, { type: 'text' });
    expectInvalid(refused, 'options');
    expect(refused.body.error).toMatchObject({
      details: [{ message: 'must be empty for the type text' }],
    });
    dataOf(await tenant.api.put(path, { type: 'text', options: [] }));
  });
});

describe('a required field', () => {
  it('is needed by creates, and by updates that replace the custom fields', async () => {
    const old = await createLead(tenant.api);
    await define({ key: 'age', type: 'number', required: true });
    for (const custom_fields of [{}, { age: null }]) {
      expectInvalid(await post(custom_fields), 'custom_fields.age');
    }
    expectInvalid(await tenant.api.post(LEADS, { first_name: 'Ada' }), 'custom_fields.age');
    const path = `${LEADS}/${old.id}`;
    dataOf(await tenant.api.put(path, { status: 'new' }));
    expectInvalid(await tenant.api.put(path, { custom_fields: { other: 1 } }), 'custom_fields.age');
    dataOf(await tenant.api.put(path, { custom_fields: { age: 1 } }));
    const upsert = { match_on: ['email'], data: { first_name: 'A', email: 'a@example.com' } };
    expectInvalid(await tenant.api.post(`${LEADS}/upsert`, upsert), 'data.custom_fields.age');
    const items = [{ action: 'create', data: { first_name: 'A' } }];
    const batch = await tenant.api.post(`${LEADS}/batch`, { items });
    const { details } = (batch.body as { data: { error: ErrorBody }[] }).data[0]!.error;
    expect(details).toMatchObject([{ field: 'data.custom_fields.age' }]);
    const atomic = await tenant.api.post(`${LEADS}/batch`, { atomic: true, items });
    expectInvalid(atomic, 'items.0.data.custom_fields.age');
  });
});

describe('a unique field', () => {
  const unique = { key: 'serial', unique: true };

  it('is refused while leads share a value', async () => {
    const [one, other] = [await withFields({ serial: 'a' }), await withFields({ serial: 'a' })];
    await withFields({ serial: 'b' });
    const answer = await tenant.api.post(FIELDS, { type: 'text', ...unique });
    expectError(answer, 409, 'definition_conflicts');
    const { details } = errorOf(answer);
    expect(details?.[0]).toMatchObject({ count: 2 });
    expect([...(details?.[0]?.lead_ids ?? [])].sort()).toEqual([one.id, other.id].sort());
    dataOf(await tenant.api.delete(`${LEADS}/${one.id}`));
    await define(unique);
  });

  it('is kept by creates, updates, batches and merges, and released by a deletion', async () => {
    const held = await withFields({ serial: 'a' });
    await define(unique);
    const expectDuplicate = (answer: Parameters<typeof expectError>[0], field: string) => {
      expectError(answer, 409, 'duplicate');
      expect(errorOf(answer).details).toMatchObject([{ field, existing_id: held.id }]);
    };
    expectDuplicate(await post({ serial: 'a' }), 'custom_fields.serial');
    const headers = { 'Idempotency-Key': 'once' };
    const lead = { first_name: 'Ada', custom_fields: { serial: 'a' } };
    expectDuplicate(await tenant.api.post(LEADS, lead, { headers }), 'custom_fields.serial');
    const other = await withFields({ serial: 'b' });
    const update = { custom_fields: { serial: 'a' } };
    expectDuplicate(await tenant.api.put(`${LEADS}/${other.id}`, update), 'custom_fields.serial');
    const items = [
      { action: 'create', data: lead },
      { action: 'create', data: { first_name: 'B' } },
    ];
    const batch = await tenant.api.post(`${LEADS}/batch`, { atomic: false, items });
    expect(batch.body).toMatchObject({ meta: { succeeded: 1, failed: 1 } });
    dataOf(
      await tenant.api.put(`${LEADS}/${held.id}`, { custom_fields: { serial: 'a', more: 1 } }),
    );
    const merge = { lead_id: held.id, prefer: { custom_fields: 'source' } };
    const merged = dataOf(await tenant.api.post(`${LEADS}/${other.id}/merge`, merge));
    expect(merged).toMatchObject({ custom_fields: { serial: 'a' } });
    dataOf(await tenant.api.delete(`${LEADS}/${other.id}`));
    await withFields({ serial: 'a' });
  });
});

describe('keys that no definition has', () => {
  it('are refused where the organization says so, unless the lead has them', async () => {
    const lead = await withFields({ old: 1 });
    await define({ key: 'age', type: 'number' });
    dataOf(await tenant.api.put('/api/v1/organization', { unknown_fields: 'refuse' }));
    const { api } = await app.key(tenant.id, SCOPES);
    const refused = await api.post(LEADS, { first_name: 'A', custom_fields: { age: 1, b: 2 } });
    expectInvalid(refused, 'custom_fields.b');
    const path = `${LEADS}/${lead.id}`;
    dataOf(await api.put(path, { custom_fields: { old: 2, age: 1 } }));
    expectInvalid(await api.put(path, { custom_fields: { old: 2, b: 1 } }), 'custom_fields.b');
    dataOf(await api.post(LEADS, { first_name: 'A', custom_fields: { age: 1 } }), 201);
  });
});

/** docs/contract/custom-fields.md#while-leads-are-written */
describe('a definition that is made while leads are written', () => {
  const findLeads = () =>
    app.sql<{ id: string; age: unknown; is_before: boolean }>(
      `select lead.id, custom_fields -> 'age' as age, lead.created_at < field.created_at as is_before
        from leads lead join custom_fields field using (organization_id)
        where organization_id = '${tenant.id}' and lead.deleted_at is null`,
    );

  it.each([{ filterable: true }, { unique: true }, { required: true }])(
    'is broken by no lead: %j',
    async (rules) => {
      const lead = await withFields({ age: 0 });
      let isDefined = false;
      let number = 0;
      const statuses = new Set<number>();
      const write = async () => {
        const value = number++ % 16 === 0 ? 'old' : number;
        const custom_fields = 'required' in rules && number % 2 ? {} : { age: value };
        // Leads with the wrong type exist only for moments, so that the definition succeeds at some time.
        const created = await tenant.api.post(LEADS, { first_name: 'Ada', custom_fields });
        const updated = await tenant.api.put(`${LEADS}/${lead.id}`, {
          custom_fields: { age: typeof value === 'number' ? -value : value },
        });
        statuses.add(created.status).add(updated.status);
        if (created.status !== 201 || value !== 'old') return;
        await tenant.api.delete(`${LEADS}/${dataOf(created, 201).id}`);
      };
      const writers = Array.from({ length: 16 }, async () => {
        while (!isDefined) await write();
        await write();
      });
      const body = { key: 'age', type: 'number', ...rules };
      for (;;) {
        const { status } = await tenant.api.post(FIELDS, body);
        if (status === 201) break;
        expect([409, 503]).toContain(status);
      }
      isDefined = true;
      await Promise.all(writers);
      const rows = await findLeads();
      for (const { age, is_before: isBefore } of rows) {
        if (age !== null || ('required' in rules && !isBefore)) expect(typeof age).toBe('number');
      }
      const ages = rows.map(({ age }) => age).filter((age) => age !== null);
      if ('unique' in rules) expect(new Set(ages).size).toBe(ages.length);
      const stored = await app.sql<{ age: number }>(
        `select number_value as age from custom_field_values stored
          join custom_field_rules rule using (organization_id) where rule.id = rule_id and ${isOwn()}`,
      );
      if (!('required' in rules))
        expect(stored.map(({ age }) => age).sort()).toEqual([...ages].sort());
      expect([...statuses].filter((status) => ![200, 201, 400, 409].includes(status))).toEqual([]);
    },
  );
});

describe('a rule of PostgreSQL that an instance does not know yet', () => {
  it('is the same error', async () => {
    await app.sql(`insert into custom_field_rules
      (organization_id, id, field_id, key, type, options, required, is_unique, is_filterable, status)
      values ('${tenant.id}', gen_random_uuid(), gen_random_uuid(), 'age', 'number', '{}', true, true, false, 'active')`);
    const refused = await post({ age: 'old' });
    expectInvalid(refused, 'custom_fields.age');
    expect(errorOf(refused).message).toBe('custom_fields.age must be a number.');
    expectInvalid(await post({}), 'custom_fields.age');
    await withFields({ age: 1 });
    const duplicate = await post({ age: 1 });
    expectError(duplicate, 409, 'duplicate');
    expect(errorOf(duplicate).details).toMatchObject([{ field: 'custom_fields.age' }]);
  });
});

describe('a file', () => {
  const importFile = async (text: string) => {
    const headers = { 'Content-Type': 'text/csv' };
    const answer = await tenant.api.post(`${LEADS}/imports`, text, { headers });
    const { id } = dataOf<{ id: string }>(answer, 202);
    let ended: { status: string; created: number; rejected: number };
    do {
      ended = dataOf(await tenant.api.get(`${LEADS}/imports/${id}`));
    } while (!['completed', 'failed'].includes(ended.status));
    const rejected = await tenant.api.get(`${LEADS}/imports/${id}/rejected`);
    return { ...ended, rejected: String(rejected.body) };
  };

  it('has columns by key or label, whose cells are values of the types', async () => {
    const options = [{ value: 'solar' }, { value: 'gutter' }];
    await define({ key: 'roof_age', label: 'Age of the roof', type: 'number', filterable: true });
    await define({ key: 'owner', type: 'boolean', required: true });
    await define({ key: 'wants', type: 'multi_select', options });
    const file = [
      'first_name,email,age of the roof,Owner,custom_fields.wants',
      'Ada,a@example.com,20.5,yes,solar;gutter',
      'Bob,b@example.com,old,no,',
      'Cid,c@example.com,1,,',
      'Dan,d@example.com,1,no,roof',
    ];
    const { created, rejected } = (await importFile(file.join('\n'))) as never as Record<
      string,
      string
    >;
    expect(created).toBe(1);
    expect(rejected).toContain('custom_fields.roof_age must be a number');
    expect(rejected).toContain('custom_fields.owner is required');
    expect(rejected).toContain('custom_fields.wants must be an array of solar, gutter');
    const custom_fields = { roof_age: 20.5, owner: true, wants: ['solar', 'gutter'] };
    const [lead] = dataOf<{ id: string }[]>(await tenant.api.get(LEADS));
    expect(dataOf(await tenant.api.get(`${LEADS}/${lead!.id}`))).toMatchObject({ custom_fields });
    const exported = String((await tenant.api.get(`${LEADS}/export?format=csv`)).body);
    const [header, line] = exported.split('\r\n');
    expect(header).toMatch(/,custom_fields.owner,custom_fields.roof_age,custom_fields.wants$/);
    expect(line).toMatch(
      /,true,20.5,"\["solar","gutter"\]"$|,true,20.5,"\[""solar"",""gutter""\]"$/,
    );
    dataOf(await tenant.api.delete(`${LEADS}/${lead!.id}`));
    expect((await importFile(exported)).created).toBe(1);
  });

  it('does not guess which of several fields with the same label a column is', async () => {
    await define({ key: 'age', type: 'number' });
    await define({ key: 'years', label: 'Age', type: 'number' });
    const headers = { 'Content-Type': 'text/csv' };
    const path = `${LEADS}/imports?mode=create_only`;
    const start = (header: string) =>
      tenant.api.post(path, `first_name,${header}\nAda,20`, { headers });
    expectInvalid(await start('Age'), 'columns.Age');
    dataOf(await start('age'), 202);
  });
});

describe('programs and agents', () => {
  const fieldsIn = (schemas: unknown) => {
    const [, found] = /"custom_fields":(\{.*?"roof":\{.*?\})/.exec(JSON.stringify(schemas)) ?? [];
    return found;
  };

  it('find the definitions in the OpenAPI document of their key, if it reads leads', async () => {
    await define({ key: 'roof', type: 'select', label: 'Roof', options: [{ value: 'slate' }] });
    const { body, headers } = await tenant.api.get('/openapi.json');
    expect(headers.get('vary')).toBe('Authorization');
    expect(headers.get('cache-control')).toBe('private, no-cache');
    const { components } = body as { components: { schemas: Record<string, unknown> } };
    const roof = { type: ['string', 'null'], enum: ['slate', null], title: 'Roof' };
    for (const name of ['CreateLead', 'UpdateLead', 'Lead']) {
      expect(components.schemas[name]).toMatchObject({
        properties: { custom_fields: { properties: { roof } } },
      });
    }
    const writer = await app.key(tenant.id, ['leads:write']);
    const stranger = await app.organization();
    for (const key of [undefined, 'lat_invalid', stranger.key.key, writer.key.key]) {
      const { body: general } = await app.client(key).get('/openapi.json');
      expect(JSON.stringify(general).includes('["slate",null]')).toBe(false);
    }
  });

  it('find them in the tools within the budget, and by describe_fields', async () => {
    const options = [{ value: 'slate' }];
    await define({ key: 'roof', type: 'select', options });
    const { key } = await app.key(tenant.id, ['leads:read', 'leads:write']);
    const api = app.client(key.key);
    const request = async (method: string, params: object = {}) => {
      const headers = mirrorHeaders(method, params);
      return (await api.post('/mcp', statelessRequest(method, params), { headers })).body as {
        result: { tools: { name: string; inputSchema: object }[]; structuredContent: object };
      };
    };
    const listed = async () => (await request('tools/list')).result.tools;
    const schemasOf = (tools: { name: string; inputSchema: object }[], ...names: string[]) =>
      names.map((name) => fieldsIn(tools.find((tool) => tool.name === name)?.inputSchema));
    const names = ['create_lead', 'update_lead', 'upsert_lead'];
    for (const schema of schemasOf(await listed(), ...names)) expect(schema).toContain('slate');
    for (let number = 0; number < 12; number++) {
      await define({ key: `${number}`, description: 'Long. '.repeat(150) });
    }
    expect(schemasOf(await listed(), ...names)).toEqual([undefined, undefined, undefined]);
    const { result } = await request('tools/call', { name: 'describe_fields', arguments: {} });
    const { fields } = result.structuredContent as { fields: object[] };
    expect(fields).toHaveLength(13);
    expect(fields).toContainEqual({
      ...{ key: 'roof', label: null, description: null, type: 'select', options: ['slate'] },
      ...{ required: false, unique: false, filterable: false },
    });
  });
});

describe('a filter', () => {
  const find = async (filter: object, path = LEADS) => {
    const { body, status } = await tenant.api.get(
      `${path}?filter=${encodeURIComponent(JSON.stringify(filter))}`,
    );
    expect(status).toBe(200);
    return (body as { data: { id: string }[] }).data.map(({ id }) => id).sort();
  };

  it.each([true, false])('compares values by their types, filterable: %s', async (filterable) => {
    const options = [{ value: 'solar' }, { value: 'gutter' }];
    await define({ key: 'age', type: 'number', filterable });
    await define({ key: 'seen', type: 'datetime', filterable });
    await define({ key: 'built', type: 'date', filterable });
    await define({ key: 'owner', type: 'boolean', filterable });
    await define({ key: 'wants', type: 'multi_select', filterable, options });
    const seen = '2026-01-31T09:30:00+05:30';
    const old = await withFields({ age: 20.5, seen, built: '1990-05-01', wants: ['solar'] });
    const young = await withFields({ age: 3, owner: true, wants: [] });
    const none = await withFields({ age: null });
    const expected: [object, { id: string }[]][] = [
      [{ 'custom_fields.age': { gte: 20 } }, [old]],
      [{ 'custom_fields.age': 3 }, [young]],
      [{ 'custom_fields.age': { ne: 3 } }, [old, none]],
      [{ 'custom_fields.age': null }, [none]],
      [{ 'custom_fields.seen': { gte: '2026-01-31T04:00Z', lt: '2026-01-31T04:01Z' } }, [old]],
      [{ 'custom_fields.built': { lt: '2000-01-01' } }, [old]],
      [{ 'custom_fields.owner': true }, [young]],
      [{ 'custom_fields.wants': { has_any: ['solar', 'gutter'] } }, [old]],
      [{ 'custom_fields.wants': { has_none: ['solar'] } }, [young, none]],
    ];
    for (const [filter, leads] of expected) {
      expect([filter, await find(filter)]).toEqual([filter, leads.map(({ id }) => id).sort()]);
    }
    const wrong = { or: [{ 'custom_fields.age': { gte: '20' } }, { 'custom_fields.wants': 'x' }] };
    const query = encodeURIComponent(JSON.stringify(wrong));
    const paths = ['filter.or[0].custom_fields.age.gte', 'filter.or[1].custom_fields.wants'];
    for (const list of [LEADS, `${LEADS}/export`]) {
      expectInvalid(await tenant.api.get(`${list}?filter=${query}`), ...paths);
    }
  });

  it('uses the index of a filterable field', async () => {
    const { id } = await define({ key: 'age', type: 'number', filterable: true });
    await app.sql(
      `insert into leads (organization_id, id, first_name, source, tags, custom_fields, sms_opted_out, on_dnc_list,
        lead_score, search_text) select '${tenant.id}', gen_random_uuid(), 'A', 'api', '{}',
        jsonb_build_object('age', number), false, false, 0, '' from generate_series(1, 5000) number`,
    );
    await app.sql('analyze custom_field_values, leads');
    const [rule] = await app.sql<{ id: string }>(
      `select id from custom_field_rules where field_id = '${id}'`,
    );
    const pool = ownerPool(app.database);
    const results = (await pool.query(
      `begin; set local role latitude_app; set local app.organization_id = '${tenant.id}';
       explain select id from leads where organization_id = '${tenant.id}' and deleted_at is null
         and exists (select from custom_field_values where organization_id = '${tenant.id}'
           and rule_id = '${rule!.id}' and lead_id = leads.id and number_value >= 4990::float8);
       rollback`,
    )) as unknown as { rows: object[] }[];
    await pool.end();
    const explained = results.map(({ rows }) => rows);
    expect(JSON.stringify(explained)).toContain('custom_field_values_by_number');
    expect(await find({ 'custom_fields.age': { gte: 4999 } })).toHaveLength(2);
  });
});
