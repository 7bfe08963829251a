import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  getLead,
  type LeadBody,
  LEADS,
  updateLead,
} from '../../src/testing/factories.js';
import { TestServer } from '../../src/testing/test-server.js';
import type { Tenant } from '../../src/testing/test-server.js';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});

const post = (body: unknown) => tenant.api.post(LEADS, body);
const put = (id: string, body: unknown) => tenant.api.put(`${LEADS}/${id}`, body);
const create = (body?: LeadBody) => createLead(tenant.api, body);
const get = (id: string) => getLead(tenant.api, id);
const update = (id: string, changes: LeadBody) => updateLead(tenant.api, id, changes);
const remove = (id: string) => tenant.api.delete(`${LEADS}/${id}`);

/** One-line text fields and the most characters that they hold. */
const TEXT_FIELDS = [
  ['first_name', 100],
  ['last_name', 100],
  ['company', 200],
  ['address_street', 200],
  ['city', 100],
  ['state', 2],
  ['zip', 10],
  ['status', 50],
  ['notes', 5000],
] as const;

const CLEARABLE_FIELDS = [
  'last_name',
  'phone',
  'email',
  'company',
  'address_street',
  'city',
  'state',
  'zip',
  'status',
  'temperature',
  'notes',
];

const READ_ONLY_FIELDS = ['id', 'lead_score', 'created_at', 'updated_at'];

/** JSON values of every other type, with keys that have tripped others. */
const NOT_STRINGS: readonly unknown[] = [
  5,
  0,
  true,
  false,
  [],
  ['Ada'],
  {},
  { toString: 'x' },
  { constructor: 'x' },
  { $ne: null },
];

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** JSON of `levels` objects or arrays inside each other, the outermost an object. */
function nested(levels: number, inner: 'object' | 'array' = 'object'): string {
  const [open, close] = inner === 'object' ? ['{"a":', '}'] : ['[', ']'];
  return `{"a":${open.repeat(levels - 2)}${inner === 'object' ? '{}' : '[]'}${close.repeat(levels - 2)}}`;
}

describe('one lead', () => {
  it('given only a first name, when it is created, then every field is answered, unset ones empty', async () => {
    const before = Date.now();
    const answer = await post({ first_name: 'Ada' });
    const lead = dataOf(answer, 201);
    expect(Object.keys(answer.body as object)).toEqual(['data']);
    expect(lead).toStrictEqual({
      id: lead.id,
      first_name: 'Ada',
      last_name: null,
      phone: null,
      email: null,
      company: null,
      address_street: null,
      city: null,
      state: null,
      zip: null,
      status: null,
      temperature: null,
      source: 'api',
      notes: null,
      tags: [],
      custom_fields: {},
      sms_opted_out: false,
      on_dnc_list: false,
      lead_score: 0,
      created_at: lead.created_at,
      updated_at: lead.created_at,
    });
    expect(lead.id).toMatch(UUID);
    expect(lead.created_at).toMatch(TIMESTAMP);
    expect(Math.abs(Date.parse(lead.created_at) - before)).toBeLessThan(60_000);
  });

  it('given every field, when it is created, then every field is answered as given', async () => {
    const body = buildLead();
    expect(await create(body)).toMatchObject(body);
  });

  it('names the place of a new lead in Location', async () => {
    const answer = await post({ first_name: 'Ada' });
    const place = `${LEADS}/${dataOf(answer, 201).id}`;
    expect(answer.headers.get('location')).toBe(place);
    expect((await tenant.api.get(place)).status).toBe(200);
  });

  it('answers get and update exactly as it answered create', async () => {
    const created = await create(buildLead());
    expect(await get(created.id)).toStrictEqual(created);
    expect(await update(created.id, {})).toStrictEqual(created);
    const changed = await update(created.id, { city: 'Paris' });
    expect(changed).toStrictEqual({
      ...created,
      city: 'Paris',
      updated_at: changed.updated_at,
    });
    expect(await get(created.id)).toStrictEqual(changed);
  });

  it('is found by its id in upper case', async () => {
    const created = await create();
    expect(await get(created.id.toUpperCase())).toStrictEqual(created);
    await update(created.id.toUpperCase(), { city: 'Paris' });
    expect(dataOf(await remove(created.id.toUpperCase()))).toEqual({
      id: created.id,
      deleted: true,
    });
  });

  it.each(['get', 'delete'] as const)('refuses query parameters on %s', async (method) => {
    const { id } = await create();
    expectInvalid(await tenant.api[method](`${LEADS}/${id}?fields=id`), 'fields');
  });
});

