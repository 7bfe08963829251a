import { parseQueryString } from './query-string.js';

const NOT_ENCODED = 'must be percent-encoded as UTF-8';
const HAS_NUL = 'must not contain \\u0000';
const REPEATED = 'must be given only once';

const entriesOf = (raw: string) => Object.entries(parseQueryString(raw).values);

describe('parseQueryString', () => {
  it.each<[string, [string, string][]]>([
    ['', []],
    ['&', []],
    ['&&&', []],
    ['a=1', [['a', '1']]],
    [
      '&a=1&&b=2&',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    ['a', [['a', '']]],
    ['a=', [['a', '']]],
    ['=1', [['', '1']]],
    ['=', [['', '']]],
    ['a==', [['a', '=']]],
    ['a=b=c', [['a', 'b=c']]],
    ['a%3Db=c', [['a=b', 'c']]],
    ['a=b%26c', [['a', 'b&c']]],
    ['a=1;b=2', [['a', '1;b=2']]],
    ['search=ada+lovelace', [['search', 'ada lovelace']]],
    ['search=ada%20lovelace', [['search', 'ada lovelace']]],
    ['phone=%2B14155550132', [['phone', '+14155550132']]],
    ['first+name=x', [['first name', 'x']]],
    ['search=100%25', [['search', '100%']]],
    ['search=%2525', [['search', '%25']]],
    ["search=_%5C'*", [['search', "_\\'*"]]],
    ['search=Zo%C3%AB', [['search', 'Zoë']]],
    ['search=Zo%c3%ab', [['search', 'Zoë']]],
    ['search=%F0%9F%98%80', [['search', '😀']]],
    ['search=%EF%BB%BFx', [['search', '\ufeffx']]],
    ['search=%0A%7F', [['search', '\n\u007f']]],
    ['%73earch=x', [['search', 'x']]],
    ['page[]=1', [['page[]', '1']]],
    ['page%5B%5D=1', [['page[]', '1']]],
    ['page[$gt]=1', [['page[$gt]', '1']]],
    ['a.b=1', [['a.b', '1']]],
    ['tags=a,b', [['tags', 'a,b']]],
    [
      'A=1&a=2',
      [
        ['A', '1'],
        ['a', '2'],
      ],
    ],
    ['limit= 5 ', [['limit', ' 5 ']]],
    ['?a=1', [['?a', '1']]],
    ['__proto__=1', [['__proto__', '1']]],
    ['__proto__[x]=1', [['__proto__[x]', '1']]],
    [
      'constructor=1&prototype=2',
      [
        ['constructor', '1'],
        ['prototype', '2'],
      ],
    ],
    [
      'toString=1&hasOwnProperty=2',
      [
        ['toString', '1'],
        ['hasOwnProperty', '2'],
      ],
    ],
  ])('parses %j', (raw, expected) => {
    expect(entriesOf(raw)).toEqual(expected);
    expect(parseQueryString(raw).problems).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['search=%', 'search', NOT_ENCODED],
    ['search=%2', 'search', NOT_ENCODED],
    ['search=100%', 'search', NOT_ENCODED],
    ['search=%zz', 'search', NOT_ENCODED],
    ['search=%u0041', 'search', NOT_ENCODED],
    ['search=%%', 'search', NOT_ENCODED],
    ['search=%+1', 'search', NOT_ENCODED],
    ['search=%FF', 'search', NOT_ENCODED],
    ['search=%E9', 'search', NOT_ENCODED],
    ['search=%C3', 'search', NOT_ENCODED],
    ['search=%C3%28', 'search', NOT_ENCODED],
    ['search=%C0%80', 'search', NOT_ENCODED],
    ['search=%C0%AF', 'search', NOT_ENCODED],
    ['search=%ED%A0%80', 'search', NOT_ENCODED],
    ['search=%ED%A0%BD%ED%B8%80', 'search', NOT_ENCODED],
    ['search=%F4%90%80%80', 'search', NOT_ENCODED],
    ['search=%F8%88%80%80%80', 'search', NOT_ENCODED],
    ['search=Zo\u00c3\u00ab', 'search', NOT_ENCODED],
    ['search=Zoë', 'search', NOT_ENCODED],
    ['search=%00', 'search', HAS_NUL],
    ['search=a%00b', 'search', HAS_NUL],
    ['search=a\0b', 'search', HAS_NUL],
    ['%=1', '%', NOT_ENCODED],
    ['%FF=1', '%FF', NOT_ENCODED],
    ['%FFsearch', '%FFsearch', NOT_ENCODED],
    ['a%00=1', 'a%00', HAS_NUL],
    ['%00', '%00', HAS_NUL],
    ['a\u0007\u00e9%=1', 'aé%', NOT_ENCODED],
    ['\u0007\u0085%=1', '%', NOT_ENCODED],
    ['\u0085=1', 'query', NOT_ENCODED],
    [`%${'x'.repeat(150)}=1`, `%${'x'.repeat(99)}`, NOT_ENCODED],
  ])('rejects %j', (raw, field, message) => {
    expect(parseQueryString(raw)).toEqual({ values: {}, problems: [{ field, message }] });
  });

  it.each<[string, string]>([
    ['page=1&page=2', 'page'],
    ['page=1&page=1', 'page'],
    ['page&page', 'page'],
    ['page=1&%70age=2', 'page'],
    ['page=1&page=2&page=3&page=4', 'page'],
    ['a+b=1&a%20b=2', 'a b'],
    ['tags[]=1&tags[]=2', 'tags[]'],
    ['__proto__=1&__proto__=2', '__proto__'],
    ['=1&=2', 'query'],
  ])('rejects the repeated parameter in %j', (raw, field) => {
    expect(parseQueryString(raw).problems).toEqual([{ field, message: REPEATED }]);
  });

  it('reports every invalid parameter and parses the others', () => {
    const { values, problems } = parseQueryString('a=%&b=1&b=2&c=%00&d=ok&%FF=1&a=2');
    expect(problems).toEqual([
      { field: 'a', message: NOT_ENCODED },
      { field: 'b', message: REPEATED },
      { field: 'c', message: HAS_NUL },
      { field: '%FF', message: NOT_ENCODED },
      { field: 'a', message: REPEATED },
    ]);
    expect(values).toEqual({ b: '1', d: 'ok' });
  });

  it('returns an object without a prototype and does not change prototypes', () => {
    const { values } = parseQueryString('__proto__=x&constructor=y');
    expect(Object.getPrototypeOf(values)).toBeNull();
    expect(Object.keys(values)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it('parses 1,000 parameters and rejects more', () => {
    const names = (count: number): string =>
      Array.from({ length: count }, (_, index) => `p${index}=1`).join('&');
    expect(parseQueryString(names(1000)).problems).toEqual([]);
    expect(Object.keys(parseQueryString(names(1000)).values)).toHaveLength(1000);
    expect(parseQueryString(names(1001)).problems).toEqual([
      { field: 'query', message: 'must not have more than 1,000 parameters' },
    ]);
  });

  it('reports at most 100 problems', () => {
    const raw = Array.from({ length: 500 }, (_, index) => `p${index}=%`).join('&');
    expect(parseQueryString(raw).problems).toHaveLength(100);
  });

  it.each([
    ['ampersands', '&'.repeat(1_000_000)],
    ['one long value', `a=${'+'.repeat(1_000_000)}`],
    ['broken escapes', `a=${'%'.repeat(1_000_000)}`],
    ['long broken names', `${'%'.repeat(1000)}&`.repeat(1000)],
    ['repetitions', 'a=1&'.repeat(250_000)],
  ])('is fast with a megabyte of %s', (_what, raw) => {
    // CPU time does not depend on the load of the machine.
    const start = process.cpuUsage();
    parseQueryString(raw);
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(2_000);
  });

  it('collects a repeated parameter in an array on request', () => {
    const { values, problems } = parseQueryString('a=1&b=2&a=3&a=', (name) => name === 'a');
    expect(problems).toEqual([]);
    expect({ ...values }).toEqual({ a: ['1', '3', ''], b: '2' });
  });

  it('measures a parameter before it is decoded', () => {
    const maxBytesOf = (name: string) => (name === 'a' ? 6 : Infinity);
    const parse = (raw: string) => parseQueryString(raw, undefined, maxBytesOf);
    expect({ ...parse('a=%7B%7D&b=1234567').values }).toEqual({ a: '{}', b: '1234567' });
    expect(parse('a=%7B%7D+').problems).toEqual([
      { field: 'a', message: 'must be at most 6 bytes as it is sent' },
    ]);
  });

  it('reports the first hundred problems', () => {
    const raw = Array.from({ length: 500 }, (_, index) => `a${index}=%ff`).join('&');
    const { problems } = parseQueryString(raw);
    expect(problems.map(({ field }) => field)).toEqual(
      Array.from({ length: 100 }, (_, index) => `a${index}`),
    );
  });

  it('keeps the order of a parameter that may be given several times', () => {
    const raw = Array.from({ length: 1_000 }, (_, index) => `a=${index}`).join('&');
    const { values } = parseQueryString(raw, () => true);
    expect(values.a).toEqual(Array.from({ length: 1_000 }, (_, index) => String(index)));
  });
});
