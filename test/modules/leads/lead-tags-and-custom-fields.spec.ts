import { isDeepStrictEqual } from 'node:util';
import { dataOf, expectInvalid, LEADS } from '../../../src/testing/factories.js';
import { leadSuite } from '../../support/lead-suite.js';

const suite = leadSuite();
const { post, put, create, get, update } = suite;

/** Returns JSON with objects or arrays nested to `levels`, of which the outermost is an object. */
function nested(levels: number, inner: 'object' | 'array' = 'object'): string {
  const [open, close] = inner === 'object' ? ['{"a":', '}'] : ['[', ']'];
  return `{"a":${open.repeat(levels - 2)}${inner === 'object' ? '{}' : '[]'}${close.repeat(levels - 2)}}`;
}

describe('tags', () => {
  const fifty = Array.from({ length: 50 }, (_, index) => `tag ${index}`);

  it('keeps up to 50 tags of up to 50 characters in order', async () => {
    const tags = ['z', '😀'.repeat(50), 'x'.repeat(50), ...fifty.slice(3), 'a'].slice(0, 50);
    expect((await create({ tags })).tags).toEqual(tags);
  });

  it('rejects 51 tags', async () => {
    expectInvalid(await post({ first_name: 'Ada', tags: [...fifty, 'more'] }), 'tags');
  });

  it('trims tags and removes later duplicates', async () => {
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
  ])('rejects %j', async (tags) => {
    expectInvalid(await post({ first_name: 'Ada', tags }), 'tags');
    const { id } = await create({ tags: ['kept'] });
    expectInvalid(await put(id, { tags }), 'tags');
    expect((await get(id)).tags).toEqual(['kept']);
  });
});

describe('add_tags and remove_tags', () => {
  const fifty = Array.from({ length: 50 }, (_, index) => `tag ${index}`);

  it('add tags behind those of the lead, and remove some', async () => {
    const { id } = await create({ tags: ['a', 'b', 'c'] });
    expect((await update(id, { add_tags: [' d', 'b', 'e', 'd '] })).tags).toEqual([
      ...['a', 'b', 'c', 'd', 'e'],
    ]);
    expect((await update(id, { remove_tags: ['b', 'unknown'] })).tags).toEqual([
      ...['a', 'c', 'd', 'e'],
    ]);
    const both = { add_tags: ['f'], remove_tags: ['a ', 'e'], city: 'Paris' };
    const changed = await update(id, both);
    expect(changed).toMatchObject({ tags: ['c', 'd', 'f'], city: 'Paris' });
    expect(changed).not.toHaveProperty('add_tags');
    expect(await get(id)).toEqual(changed);
  });

  it.each([
    [{ add_tags: ['b', 'a'] }],
    [{ remove_tags: ['c'] }],
    [{ add_tags: [] }],
    [{ add_tags: [], remove_tags: [] }],
  ])('change nothing with %j', async (changes) => {
    const lead = await create({ tags: ['a', 'b'] });
    expect(await update(lead.id, changes)).toEqual(lead);
  });

  it('keep to the bounds of tags', async () => {
    const { id } = await create({ tags: fifty });
    const tooMany = await put(id, { add_tags: ['one more'] });
    expectInvalid(tooMany, 'add_tags');
    expect(tooMany.body.error.message).toContain('at most 50 tags');
    const moved = await update(id, { add_tags: ['one more'], remove_tags: ['tag 0'] });
    expect(moved.tags).toEqual([...fifty.slice(1), 'one more']);
    for (const field of ['add_tags', 'remove_tags']) {
      for (const tags of [['x'.repeat(51)], [''], [1], 'a', {}, null, [...fifty, 'more']]) {
        expectInvalid(await put(id, { [field]: tags }), field);
      }
    }
    expect((await get(id)).tags).toEqual(moved.tags);
  });

  it('are refused together with tags, with the names of the fields', async () => {
    const { id } = await create({ tags: ['kept'] });
    for (const changes of [{ add_tags: ['a'] }, { remove_tags: ['kept'] }, { add_tags: [] }]) {
      const answer = await put(id, { tags: ['b'], ...changes });
      expectInvalid(answer, Object.keys(changes)[0]!);
      expect(answer.body.error.message).toMatch(/_tags cannot be given together with tags/);
    }
    expectInvalid(await put(id, { add_tags: ['a', 'b'], remove_tags: [' b'] }), 'remove_tags');
    expect((await get(id)).tags).toEqual(['kept']);
  });

  it('are refused with the version before another change', async () => {
    const { id } = await create({ tags: ['a'] });
    const { headers } = await put(id, { add_tags: ['b'] });
    const given = { headers: { 'If-Match': headers.get('etag')! } };
    const { api } = suite.tenant;
    expect((await api.put(`${LEADS}/${id}`, { add_tags: ['c'] }, given)).status).toBe(200);
    expect((await api.put(`${LEADS}/${id}`, { add_tags: ['d'] }, given)).status).toBe(412);
    expect((await get(id)).tags).toEqual(['a', 'b', 'c']);
  });

  it.each(['add_tags', 'remove_tags'])('are unknown on create: %s', async (field) => {
    expectInvalid(await post({ first_name: 'Ada', [field]: ['a'] }), field);
  });
});