describe('who may do what', () => {
  const requests = [
    ['GET', LEADS, undefined, 'leads:read'],
    ['GET', `${LEADS}/${randomUUID()}`, undefined, 'leads:read'],
    ['POST', LEADS, {}, 'leads:write'],
    ['PUT', `${LEADS}/${randomUUID()}`, { id: 1 }, 'leads:write'],
    ['DELETE', `${LEADS}/${randomUUID()}`, undefined, 'leads:write'],
  ] as const;

  it.each(requests)('%s %s with %j needs %s', async (method, path, body, scope) => {
    const others = (['leads:read', 'leads:write', 'tasks:write'] as const).filter(
      (one) => one !== scope,
    );
    const without = await app.key(tenant.id, others);
    const refused = await without.api.request(method, path, { body });
    expectError(refused, 403, 'insufficient_scope');
    expect(errorOf(refused).retryable).toBe(false);
    const { api } = await app.key(tenant.id, [scope]);
    expect((await api.request(method, path, { body })).status).not.toBe(403);
    expectError(await app.client().request(method, path, { body }), 401, 'unauthorized');
  });

  it.each(['GET', 'PUT', 'DELETE'])(
    "%s of another organization's lead is not_found and leaves it alone",
    async (method) => {
      const lead = await create({ first_name: 'Mine' });
      const stranger = await app.organization();
      const body = method === 'PUT' ? { first_name: 'Theirs' } : undefined;
      const answer = await stranger.api.request(method, `${LEADS}/${lead.id}`, { body });
      expectError(answer, 404, 'not_found');
      expect(await get(lead.id)).toStrictEqual(lead);
    },
  );
});

describe('ids that name no lead', () => {
  const ids = [
    randomUUID(),
    'x',
    '1',
    '00000000-0000-0000-0000-00000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    randomUUID().replaceAll('-', ''),
    `%7B${randomUUID()}%7D`,
    `%20${randomUUID()}`,
    `${randomUUID()}%00`,
    `${randomUUID()}%0A`,
    '%ff',
    "'%20or%201=1--",
  ];

  it.each(ids)('%s is not_found on get, update and delete', async (id) => {
    expectError(await tenant.api.get(`${LEADS}/${id}`), 404, 'not_found');
    expectError(await put(id, { first_name: 'Ada' }), 404, 'not_found');
    expectError(await remove(id), 404, 'not_found');
  });

  it('looks at the body before the id', async () => {
    expectInvalid(await put('x', { zip: 5 }), 'zip');
    expectInvalid(await put(randomUUID(), { zip: 5 }), 'zip');
  });
});

describe('text fields', () => {
  describe.each(TEXT_FIELDS)('%s of at most %d characters', (field, max) => {
    const body = (value: unknown) => ({ first_name: 'Ada', [field]: value });

    it.each([
      ['ASCII', 'x'],
      ['emoji', '😀'],
      ['combining marks', '\u0301'],
    ])(`counts ${max} code points of %s as enough and one more as too many`, async (_, char) => {
      const longest = char.repeat(max);
      const lead = await create(body(longest));
      expect(lead[field]).toBe(longest);
      expectInvalid(await post(body(longest + char)), field);
      expectInvalid(await put(lead.id, { [field]: longest + char }), field);
    });

    it('counts after trimming', async () => {
      const lead = await create(body(` \t\n${'x'.repeat(max)}\r\n\u00a0\u0085\u200b`));
      expect(lead[field]).toBe('x'.repeat(max));
    });

    it('is returned trimmed on update as well', async () => {
      const { id } = await create();
      expect((await update(id, { [field]: '\u2003ß \t' }))[field]).toBe('ß');
      expect((await get(id))[field]).toBe('ß');
    });

    it.each(NOT_STRINGS)('is not %j', async (value) => {
      expectInvalid(await post(body(value)), field);
      const { id } = await create();
      expectInvalid(await put(id, { [field]: value }), field);
    });
  });

  it.each([
    ['NUL', String.raw`a\u0000b`],
    ['a lone high surrogate', String.raw`\ud83d`],
    ['a lone low surrogate', String.raw`a\ude00`],
    ['surrogates in the wrong order', String.raw`\ude00\ud83d`],
  ])('refuses %s in a value', async (_, escaped) => {
    expectInvalid(await post(`{"first_name":"${escaped}"}`), 'first_name');
    expectInvalid(await post(`{"first_name":"a","notes":"${escaped}"}`), 'notes');
    expectInvalid(await post(`{"first_name":"a","tags":["${escaped}"]}`), 'tags');
    expectInvalid(
      await post(`{"first_name":"a","custom_fields":{"a":["${escaped}"]}}`),
      'custom_fields',
    );
    expectInvalid(
      await post(`{"first_name":"a","custom_fields":{"b":{"${escaped}":1}}}`),
      'custom_fields',
    );
  });
});

describe('strings come back code point for code point', () => {
  it.each([
    'مرحبا بالعالم',
    'a\u202eb\u202c',
    'zero\u200bwidth\u200d\ufeffjoin',
    'e\u0301 is not \u00e9',
    'Z̷̢͝ä̴l̶g̸o',
    '👩‍👩‍👧‍👦 🏴‍☠️',
    '\ud83d\ude00 as a pair',
    '<script>alert(1)</script>',
    "Robert'); DROP TABLE leads;--",
    '$1 $$ ${process.env} {{7*7}} #{1}',
    '%s %d %n %00 %F0',
    String.raw`back\slash \u0041 \n`,
    'line\r\nfeed\ttab\u0001\u001f\u0085\u007f',
    '"quoted" \'single\' `tick`',
    '{a,"b",NULL}',
    'NULL',
    'null',
    '\u{10ffff}\ufffe\uffff',
  ])('%j', async (text) => {
    const custom = { [text]: [text, { [text]: text }] };
    const lead = await create({
      first_name: text,
      notes: text,
      status: text,
      tags: [text],
      custom_fields: custom,
    });
    const stored = await get(lead.id);
    expect(stored).toStrictEqual(lead);
    expect(stored).toMatchObject({ first_name: text, notes: text, status: text, tags: [text] });
    expect(stored.custom_fields).toStrictEqual(custom);
  });
});

