import {
  DateTime,
  Email,
  Flag,
  Integer,
  JsonObject,
  OneOf,
  Phone,
  Tags,
  Text,
  Uuid,
} from './kinds.js';
import { readInput } from '../input/read-input.js';

class Dto {
  @Text({ max: 3 }) text?: string | null;
  @Text({ min: 2, max: 3, required: true }) name: string;
  @OneOf(['a', 'b']) word?: string | null;
  @Phone() phone?: string | null;
  @Email() email?: string | null;
  @Uuid() uuid?: string | null;
  @Flag() flag?: boolean | null;
  @Integer({ min: 1, max: 100 }) integer?: number | null;
  @DateTime() at?: Date | null;
  @DateTime({ rounding: 'up' }) edge?: Date | null;
  @Tags() tags?: string[];
  @JsonObject() object?: Record<string, unknown>;
}

type Name = keyof Dto;

function read(name: Name, value: unknown) {
  return readInput(Dto, { name: 'Ada', [name]: value });
}

const OBJECTS: readonly unknown[] = [{}, { constructor: 'x' }, { length: 1 }, { toString: 1 }];
const ARRAYS: readonly unknown[] = [[], ['a'], [1], [['a']], [{ constructor: 'x' }]];
const NUMBERS: readonly unknown[] = [0, 1, -1, 1.5];
const FLAGS: readonly unknown[] = [true, false];
const UUID = '01a1fbdf-c82e-7372-858e-5501a64880f1';

const as = (name: Name, values: readonly unknown[]) =>
  values.map((value): [Name, unknown] => [name, value]);

describe('the values of each kind of field', () => {
  it.each<[Name, unknown, unknown]>([
    ['text', 'abc', 'abc'],
    ['text', ' \t\n\u00a0\u2003abc\ufeff\r\n', 'abc'],
    ['text', '😀😀😀', '😀😀😀'],
    ['text', 'a b', 'a b'],
    ['text', 'a\u200bb', 'a\u200bb'],
    ['name', ' ab ', 'ab'],
    ['word', ' a ', 'a'],
    ['phone', ' 1 2 3 ', '1 2 3'],
    ['phone', '+-.()/x#123', '+-.()/x#123'],
    ['phone', '1'.repeat(50), '1'.repeat(50)],
    ['email', ' Ada@Example.com ', 'Ada@Example.com'],
    ['uuid', ` ${UUID.toUpperCase()} `, UUID],
    ['flag', true, true],
    ['flag', false, false],
    ['integer', 1, 1],
    ['integer', 100, 100],
    ['at', '2026-01-31T09:30:00.0019+01:00', new Date('2026-01-31T08:30:00.001Z')],
    ['at', ' 2026-01-31 ', new Date('2026-01-31T00:00:00.000Z')],
    ['edge', '2026-01-31T09:30:00.0011Z', new Date('2026-01-31T09:30:00.002Z')],
    ['edge', '2026-01-31T09:30:00.001Z', new Date('2026-01-31T09:30:00.001Z')],
    ['tags', [' b', 'a', 'b ', 'B'], ['b', 'a', 'B']],
    ['tags', [], []],
    ['tags', ['😀'.repeat(50)], ['😀'.repeat(50)]],
    ['object', { ' a ': ' b ' }, { ' a ': ' b ' }],
  ])('%s: converts %j to %j', (name, value, stored) => {
    const input = read(name, value);
    expect(input.problems).toEqual([]);
    expect(input.value[name]).toStrictEqual(stored);
  });

  it.each<[Name, unknown]>([
    ...as('text', ['abcd', '😀😀😀😀', '\0', '\ud83d', ...NUMBERS, ...FLAGS]),
    ...as('name', ['', '  ', '\u0085', '\u200b\u200b', 'a', ' a ', 'abcd', null, undefined]),
    ...as('word', ['A', 'ab', 'a,b', 'toString', ...NUMBERS, ...FLAGS]),
    ...as('phone', ['12', '1'.repeat(51), '123a', '１２', 'Y123', 'ex123', 123, ...FLAGS]),
    ...as('email', ['ada', 'a@b', 'a@b.co\0', `${'a'.repeat(249)}@b.cod`, ...NUMBERS, ...FLAGS]),
    ...as('uuid', ['x', `{${UUID}}`, UUID.replaceAll('-', ''), `${UUID}0`, `${UUID}\n0`, 1]),
    ...as('flag', ['true', 'false', '', 'on', ...NUMBERS]),
    ...as('integer', [
      0,
      101,
      1.5,
      NaN,
      Infinity,
      '0',
      '7',
      '101',
      '1.5',
      '1e1',
      '0x1',
      '+1',
      '-1',
    ]),
    ...as('integer', [' 1', '01', '', '٣', ...FLAGS]),
    ...as('at', ['2026-02-30', 'now', '24:00', '1763683200', 1763683200, ...FLAGS]),
    ...as('edge', ['2026-13-01', 0]),
    ...as('tags', [[''], [' '], ['x'.repeat(51)], [1], [null], [['a']], [undefined], 'a', '', 1]),
    ...as('tags', [['a\0'], ['\ud83d'], Array.from({ length: 51 }, (_, index) => `${index}`)]),
    ...as('object', ['{}', '', 1, true, []]),
    ...(
      ['text', 'name', 'word', 'phone', 'email', 'uuid', 'flag', 'integer', 'at'] as const
    ).flatMap((name) => as(name, [...OBJECTS, ...ARRAYS])),
    ...as('tags', OBJECTS),
    ...as('object', ARRAYS),
  ])('%s: rejects %j', (name, value) => {
    const { problems } = read(name, value);
    expect(problems.map(({ field }) => field)).toEqual([name]);
    expect(problems[0]!.message).toMatch(/^(must|is required)/);
  });

  it.each([
    ['7', 7],
    ['100', 100],
  ])('integer: accepts %j in the text encoding', (text, stored) => {
    const { value, problems } = readInput(Dto, { name: 'Ada', integer: text }, [], {
      encoding: 'text',
    });
    expect({ problems, integer: value.integer }).toEqual({ problems: [], integer: stored });
  });

  it.each(['0', '101', '1.5', '1e1', '0x1', '+1', '-1', ' 1', '01', '', '٣'])(
    'integer: rejects %j in the text encoding',
    (text) => {
      const { problems } = readInput(Dto, { name: 'Ada', integer: text }, [], { encoding: 'text' });
      expect(problems.map(({ field }) => field)).toEqual(['integer']);
    },
  );

  it('reports only the first problem, in words that can follow the name', () => {
    expect(read('text', 5).problems).toEqual([{ field: 'text', message: 'must be a string' }]);
    expect(read('phone', '1a').problems).toEqual([
      { field: 'phone', message: 'must be 3 to 50 characters' },
    ]);
    expect(read('name', undefined).problems).toEqual([{ field: 'name', message: 'is required' }]);
  });

  it('does not modify its input', () => {
    const tags = Object.freeze([' a', 'a']);
    expect(read('tags', tags).value.tags).toEqual(['a']);
    expect(tags).toEqual([' a', 'a']);
  });
});
