import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { type FieldProblem } from '../../errors/field-problem.js';
import { parseJson, parseJsonParameter, parseJsonText } from './strict-json.js';

const NOT_JSON = 'must be valid JSON';
const NOT_UTF8 = 'must be encoded in UTF-8';
const TOO_DEEP = 'must not be nested deeper than 32 levels';
const TOO_MANY_KEYS = 'must not have more than 1,000 keys in one object';
const REPEATED = 'must be given only once';
const REPEATED_INSIDE = 'must not have the same key twice in one object';
const BIG_NUMBER = 'must not contain a number beyond ±9007199254740992';
const BAD_TEXT = 'must not contain \\u0000 or unpaired surrogates';

const toBytes = (source: string | Buffer): Buffer =>
  typeof source === 'string' ? Buffer.from(source) : source;

const valueOf = (source: string | Buffer): unknown => {
  const { value, problems } = parseJson(toBytes(source));
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return value;
};

const problemsOf = (source: string | Buffer): readonly FieldProblem[] =>
  parseJson(toBytes(source)).problems;

const objectOf = (count: number, value: string): string =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(',')}}`;

describe('parseJson', () => {
  it.each([
    '{}',
    '[]',
    'null',
    'true',
    '1',
    '"s"',
    ' \t\r\n{ "a" : [ 1 , { "b" : null } ] } \n',
    '{"first_name":"Zoë","tags":["a","b"],"custom_fields":{"n":[1.5,-2,{"deep":true}]}}',
    '{"a":{"x":1},"b":{"x":1},"x":1}',
    '[{"x":1},{"x":1}]',
    '{"a":1,"A":2,"a ":3,"":4}',
    '{"\\u00e9":1,"e\\u0301":2}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}',
    '{"a":"99999999999999999999"}',
    '{"99999999999999999999":"1e400"}',
    '{"a":"\\\\u0000"}',
    '{"a":"\\\\\\\\","b":"\\\\\\"","c":"\\"\\\\"}',
    '{"a":"\\ud83d\\ude00 \\u0001\\u001f\\u007f\\uffff\\ufeff"}',
    '{"a":"😀\u202e\u200b\u0301<script>\'; DROP TABLE leads;--${}%s"}',
    '{"a":"\\/\\b\\f\\n\\r\\t"}',
  ])('parses %j like JSON.parse', (text) => {
    expect(valueOf(text)).toEqual(JSON.parse(text));
  });

  it('reads a long string', () => {
    expect(valueOf(`{"a":"${'x'.repeat(200_000)}"}`)).toEqual({ a: 'x'.repeat(200_000) });
  });

  it.each([
    ' ',
    '\n\t',
    '{',
    '}',
    '[',
    ']',
    '{]',
    '[}',
    '[1}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a":1 "b":2}',
    '{"a" 1}',
    '{"a"::1}',
    '{a:1}',
    "{'a':1}",
    '{1:1}',
    'NaN',
    '[NaN]',
    'Infinity',
    '-Infinity',
    'undefined',
    'True',
    'nul',
    '{"a":1}{"b":2}',
    '{"a":1} {"b":2}',
    '{}\n{}',
    '1 2',
    '{} x',
    '{"a":1}\0',
    '// comment\n{}',
    '{} // comment',
    '/* comment */{}',
    '{"a":/**/1}',
    '#{}',
    '01',
    '-01',
    '+1',
    '.5',
    '5.',
    '1.e5',
    '1e',
    '1e+',
    '--1',
    '1-1',
    '0x10',
    '1_000',
    '1n',
    '-',
    '"abc',
    '"abc\\"',
    '"\\x41"',
    '"\\u12"',
    '"\\u{41}"',
    '"\\0"',
    '"a\nb"',
    '"a\tb"',
    '"a\0b"',
    '{"a\0":1}',
    '\u00a0{}',
    '{}\u2028',
    '(1)',
    ")]}'\n{}",
    'a=1&b=2',
    '<a/>',
    '{"a":1e400,',
    '{"a":1,"a":2',
    '"\\ud800',
  ])('rejects %j, which is not JSON', (text) => {
    expect(problemsOf(text)).toEqual([{ field: 'body', message: NOT_JSON }]);
  });

  describe('encoding', () => {
    const document = '{"a":"é"}';

    it('rejects an empty body', () => {
      expect(problemsOf('')).toEqual([{ field: 'body', message: 'must not be empty' }]);
    });

    it('rejects a byte order mark', () => {
      const message = 'must not begin with a byte order mark';
      expect(problemsOf(`\ufeff${document}`)).toEqual([{ field: 'body', message }]);
    });

    it.each<[string, Buffer]>([
      ['UTF-16LE with a mark', Buffer.from(`\ufeff${document}`, 'utf16le')],
      ['UTF-16BE with a mark', Buffer.from(`\ufeff${document}`, 'utf16le').swap16()],
      ['UTF-16LE', Buffer.from(document, 'utf16le')],
      ['UTF-16BE', Buffer.from(document, 'utf16le').swap16()],
      ['Latin-1', Buffer.from(document, 'latin1')],
      ['an overlong NUL', Buffer.from('22c08022', 'hex')],
      ['an overlong slash', Buffer.from('22c0af22', 'hex')],
      ['an encoded surrogate', Buffer.from('22eda08022', 'hex')],
      ['a CESU-8 pair', Buffer.from('22eda0bdedb88022', 'hex')],
      ['a code point beyond U+10FFFF', Buffer.from('22f490808022', 'hex')],
      ['five bytes', Buffer.from('22f88880808022', 'hex')],
      ['a lone continuation byte', Buffer.from('228022', 'hex')],
      ['a sequence cut off', Buffer.from('22e282', 'hex')],
      ['a byte that UTF-8 never has', Buffer.from('22ff22', 'hex')],
    ])('rejects %s', (_what, bytes) => {
      expect(problemsOf(bytes)).toEqual([{ field: 'body', message: NOT_UTF8 }]);
    });

    it('rejects UTF-16 that is also valid UTF-8', () => {
      expect(problemsOf(Buffer.from('{"a":1}', 'utf16le'))).toEqual([
        { field: 'body', message: NOT_JSON },
      ]);
    });
  });

  describe('nesting', () => {
    const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

    it('reads 32 levels', () => {
      expect(valueOf(arrays(32))).toEqual(JSON.parse(arrays(32)));
      expect(valueOf(objects(32))).toEqual(JSON.parse(objects(32)));
      expect(valueOf(`[${arrays(31)},${arrays(31)}]`)).toHaveLength(2);
    });

    it.each([33, 100, 5000, 20_000, 100_000])('rejects %d levels', (depth) => {
      expect(problemsOf(arrays(depth))).toEqual([{ field: 'body', message: TOO_DEEP }]);
      expect(problemsOf('['.repeat(depth))).toEqual([{ field: 'body', message: TOO_DEEP }]);
      expect(problemsOf(objects(depth))).toEqual([{ field: 'a', message: TOO_DEEP }]);
      expect(problemsOf(`{"b":1,"c":${arrays(depth)},"d":1}`)).toEqual([
        { field: 'c', message: TOO_DEEP },
      ]);
    });

    it('reports other problems around and inside too deep values', () => {
      const deep = `${'['.repeat(40)}{"x":1,"x":1e400}${']'.repeat(40)}`;
      expect(problemsOf(`{"a":1e400,"b":${deep},"c":"\\u0000","d":1,"d":2}`)).toEqual([
        { field: 'a', message: BIG_NUMBER },
        { field: 'b', message: TOO_DEEP },
        { field: 'b', message: BIG_NUMBER },
        { field: 'c', message: BAD_TEXT },
        { field: 'd', message: REPEATED },
      ]);
    });
  });

  describe('repeated keys', () => {
    it.each<[string, string, string]>([
      ['{"a":1,"a":2}', 'a', REPEATED],
      ['{"a":1,"a":1}', 'a', REPEATED],
      ['{"a":1,"b":2,"a":3,"a":4}', 'a', REPEATED],
      ['{"a":1,"\\u0061":2}', 'a', REPEATED],
      ['{"\\u0061":1,"a":2}', 'a', REPEATED],
      ['{"\\u00e9":1,"é":2}', 'é', REPEATED],
      ['{"\\ud83d\\ude00":1,"😀":2}', '😀', REPEATED],
      ['{"\\/":1,"/":2}', '/', REPEATED],
      ['{"\\"":1,"\\u0022":2}', '"', REPEATED],
      ['{"":1,"":2}', 'body', REPEATED],
      ['{"__proto__":1,"__proto__":2}', '__proto__', REPEATED],
      ['{"a" : 1 , "a" : 2}', 'a', REPEATED],
      ['{"a":{"b":[1,2,{"c":3}]},"a":2}', 'a', REPEATED],
      ['{"custom_fields":{"x":1,"x":2}}', 'custom_fields', REPEATED_INSIDE],
      ['{"custom_fields":{"y":[{"x":1},{"x":1,"x":2}]}}', 'custom_fields', REPEATED_INSIDE],
      ['{"custom_fields":{"x":{"x":{}},"x":2}}', 'custom_fields', REPEATED_INSIDE],
      ['[{"x":1,"x":2}]', 'body', REPEATED_INSIDE],
    ])('rejects %s', (text, field, message) => {
      expect(problemsOf(text)).toEqual([{ field, message }]);
    });
  });

  describe('number of keys', () => {
    it('reads 1,000 in each object', () => {
      expect(valueOf(objectOf(1000, '1'))).toHaveProperty('k999', 1);
      expect(valueOf(`[${objectOf(1000, '1')},${objectOf(1000, '1')}]`)).toHaveLength(2);
      expect(valueOf(objectOf(10, objectOf(1000, '1')))).toHaveProperty(['k9', 'k999'], 1);
    });

    it('rejects 1,001', () => {
      expect(problemsOf(objectOf(1001, '1'))).toEqual([{ field: 'body', message: TOO_MANY_KEYS }]);
      expect(problemsOf(`{"custom_fields":${objectOf(1001, '1')}}`)).toEqual([
        { field: 'custom_fields', message: TOO_MANY_KEYS },
      ]);
    });
  });

  describe('text', () => {
    it.each<[string, string]>([
      ['"\\u0000"', 'body'],
      ['{"a":"\\u0000"}', 'a'],
      ['{"a":"x\\u0000y"}', 'a'],
      ['{"a":"\\\\\\u0000"}', 'a'],
      ['{"tags":["ok","\\u0000"]}', 'tags'],
      ['{"custom_fields":{"x\\u0000":1}}', 'custom_fields'],
      ['{"custom_fields":{"x":[{"y":"\\u0000"}]}}', 'custom_fields'],
      ['{"a":"\\ud800"}', 'a'],
      ['{"a":"\\uDC00"}', 'a'],
      ['{"a":"\\ude00\\ud83d"}', 'a'],
      ['{"a":"\\ud83d \\ude00"}', 'a'],
      ['{"a":"\\ud83d\\ud83d\\ude00"}', 'a'],
      ['{"a":"😀\\ude00"}', 'a'],
      ['{"custom_fields":{"\\ud800":1}}', 'custom_fields'],
      ['{"b\\u0000":1}', 'b'],
      ['{"b\\ud800":1}', 'b'],
      ['{"\\u0000":1}', 'body'],
      ['{"\\ud800":1}', 'body'],
    ])('rejects %s', (text, field) => {
      expect(problemsOf(text)).toEqual([{ field, message: BAD_TEXT }]);
    });
  });

  it('parses __proto__, constructor and prototype as normal keys', () => {
    const text =
      '{"__proto__":{"admin":true},"a":{"__proto__":1,"constructor":{"prototype":{"admin":true}}}}';
    const value = valueOf(text);
    expect(JSON.stringify(value)).toBe(text);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(value as object, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });

  describe('several problems', () => {
    it('reports each field once for each message', () => {
      const text =
        '{"a":[1e400,1e400,"\\u0000"],"b":{"x":1,"x":2,"y":1e400,"x":3},"ok":1,"a":"\\ud800"}';
      expect(problemsOf(text)).toEqual([
        { field: 'a', message: BIG_NUMBER },
        { field: 'a', message: BAD_TEXT },
        { field: 'b', message: REPEATED_INSIDE },
        { field: 'b', message: BIG_NUMBER },
        { field: 'a', message: REPEATED },
      ]);
    });

    it('reports at most 100', () => {
      const problems = problemsOf(objectOf(500, '1e400'));
      expect(problems).toHaveLength(100);
      expect(problems.at(-1)).toEqual({ field: 'k99', message: BIG_NUMBER });
    });

    it('shortens names and removes unprintable characters', () => {
      expect(problemsOf(`{"${'x'.repeat(5000)}":1e400}`)[0]?.field).toBe('x'.repeat(100));
      expect(problemsOf('{"a\\u0007\\u202e\\nb":1e400}')[0]?.field).toBe('ab');
      expect(problemsOf('{"\\u200b":1e400}')[0]?.field).toBe('body');
    });
  });

  const size = 256 * 1024;
  it.each<[string, string]>([
    ['brackets', '['.repeat(size)],
    ['objects', '{"a":'.repeat(size / 5)],
    ['levels opened and closed', `${'['.repeat(32)}${'[],'.repeat(size / 3)}`],
    ['quotes', '"'.repeat(size)],
    ['backslashes', `"${'\\'.repeat(size)}`],
    ['escaped quotes', `"${'\\"'.repeat(size / 2)}"`],
    ['digits', '9'.repeat(size)],
    ['digits of the largest integer', `9007199254740992.${'0'.repeat(size)}`],
    ['bad numbers', `[${'1e99,'.repeat(size / 5)}1]`],
    ['bad strings', `["${'\\u0000","'.repeat(size / 9)}"]`],
    ['repeated keys', `{${'"a":1,'.repeat(size / 6)}"a":1}`],
    ['a long key with many faults', `{"${'k'.repeat(size / 2)}":[${'1e99,'.repeat(size / 10)}1]}`],
    ['many keys', objectOf(size / 10, '1')],
  ])('is fast with a body of %s', (_what, text) => {
    const bytes = Buffer.from(text);
    // CPU time does not depend on the load of the machine.
    const start = process.cpuUsage();
    parseJson(bytes);
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(2_000);
  });
});