describe('presence (null, unknown fields, defaults)', () => {
  it.each([undefined, null, '', '   ', '\u00a0\t', '\u0085', '\u200b', '\u200d\u2060'])(
    'refuses a create whose first_name is %j',
    async (value) => {
      expectInvalid(await post({ first_name: value, last_name: 'Lovelace' }), 'first_name');
    },
  );

  it.each([null, '', ' \n', '\u200b'])(
    'refuses an update that empties first_name by %j',
    async (value) => {
      const lead = await create();
      expectInvalid(await put(lead.id, { first_name: value }), 'first_name');
      expect(await get(lead.id)).toStrictEqual(lead);
    },
  );

  it.each([null, '', ' \t ', '\u0085\u200b'])('takes %j on a create as left out', async (value) => {
    const nothing = Object.fromEntries(CLEARABLE_FIELDS.map((field) => [field, value]));
    const lead = await create({ ...nothing, source: value });
    for (const field of CLEARABLE_FIELDS) expect(lead).toHaveProperty(field, null);
    expect(lead.source).toBe('api');
  });

  it('takes null on a create as left out where the field is a list, an object or a flag', async () => {
    const nothing = { tags: null, custom_fields: null, sms_opted_out: null, on_dnc_list: null };
    expect(await create(nothing)).toMatchObject({
      tags: [],
      custom_fields: {},
      sms_opted_out: false,
      on_dnc_list: false,
    });
  });

  it.each([null, '', '  '])('empties every optional field by %j on an update', async (value) => {
    const lead = await create(buildLead());
    const cleared = await update(
      lead.id,
      Object.fromEntries(CLEARABLE_FIELDS.map((field) => [field, value])),
    );
    for (const field of CLEARABLE_FIELDS) expect(cleared).toHaveProperty(field, null);
    expect(await get(lead.id)).toStrictEqual(cleared);
  });

  it.each(['source', 'tags', 'custom_fields', 'sms_opted_out', 'on_dnc_list'])(
    'refuses null on an update of %s, which has a default',
    async (field) => {
      const lead = await create(buildLead());
      expectInvalid(await put(lead.id, { [field]: null }), field);
      expect(await get(lead.id)).toStrictEqual(lead);
    },
  );

  it('empties tags and custom_fields by [] and {} on an update', async () => {
    const { id } = await create(buildLead());
    const empty = { tags: [], custom_fields: {} };
    expect(await update(id, empty)).toMatchObject(empty);
  });

  it('refuses "" on an update of source, as it means null', async () => {
    const { id } = await create();
    expectInvalid(await put(id, { source: '' }), 'source');
  });

  it.each([
    ...READ_ONLY_FIELDS,
    'organization_id',
    'deleted_at',
    'email_compared',
    'search_text',
    'First_name',
    'first_name ',
    'a.b',
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'toString',
    'data',
  ])('refuses %j, which is unknown or read-only, by name', async (field) => {
    const extra = `${JSON.stringify(field)}:null`;
    expectInvalid(await post(`{"first_name":"Ada",${extra}}`), field);
    const lead = await create();
    expectInvalid(await put(lead.id, `{"city":"Paris",${extra}}`), field);
    expect(await get(lead.id)).toStrictEqual(lead);
  });

  it('refuses read-only fields even with the values that they have', async () => {
    const lead = await create();
    expectInvalid(await put(lead.id, { ...lead }), ...READ_ONLY_FIELDS);
  });

  it('names every failing field in details and in the message', async () => {
    const wrong = {
      last_name: 'x'.repeat(101),
      phone: 'call me',
      email: 'nobody',
      company: 1,
      address_street: {},
      city: [],
      state: 'NYC',
      zip: '12345678901',
      status: false,
      temperature: 'boiling',
      source: 'fax',
      notes: 5,
      tags: 'poet',
      custom_fields: [],
      sms_opted_out: 'yes',
      on_dnc_list: 1,
      id: 'x',
      nickname: 'A',
    };
    const fields = Object.keys(wrong);
    expectInvalid(await post(wrong), 'first_name', ...fields);
    const { id } = await create();
    expectInvalid(await put(id, { ...wrong, first_name: null }), 'first_name', ...fields);
  });

  it('names failing fields of body and query together', async () => {
    const answer = await tenant.api.post(`${LEADS}?dry_run=1`, { zip: 5 });
    expectInvalid(answer, 'dry_run', 'zip', 'first_name');
  });

  it('gives each failing field one message that does not repeat the input', async () => {
    const { details } = errorOf(await post({ first_name: 7, email: 'secret@@example.com' }));
    expect(details).toHaveLength(2);
    for (const detail of details!) {
      expect(Object.keys(detail)).toEqual(['field', 'message']);
      expect(detail.message).not.toContain('secret');
    }
  });
});