describe('custom_fields', () => {
  const raw = (json: string) => post(`{"first_name":"Ada","custom_fields":${json}}`);

  /** Creates a lead with this JSON and returns its stored `custom_fields`. */
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

  it.each([
    ['a fraction', '{"a":1.00000000000000001,"b":[0.30000000000000004]}'],
    [
      'a number that is rounded to 2^53',
      '{"a":9007199254740991.9,"b":{"c":[-9007199254740991.9]}}',
    ],
    ['a number that is rounded to zero', '{"a":1e-400,"b":-5e-324}'],
  ])('accepts %s again as it was returned', async (_, json) => {
    const { id } = dataOf(await raw(json), 201);
    const { custom_fields } = await get(id);
    expect(custom_fields).toEqual(JSON.parse(json));
    expect((await update(id, { custom_fields, city: 'Paris' })).custom_fields).toEqual(
      custom_fields,
    );
  });

  it('returns -0 as 0', async () => {
    expect(await stored('{"a":-0}')).toEqual({ a: 0 });
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'stores the key %s as plain data at every depth',
    async (name) => {
      for (const value of ['"x"', '1', 'null', '[1]', '{}', '{"prototype":{"a":1}}', 'false']) {
        const json = `{"${name}":${value},"a":{"${name}":${value}},"b":[{"${name}":${value}}]}`;
        // Matchers of Jest do not compare such keys correctly.
        expect(isDeepStrictEqual(await stored(json), JSON.parse(json))).toBe(true);
      }
      expect(({} as Record<string, unknown>).a).toBeUndefined();
    },
  );

  it('accepts 100 keys and rejects 101', async () => {
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
    expect(await stored(JSON.stringify(keys(100)))).toEqual(keys(100));
    expectInvalid(await raw(JSON.stringify(keys(101))), 'custom_fields');
  });

  it('accepts 32 KiB of JSON in UTF-8 and rejects one byte more', async () => {
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
    ['a fraction beyond 2^53', '{"a":100000000000000000000.5}'],
    ['a fraction just beyond 2^53', '{"a":{"b":[9007199254740992.5]}}'],
    ['a fraction just beyond -2^53', '{"a":[[-9007199254740992.000001]]}'],
    ['2^53 + 1 with zeros', '{"a":9007199254740993.0}'],
    ['1E+20', '{"a":1E+20}'],
    ['-1e300', '{"a":{"b":{"c":-1e300}}}'],
    ['1e300, an integer beyond 2^53', '{"a":1e300}'],
    ['the same key twice', '{"a":1,"a":2}'],
    ['an array', '[]'],
    ['an array of pairs', '[["a",1]]'],
    ['a string', '"{}"'],
    ['an empty string', '""'],
    ['a number', '7'],
    ['true', 'true'],
    ['false', 'false'],
  ])('rejects %s', async (_, json) => {
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