/** https://github.com/nst/JSONTestSuite */
const SUITE = resolve('test/json-test-suite');

/** Valid JSON that parseJson rejects, with the message. */
const STRICTER = new Map([
  ['y_number.json', BIG_NUMBER],
  ['y_number_real_capital_e.json', BIG_NUMBER],
  ['y_number_real_exponent.json', BIG_NUMBER],
  ['y_number_real_fraction_exponent.json', BIG_NUMBER],
  ['y_object_extreme_numbers.json', BIG_NUMBER],
  ['y_object_duplicated_key.json', REPEATED],
  ['y_object_duplicated_key_and_value.json', REPEATED],
  ['y_object_escaped_null_in_key.json', BAD_TEXT],
  ['y_string_null_escape.json', BAD_TEXT],
]);

const suiteFiles = (prefix: string): string[] =>
  readdirSync(SUITE).filter((name) => name.startsWith(prefix) && name.endsWith('.json'));

const readSuiteFile = (name: string): Buffer => readFileSync(join(SUITE, name));

describe('parseJsonText', () => {
  it('refuses more than 262,144 characters, also if they are no JSON', () => {
    const longest = `"${'x'.repeat(262_142)}"`;
    expect(parseJsonText(longest)).toMatchObject({ problems: [] });
    const message = 'must have at most 262,144 characters as JSON';
    for (const text of [`${longest} `, '['.repeat(262_145)]) {
      expect(parseJsonText(text)).toEqual({ problems: [{ field: 'body', message }] });
    }
  });
});