describe('phone', () => {
  it.each([
    '123',
    '1 2 3',
    '+1 (415) 555-2671',
    '+49.30/901820',
    '415-555-2672 x12',
    '#123/(45)',
    '()()123',
    '9'.repeat(50),
  ])('%s is accepted and returned as given', async (phone) => {
    const { api } = await app.organization();
    const lead = await createLead(api, { phone });
    expect(lead.phone).toBe(phone);
    expect((await getLead(api, lead.id)).phone).toBe(phone);
  });

  it('is trimmed', async () => {
    expect((await create({ phone: ' 415 555 9999\t' })).phone).toBe('415 555 9999');
  });

  it.each([
    '12',
    '++--()',
    '1-2',
    '9'.repeat(51),
    '415-555-267a',
    '415-555-2671 extension 5',
    '415-555-2671=5',
    'ext. 5',
    '415\t5552671',
    '415\n5552671',
    '415\u00a05552671',
    '415–555–2671',
    '١٢٣٤٥٦',
    '４１５５５５２６７１',
    'tel:+14155552671',
    '*123#',
    "123' or '1'='1",
    4155552671,
    ...NOT_STRINGS,
  ])('%j is refused', async (phone) => {
    expectInvalid(await post({ first_name: 'Ada', phone }), 'phone');
    const { id } = await create();
    expectInvalid(await put(id, { phone }), 'phone');
  });
});

describe('email', () => {
  /** 254 characters: 64 before the sign, 189 after it. */
  const longest = `${'l'.repeat(64)}@${`${'d'.repeat(61)}.`.repeat(3)}com`;

  it.each([
    'a@b.co',
    'Ada.Lovelace+test@Example.COM',
    "o'neil@sub.example.com",
    'under_score-dash@example.museum',
    longest,
  ])('%s is accepted and returned as given', async (email) => {
    const { api } = await app.organization();
    const lead = await createLead(api, { email });
    expect(lead.email).toBe(email);
    expect((await getLead(api, lead.id)).email).toBe(email);
  });

  it('is trimmed', async () => {
    expect((await create({ email: '\t trimmed@example.com ' })).email).toBe('trimmed@example.com');
  });

  it.each([
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'ada@@example.com',
    'ada example@example.com',
    'ada@exam ple.com',
    'ada@example..com',
    '.ada@example.com',
    'ada@-example.com',
    'Ada <ada@example.com>',
    'ada@example.com, bob@example.com',
    'ada@example.com\nbcc:bob@example.com',
    'mailto:ada@example.com',
    'ada@127.0.0.1',
    `${'l'.repeat(65)}@example.com`,
    longest.replace('com', 'info'),
    ['ada@example.com'],
    ...NOT_STRINGS,
  ])('%j is refused', async (email) => {
    expectInvalid(await post({ first_name: 'Ada', email }), 'email');
    const { id } = await create();
    expectInvalid(await put(id, { email }), 'email');
  });
});

describe('temperature, source, flags', () => {
  const WORDS = {
    temperature: ['cold', 'warm', 'hot'],
    source: ['manual', 'api', 'website', 'referral', 'import', 'other'],
    sms_opted_out: [true, false],
    on_dnc_list: [true, false],
  };

  it.each(Object.entries(WORDS))('%s is any of %j on create and update', async (field, words) => {
    for (const value of words) {
      expect(await create({ [field]: value })).toHaveProperty(field, value);
      const { id } = await create();
      await update(id, { [field]: value });
      expect(await get(id)).toHaveProperty(field, value);
    }
  });

  const notWords: unknown[] = ['Hot', 'lukewarm', 'hot,cold', ['hot'], ...NOT_STRINGS];
  const notFlags: unknown[] = ['true', 'false', '', 0, 1, [], [true], {}, { constructor: 1 }];

  it.each<[string, unknown]>([
    ...notWords.map((value): [string, unknown] => ['temperature', value]),
    ...[...notWords, 'hot'].map((value): [string, unknown] => ['source', value]),
    ...notFlags.map((value): [string, unknown] => ['sms_opted_out', value]),
    ...notFlags.map((value): [string, unknown] => ['on_dnc_list', value]),
  ])('%s is never %j', async (field, value) => {
    expectInvalid(await post({ first_name: 'Ada', [field]: value }), field);
    const { id } = await create();
    expectInvalid(await put(id, { [field]: value }), field);
  });

  it('trims words like every string', async () => {
    expect(await create({ temperature: ' hot ', source: '\timport' })).toMatchObject({
      temperature: 'hot',
      source: 'import',
    });
  });
});

