import { jsonObjectProblem } from './json-object.js';

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));

/** An object with this number of nested levels. */
function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = wrap(1);
  for (let level = 1; level < levels; level++) value = wrap(value);
  return value;
}

const inObject = (inner: unknown) => ({ a: inner });
const inArray = (inner: unknown) => [inner];

describe('jsonObjectProblem', () => {
  it.each<[string, unknown]>([
    ['an empty object', {}],
    ['100 keys', keys(100)],
    ['100 keys in each of several objects', { a: keys(100), b: keys(100) }],
    ['a key of 100 characters', { ['x'.repeat(100)]: 1 }],
    ['a key of 100 emoji', { ['😀'.repeat(100)]: 1 }],
    ['32 KiB', { a: 'x'.repeat(32 * 1024 - 8) }],
    ['32 KiB of values and keys', { a: Array(6_552).fill([1]), b: [] }],
    ['8 levels of objects', nested(8, inObject)],
    ['7 levels of arrays in an object', { a: nested(7, inArray) }],
    ['8 levels with empty containers at the end', nested(7, (inner) => ({ a: inner, b: {} }))],
    ['many siblings on the lowest level', nested(8, (inner) => ({ a: inner, b: 1, c: 'x' }))],
  ])('accepts %s', (_, value) => {
    expect(jsonObjectProblem(value)).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ['null', null, 'must be an object'],
    ['a string', '{}', 'must be an object'],
    ['a number', 1, 'must be an object'],
    ['undefined', undefined, 'must be an object'],
    ['101 keys', keys(101), '100 keys'],
    ['an empty key', { '': 1 }, '1 to 100 characters'],
    ['a key of 101 characters', { ['x'.repeat(101)]: 1 }, '1 to 100 characters'],
    ['many short values', { a: Array(40_000).fill(1) }, '32768 bytes'],
    ['many short keys', { a: Array(400).fill(keys(20)) }, '32768 bytes'],
    ['32 KiB and a byte', { a: 'x'.repeat(32 * 1024 - 7) }, '32768 bytes'],
    ['32 KiB of characters of two bytes', { a: 'é'.repeat(16 * 1024) }, '32768 bytes'],
    ['9 levels of objects', nested(9, inObject), '8 levels'],
    ['8 levels of arrays in an object', { a: nested(8, inArray) }, '8 levels'],
    ['9 levels behind a shallow key', { a: 1, b: nested(8, inObject) }, '8 levels'],
    ['a NUL in a string', { a: ['x\0'] }, 'NUL or unpaired surrogates'],
    ['a NUL in a key', { a: [{ 'x\0': 1 }] }, 'NUL or unpaired surrogates'],
    ['an unpaired surrogate in a string', { a: '\ud800' }, 'NUL or unpaired surrogates'],
    ['an unpaired surrogate in a key', { '\udc00': 1 }, 'NUL or unpaired surrogates'],
    ['an empty object on level 9', nested(8, (inner) => ({ a: inner, b: {} })), '8 levels'],
  ])('rejects %s', (_, value, problem) => {
    expect(jsonObjectProblem(value)).toContain(problem);
  });
});