describe('parseJsonParameter', () => {
  it.each([
    ['{"a":{"b":1,"b":2}}', 'filter.a.b', REPEATED],
    ['{"a":1,"a":2}', 'filter.a', REPEATED],
    [
      '{"a":[1,[2,{"b":3}],{"c":1e400}]}',
      'filter.a[2].c',
      'must not contain a number beyond ±9007199254740992',
    ],
    [String.raw`{"a":["x","\ud800"]}`, 'filter.a[1]', BAD_TEXT],
    [String.raw`{"\u0000":1}`, 'filter.?', BAD_TEXT],
    ['{"a":', 'filter', 'must be valid JSON'],
    ['{"a":NaN}', 'filter', 'must be valid JSON'],
    ['["a","b","a\u0000"]', 'filter', 'must be valid JSON'],
  ])('reports the path of the problem in %s', (text, field, message) => {
    expect(parseJsonParameter(text, 'filter').problems).toEqual([{ field, message }]);
  });

  it('reads any depth', () => {
    const text = '['.repeat(4_000) + ']'.repeat(4_000);
    expect(parseJsonParameter(text, 'filter').problems).toEqual([]);
  });
});

describe('JSONTestSuite', () => {
  it.each(suiteFiles('y_').filter((name) => !STRICTER.has(name)))('reads %s', (name) => {
    const bytes = readSuiteFile(name);
    expect(valueOf(bytes)).toEqual(JSON.parse(bytes.toString()));
  });

  it.each([...STRICTER])('rejects %s, which %s', (name, message) => {
    const messages = problemsOf(readSuiteFile(name)).map((problem) => problem.message);
    expect(new Set(messages)).toEqual(new Set([message]));
  });

  it.each(suiteFiles('n_'))('rejects %s', (name) => {
    expect(problemsOf(readSuiteFile(name))).not.toEqual([]);
  });

  it.each(suiteFiles('i_'))('does not throw on %s', (name) => {
    expect(() => parseJson(readSuiteFile(name))).not.toThrow();
  });
});