describe('tags', () => {
  const fifty = Array.from({ length: 50 }, (_, index) => `tag ${index}`);

  it('keeps up to 50 of up to 50 characters in their order', async () => {
    const tags = ['z', '😀'.repeat(50), 'x'.repeat(50), ...fifty.slice(3), 'a'].slice(0, 50);
    expect((await create({ tags })).tags).toEqual(tags);
  });

  it('refuses 51', async () => {
    expectInvalid(await post({ first_name: 'Ada', tags: [...fifty, 'more'] }), 'tags');
  });

  it('trims each and removes repetitions after that, the first one stays', async () => {
    const { id, tags } = await create({ tags: [' b', 'a ', 'b', 'B', '\ta', 'c', 'b '] });
    expect(tags).toEqual(['b', 'a', 'B', 'c']);
    expect((await update(id, { tags: ['c', 'c '] })).tags).toEqual(['c']);
  });

  it('counts the characters of a tag after trimming', async () => {
    expect((await create({ tags: [` ${'x'.repeat(50)} `] })).tags).toEqual(['x'.repeat(50)]);
  });

  it('are replaced as a whole on update', async () => {
    const { id } = await create({ tags: ['a', 'b'] });
    expect((await update(id, { tags: ['c'] })).tags).toEqual(['c']);
    expect((await update(id, { city: 'Paris' })).tags).toEqual(['c']);
    expect((await update(id, { tags: [] })).tags).toEqual([]);
    expect((await get(id)).tags).toEqual([]);
  });

  it.each([
    [['x'.repeat(51)]],
    [['😀'.repeat(51)]],
    [['']],
    [['ok', '  ']],
    [[1]],
    [[null]],
    [[true]],
    [['ok', ['nested']]],
    [[{}]],
    [[{ constructor: 'x' }]],
    ['poet'],
    [''],
    ['a,b'],
    [{}],
    [{ 0: 'a', length: 1 }],
    [{ length: 1, constructor: 'x' }],
    [1],
    [true],
  ])('%j is refused', async (tags) => {
    expectInvalid(await post({ first_name: 'Ada', tags }), 'tags');
    const { id } = await create({ tags: ['kept'] });
    expectInvalid(await put(id, { tags }), 'tags');
    expect((await get(id)).tags).toEqual(['kept']);
  });
});

describe('custom_fields', () => {
  const raw = (json: string) => post(`{"first_name":"Ada","custom_fields":${json}}`);

  /** What comes back for this JSON, after a look at what is stored. */
  async function stored(json: string): Promise<unknown> {
    const { id } = dataOf(await raw(json), 201);
    return (await get(id)).custom_fields;
  }

  it.each([
    ['every kind of value', '{"s":"x","n":1,"t":true,"f":false,"z":null,"a":[1,[]],"o":{"p":{}}}'],
    ['strings untouched', '{" key ":"  kept  ","empty":""}'],
    ['fractions', '{"a":0.1,"b":-2.5,"c":1e-7,"d":5e-324,"e":3.141592653589793}'],
    ['integers up to 2^53', '{"a":9007199254740991,"b":-9007199254740991,"c":1e3}'],
    ['unicode keys', '{"ключ":1,"鍵":2,"😀":3,"e\u0301":4,"\u00e9":5}'],
    ['100 characters in a key', JSON.stringify({ ['😀'.repeat(100)]: 1 })],
    ['names of Object.prototype', '{"toString":1,"valueOf":2,"hasOwnProperty":null,"then":"x"}'],
    ['toJSON', '{"toJSON":"x","toPostgres":"y","length":3}'],
    ['8 levels of objects', nested(8)],
    ['8 levels of arrays', nested(8, 'array')],
  ])('keeps %s', async (_, json) => {
    expect(await stored(json)).toStrictEqual(JSON.parse(json));
  });

  it('knows no negative zero, as JSON values 0 and -0 are the same number', async () => {
    expect(await stored('{"a":-0}')).toEqual({ a: 0 });
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'holds %s as plain data at every depth and whatever it is',
    async (name) => {
      for (const value of ['"x"', '1', 'null', '[1]', '{}', '{"prototype":{"a":1}}', 'false']) {
        const json = `{"${name}":${value},"a":{"${name}":${value}},"b":[{"${name}":${value}}]}`;
        // Jest itself stumbles over such keys.
        expect(isDeepStrictEqual(await stored(json), JSON.parse(json))).toBe(true);
      }
      expect(({} as Record<string, unknown>).a).toBeUndefined();
    },
  );

  it('holds 100 keys and refuses 101', async () => {
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
    expect(await stored(JSON.stringify(keys(100)))).toEqual(keys(100));
    expectInvalid(await raw(JSON.stringify(keys(101))), 'custom_fields');
  });

  it('holds 32 KiB of JSON in UTF-8 and refuses one byte more', async () => {
    const largest = JSON.stringify({ a: 'é'.repeat(16 * 1024 - 4) });
    expect(Buffer.byteLength(largest)).toBe(32 * 1024);
    expect(await stored(largest)).toEqual(JSON.parse(largest));
    expectInvalid(await raw(largest.replace('é"', 'éx"')), 'custom_fields');
  });

  it.each([
    ['9 levels of objects', nested(9)],
    ['9 levels of arrays', nested(9, 'array')],
    ['31 levels', nested(31)],
    ['32 levels', nested(32)],
    ['5,000 levels', nested(5000)],
    ['an empty key', '{"":1}'],
    ['101 characters in a key', JSON.stringify({ ['x'.repeat(101)]: 1 })],
    ['101 emoji in a key', JSON.stringify({ ['😀'.repeat(101)]: 1 })],
    ['an integer beyond 2^53', '{"a":9007199254740993}'],
    ['an integer beyond -2^53', '{"a":[-9007199254740993]}'],
    ['an integer of 23 digits', '{"a":{"b":12345678901234567890123}}'],
    ['1e400', '{"a":1e400}'],
    ['-1e400', '{"a":-1e400}'],
    ['1e300, an integer beyond 2^53', '{"a":1e300}'],
    ['the same key twice', '{"a":1,"a":2}'],
    ['an array', '[]'],
    ['an array of pairs', '[["a",1]]'],
    ['a string', '"{}"'],
    ['an empty string', '""'],
    ['a number', '7'],
    ['true', 'true'],
    ['false', 'false'],
  ])('refuses %s', async (_, json) => {
    expectInvalid(await raw(json), 'custom_fields');
    const { id } = await create();
    expectInvalid(await put(id, `{"custom_fields":${json}}`), 'custom_fields');
  });

  it('are replaced as a whole on update', async () => {
    const { id } = await create({ custom_fields: { a: 1, b: 2 } });
    expect((await update(id, { custom_fields: { b: 3 } })).custom_fields).toEqual({ b: 3 });
    expect((await update(id, { city: 'Paris' })).custom_fields).toEqual({ b: 3 });
    expect((await update(id, { custom_fields: {} })).custom_fields).toEqual({});
  });
});

describe('update, also by PUT {} or without a real change', () => {
  it('changes only the fields provided', async () => {
    const lead = await create(buildLead());
    for (const [field, value] of Object.entries(buildLead({ first_name: 'Grace', tags: ['x'] }))) {
      const before = await get(lead.id);
      const after = await update(lead.id, { [field]: value });
      expect(after).toStrictEqual({
        ...before,
        [field]: value,
        lead_score: after.lead_score,
        updated_at: after.updated_at,
      });
    }
  });

  it('never changes created_at', async () => {
    const lead = await create();
    expect((await update(lead.id, { city: 'Paris' })).created_at).toBe(lead.created_at);
  });

  const email = 'no-change@example.com';
  it.each<[string, LeadBody]>([
    ['nothing', {}],
    ['its own values', { first_name: 'Ada', email, tags: ['a', 'b'], sms_opted_out: false }],
    ['its own values with space around them', { first_name: ' Ada\t', email: ` ${email} ` }],
    ['tags that are the same once read', { tags: [' a', 'b', 'a'] }],
    [
      'custom_fields with their keys in another order',
      { custom_fields: { b: [1.5], a: { d: 1, c: 2 } } },
    ],
    ['null and "" for what is empty', { last_name: null, city: '', notes: '  ' }],
  ])('given %s, answers 200 with record and updated_at as they were', async (_, changes) => {
    const { api } = await app.organization();
    const custom = { a: { c: 2, d: 1 }, b: [1.5] };
    const lead = await createLead(api, { email, tags: ['a', 'b'], custom_fields: custom });
    expect(await updateLead(api, lead.id, changes)).toStrictEqual(lead);
    expect(await getLead(api, lead.id)).toStrictEqual(lead);
  });

  it.each<[string, LeadBody]>([
    ['another case', { first_name: 'ADA' }],
    ['another form of the same e-mail', { email: 'Real-Change@example.com' }],
    ['another form of the same phone', { phone: '(415) 555-0001' }],
    ['another order of tags', { tags: ['b', 'a'] }],
    ['another order inside an array', { custom_fields: { list: [2, 1] } }],
    ['an empty object for a full one', { custom_fields: {} }],
    ['null inside custom_fields for a missing key', { custom_fields: { list: [1, 2], x: null } }],
    ['composed for decomposed letters', { last_name: 'Andr\u00e9' }],
  ])('given %s, the change is real: stored, and updated_at moves on', async (_, changes) => {
    const { api } = await app.organization();
    const lead = await createLead(api, {
      last_name: 'Andre\u0301',
      email: 'real-change@example.com',
      phone: '+1 415 555 0001',
      tags: ['a', 'b'],
      custom_fields: { list: [1, 2] },
    });
    const changed = await updateLead(api, lead.id, changes);
    expect(changed).toMatchObject(changes);
    expect(changed.updated_at > lead.updated_at).toBe(true);
  });

  it('moves updated_at forward with every change, also within a millisecond of the last', async () => {
    const { id, updated_at } = await create();
    const seen = [updated_at];
    for (let round = 0; round < 40; round++) {
      seen.push((await update(id, { notes: String(round) })).updated_at);
    }
    const crowd = await Promise.all(
      Array.from({ length: 40 }, (_, index) => update(id, { notes: `crowd ${index}` })),
    );
    seen.push(...crowd.map((lead) => lead.updated_at).sort());
    expect(new Set(seen).size).toBe(seen.length);
    expect([...seen].sort()).toEqual(seen);
    expect((await get(id)).updated_at).toBe(seen.at(-1));
  });

  it('moves updated_at forward even where it is ahead of the clock', async () => {
    const { id } = await create();
    await app.sql(`update leads set updated_at = '2999-01-01T00:00:00.999Z' where id = $1`, [id]);
    const changed = await update(id, { city: 'Paris' });
    expect(changed.updated_at).toBe('2999-01-01T00:00:01.000Z');
  });

  it.each(['[]', 'null', '"x"', '1', '{', '', '{"first_name":"Ada"}{}'])(
    'refuses the body %j',
    async (body) => {
      const { id } = await create();
      expectInvalid(await put(id, body), 'body');
      expectInvalid(await post(body), 'body');
    },
  );
});

describe('lead_score', () => {
  const best = { ...buildLead(), temperature: 'hot', source: 'referral' };

  it('is an integer from 0 to 100', async () => {
    expect((await create()).lead_score).toBe(0);
    expect((await create(best)).lead_score).toBe(100);
  });

  it('is computed on every write from what the lead then is', async () => {
    const { id } = await create();
    const scores: number[] = [];
    for (const changes of [
      { email: 'score@example.com' },
      { temperature: 'hot' },
      { email: null },
    ]) {
      const { lead_score } = await update(id, changes);
      scores.push(lead_score);
      expect((await get(id)).lead_score).toBe(lead_score);
    }
    expect(scores).toEqual([20, 50, 30]);
  });

  it('is the same for the same fields, on create and on update', async () => {
    const { api } = await app.organization();
    const created = await createLead(api, buildLead());
    const { id } = await createLead(api);
    expect((await updateLead(api, id, buildLead())).lead_score).toBe(created.lead_score);
  });
});

describe('uniqueness of e-mail and phone', () => {
  let api: Tenant['api'];
  let organizationId: string;

  beforeEach(async () => {
    ({ api, id: organizationId } = await app.organization());
  });

  function expectDuplicate(answer: Answer, details: Record<string, string | undefined>): void {
    expectError(answer, 409, 'duplicate');
    const error = errorOf(answer);
    expect(error.retryable).toBe(false);
    const found = (error.details ?? []).map(({ field, existing_id }) => [field, existing_id]);
    expect(Object.fromEntries(found)).toEqual(details);
    expect(found).toHaveLength(Object.keys(details).length);
    for (const field of Object.keys(details)) expect(error.message).toContain(field);
  }

  const same: [string, string, string][] = [
    ['email', 'ada@example.com', 'ada@example.com'],
    ['email', 'Ada@Example.com', 'aDA@eXAMPLE.COM'],
    ['email', 'ada@example.com', '  ada@example.com\t'],
    ['email', 'élan@example.com', 'ÉLAN@example.com'],
    ['phone', '+14155552671', '+14155552671'],
    ['phone', '+1 (415) 555-2671', '+1.415.555.2671'],
    ['phone', '+14155552671', '(415) 555-2671'],
    ['phone', '415-555-2671', '1 415 555 2671'],
    ['phone', '+49 30 901820', '+49 (30) 90-18-20'],
    ['phone', '+49 30 901820', '011 49 30 901820'],
    ['phone', '123', '1-2-3'],
    ['phone', '0'.repeat(40), `${'0'.repeat(20)} ${'0'.repeat(20)}`],
  ];

  it.each(same)('%s %s and %s are the same', async (field, first, second) => {
    const { id } = await createLead(api, { [field]: first });
    expectDuplicate(await api.post(LEADS, { first_name: 'Bob', [field]: second }), { [field]: id });
    const other = await createLead(api);
    expectDuplicate(await api.put(`${LEADS}/${other.id}`, { [field]: second }), { [field]: id });
    expect(await getLead(api, other.id)).toStrictEqual(other);
  });

  it.each([
    ['email', 'ada@example.com', 'ada+1@example.com'],
    ['email', 'ada@example.com', 'a.da@example.com'],
    ['email', 'ada@gmail.com', 'ada@googlemail.com'],
    ['phone', '+14155552671', '+14155552672'],
    ['phone', '+14155552671', '+44 4155552671'],
    ['phone', '123', '1234'],
  ])('%s %s and %s are not the same', async (field, first, second) => {
    await createLead(api, { [field]: first });
    await createLead(api, { [field]: second });
  });

  it("reads national numbers in the organization's region", async () => {
    await app.sql(`update organizations set phone_region = 'DE' where id = $1`, [organizationId]);
    const { id } = await createLead(api, { phone: '030 901820' });
    const answer = await api.post(LEADS, { first_name: 'Bob', phone: '+49 30 901820' });
    expectDuplicate(answer, { phone: id });
    await createLead(api, { phone: '+1 309 018 2000' });
  });

  it('lets many leads have neither e-mail nor phone', async () => {
    for (const nothing of [{}, { email: null, phone: '' }, { email: ' ' }]) {
      await createLead(api, nothing);
    }
  });

  it('holds in each organization on its own', async () => {
    const contact = { email: 'shared@example.com', phone: '+14155552671' };
    await createLead(api, contact);
    const stranger = await app.organization();
    await createLead(stranger.api, contact);
  });

  it('lets a lead be given its own e-mail and phone again, in any form', async () => {
    const { id } = await createLead(api, { email: 'own@example.com', phone: '+14155552671' });
    const changes = { email: 'OWN@example.com', phone: '415 555 2671' };
    expect(await updateLead(api, id, changes)).toMatchObject(changes);
  });

  it('names both fields when one lead has both', async () => {
    const contact = { email: 'both@example.com', phone: '+14155552671' };
    const { id } = await createLead(api, contact);
    const answer = await api.post(LEADS, { first_name: 'Bob', ...contact });
    expectDuplicate(answer, { email: id, phone: id });
  });

  it('names both fields when two leads have one each', async () => {
    const first = await createLead(api, { email: 'first@example.com' });
    const second = await createLead(api, { phone: '+14155552671' });
    const body = { first_name: 'Bob', email: 'FIRST@example.com', phone: '4155552671' };
    expectDuplicate(await api.post(LEADS, body), { email: first.id, phone: second.id });
    const { id } = await createLead(api);
    const answer = await api.put(`${LEADS}/${id}`, body);
    expectDuplicate(answer, { email: first.id, phone: second.id });
  });

  it('names only the field that another lead has when an update repeats its own other one', async () => {
    const other = await createLead(api, { phone: '+14155552671' });
    const { id } = await createLead(api, { email: 'own@example.com' });
    const answer = await api.put(`${LEADS}/${id}`, {
      email: 'own@example.com',
      phone: '+14155552671',
    });
    expectDuplicate(answer, { phone: other.id });
  });

  it('changes nothing by an update that is a duplicate', async () => {
    await createLead(api, { email: 'taken@example.com' });
    const lead = await createLead(api, { city: 'London' });
    const answer = await api.put(`${LEADS}/${lead.id}`, {
      city: 'Paris',
      email: 'taken@example.com',
    });
    expectError(answer, 409, 'duplicate');
    expect(await getLead(api, lead.id)).toStrictEqual(lead);
  });

  it('tells existing_id only to keys that also have leads:read', async () => {
    const contact = { email: 'both@example.com', phone: '+14155552671' };
    const { id } = await createLead(api, contact);
    const writer = await app.key(organizationId, ['leads:write', 'tasks:read']);
    const answer = await writer.api.post(LEADS, { first_name: 'Bob', ...contact });
    expectDuplicate(answer, { email: undefined, phone: undefined });
    expect(JSON.stringify(answer.body)).not.toContain(id);
    for (const detail of errorOf(answer).details!) {
      expect(Object.keys(detail)).toEqual(['field', 'message']);
    }
  });

  it('gives up a value that the lead no longer has', async () => {
    const { id } = await createLead(api, { email: 'old@example.com', phone: '+14155552671' });
    await updateLead(api, id, { email: 'new@example.com', phone: null });
    await createLead(api, { email: 'old@example.com', phone: '+14155552671' });
    const answer = await api.post(LEADS, { first_name: 'Bob', email: 'new@example.com' });
    expectDuplicate(answer, { email: id });
  });

  it('is not_found, not duplicate, when the lead to update does not exist', async () => {
    await createLead(api, { email: 'taken@example.com' });
    const answer = await api.put(`${LEADS}/${randomUUID()}`, { email: 'taken@example.com' });
    expectError(answer, 404, 'not_found');
  });
});

describe('delete', () => {
  it('answers the id and deleted true', async () => {
    const { id } = await create();
    const answer = await remove(id);
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({ data: { id, deleted: true } });
  });

  it('makes the lead not_found everywhere from then on', async () => {
    const { api } = await app.organization();
    const kept = await createLead(api);
    const gone = await createLead(api, { notes: 'gone' });
    await api.delete(`${LEADS}/${gone.id}`);
    expectError(await api.get(`${LEADS}/${gone.id}`), 404, 'not_found');
    expectError(await api.put(`${LEADS}/${gone.id}`, { notes: 'back' }), 404, 'not_found');
    expectError(await api.put(`${LEADS}/${gone.id}`, {}), 404, 'not_found');
    expectError(await api.delete(`${LEADS}/${gone.id}`), 404, 'not_found');
    for (const query of ['', '?search=ada', '?sort_by=last_name']) {
      expect((await api.get(LEADS + query)).body).toMatchObject({
        data: [{ id: kept.id }],
        meta: { total: 1 },
      });
    }
  });

  it('keeps the record in the database, as it was', async () => {
    const { id, updated_at } = await create({ notes: 'kept' });
    await remove(id);
    const rows = await app.sql<{ deleted_at: Date; notes: string; updated_at: Date }>(
      'select deleted_at, notes, updated_at from leads where id = $1',
      [id],
    );
    expect(rows).toMatchObject([{ notes: 'kept', updated_at: new Date(updated_at) }]);
    expect(rows[0]!.deleted_at).toBeInstanceOf(Date);
  });

  it('releases e-mail and phone for create and update', async () => {
    const { api } = await app.organization();
    const contact = { email: 'released@example.com', phone: '+14155552671' };
    const first = await createLead(api, contact);
    await api.delete(`${LEADS}/${first.id}`);
    const second = await createLead(api, contact);
    await api.delete(`${LEADS}/${second.id}`);
    const third = await createLead(api);
    await updateLead(api, third.id, contact);
  });
});
