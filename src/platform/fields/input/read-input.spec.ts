import { isDeepStrictEqual } from 'node:util';
import { PickOf, RecordOf, UpdateOf, namesOf } from '../field.js';
import { Flag, Integer, JsonObject, OneOf, Tags, Text } from '../kinds/kinds.js';
import { readInput } from './read-input.js';

class CreateDto {
  @Text({ max: 5, required: true }) name: string;
  @Text({ max: 5 }) city?: string | null;
  @OneOf(['a', 'b'], { default: 'a' }) kind?: string;
  @Flag({ default: false }) flag?: boolean;
  @Integer({ min: 1, max: 9, default: 3 }) count?: number;
  @Tags() tags?: string[];
  @JsonObject() custom?: Record<string, unknown>;
}

class UpdateDto extends UpdateOf(CreateDto) {}
class FixedDto extends UpdateOf(CreateDto, { fixed: ['city'] }) {}

const DEFAULTS = { kind: 'a', flag: false, count: 3, tags: [], custom: {} };
const parse = (json: string) => JSON.parse(json) as object;
const faulty = (input: ReturnType<typeof readInput>) => input.problems.map(({ field }) => field);

describe('readInput on create', () => {
  it('returns an instance of the DTO with its defaults', () => {
    const { value, problems } = readInput(CreateDto, { name: ' Ada ' });
    expect(problems).toEqual([]);
    expect(value).toBeInstanceOf(CreateDto);
    expect({ ...value }).toStrictEqual({ name: 'Ada', ...DEFAULTS });
  });

  it.each([null, undefined])('treats %j like an omitted field', (nothing) => {
    const fields = Object.keys({ ...DEFAULTS, city: nothing });
    const plain = Object.fromEntries(fields.map((field) => [field, nothing]));
    const { value, problems } = readInput(CreateDto, { ...plain, name: 'Ada' });
    expect(problems).toEqual([]);
    expect({ ...value }).toStrictEqual({ name: 'Ada', ...DEFAULTS });
  });

  it('treats "" in a text field like an omitted field', () => {
    const { value } = readInput(CreateDto, { name: 'Ada', city: ' ', kind: '' });
    expect({ ...value }).toStrictEqual({ name: 'Ada', ...DEFAULTS });
  });

  it.each([{}, { name: null }, { name: undefined }, { name: '' }, { name: ' ' }])(
    'reports the missing required fields of %j',
    (plain) => {
      expect(faulty(readInput(CreateDto, plain))).toEqual(['name']);
    },
  );

  it('reports every invalid field, unknown fields first', () => {
    const plain = { city: 5, kind: 'c', count: 0, nickname: 'A', 'first name': 1 };
    expect(faulty(readInput(CreateDto, plain))).toEqual([
      'nickname',
      'first name',
      'name',
      'city',
      'kind',
      'count',
    ]);
  });

  it('creates new default values for each input', () => {
    const first = readInput(CreateDto, { name: 'Ada' }).value;
    expect(() => first.tags!.push('x')).toThrow(TypeError);
    expect(readInput(CreateDto, { name: 'Ada' }).value.tags).toEqual([]);
  });
});

describe('readInput on update', () => {
  it('returns only the given fields, without required fields or defaults', () => {
    const { value, problems } = readInput(UpdateDto, {});
    expect(problems).toEqual([]);
    expect(value).toBeInstanceOf(UpdateDto);
    expect({ ...value }).toStrictEqual({});
    expect({ ...readInput(UpdateDto, { city: ' x ' }).value }).toStrictEqual({ city: 'x' });
  });

  it.each([null, '', ' \t'])('clears an optional field with %j', (nothing) => {
    const { value, problems } = readInput(UpdateDto, { city: nothing });
    expect(problems).toEqual([]);
    expect({ ...value }).toStrictEqual({ city: null });
  });

  it.each(['name', 'kind', 'flag', 'count', 'tags', 'custom'])('rejects null for %s', (field) => {
    expect(faulty(readInput(UpdateDto, { [field]: null }))).toEqual([field]);
  });

  it('rejects a field that an update cannot change as unknown', () => {
    expect(faulty(readInput(FixedDto, { city: 'x' }))).toEqual(['city']);
    expect(readInput(FixedDto, { name: 'Ada' }).problems).toEqual([]);
  });
});

describe('hostile names and values (CVE-2019-18413, CVE-2020-7637)', () => {
  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'reports the unknown field %s and inherits nothing from it',
    (name) => {
      const { value, problems } = readInput(UpdateDto, parse(`{"${name}":{"city":"x"}}`));
      expect(problems.map(({ field }) => field)).toEqual([name]);
      expect(value.city).toBeUndefined();
      expect(Object.getPrototypeOf(value)).toBe(UpdateDto.prototype);
    },
  );

  it.each(['__proto__', 'constructor', 'prototype', 'then', 'toJSON', 'length'])(
    'keeps the key %s in an object of the caller, with any value and at any depth',
    (name) => {
      for (const held of ['"x"', '1', 'null', '[]', '{"prototype":{"x":1}}']) {
        const custom = `{"${name}":${held},"a":[{"${name}":${held}}]}`;
        const { value, problems } = readInput(UpdateDto, parse(`{"custom":${custom}}`));
        expect(problems).toEqual([]);
        expect(isDeepStrictEqual(value.custom, parse(custom))).toBe(true);
      }
    },
  );

  it.each(['name', 'city', 'kind', 'flag', 'count', 'tags'])(
    'refuses objects with such keys for %s',
    (field) => {
      for (const held of ['{"constructor":"x"}', '{"__proto__":[]}', '{"length":1,"0":"a"}']) {
        expect(faulty(readInput(UpdateDto, parse(`{"${field}":${held}}`)))).toEqual([field]);
      }
    },
  );

  it('does not read fields that the input only inherits', () => {
    const plain = Object.create({ city: 'x', nickname: 'y' }) as object;
    expect({ ...readInput(UpdateDto, plain).value }).toStrictEqual({});
    expect(readInput(UpdateDto, plain).problems).toEqual([]);
  });

  it('lists the allowed fields for the first unknown name', () => {
    const { problems } = readInput(FixedDto, { x: 1, city: 'x', y: 1 });
    expect(problems).toEqual([
      {
        field: 'x',
        message:
          'is unknown or cannot be set; the fields are name, kind, flag, count, tags, custom',
      },
      { field: 'city', message: 'cannot be changed' },
      { field: 'y', message: 'is unknown or cannot be set' },
    ]);
  });

  it('shortens unknown names and removes unprintable characters', () => {
    const plain = { ['x'.repeat(200)]: 1, 'a\nb\u202e': 1, '': 1, '\u0007': 1 };
    expect(faulty(readInput(UpdateDto, plain))).toEqual(['x'.repeat(100), 'ab', 'body', 'body']);
  });
});

describe('derived DTOs', () => {
  it('RecordOf has the id and every field, in order', () => {
    expect(namesOf(RecordOf(CreateDto))).toEqual(['id', ...namesOf(CreateDto)]);
  });

  it('UpdateOf has every field except the fixed ones', () => {
    expect(namesOf(UpdateDto)).toEqual(namesOf(CreateDto));
    expect(namesOf(FixedDto)).toEqual(namesOf(CreateDto).filter((name) => name !== 'city'));
  });

  it('PickOf reads its fields as those of the other DTO', () => {
    class PickedDto extends PickOf(CreateDto, ['name', 'city', 'count']) {}
    const { value, problems } = readInput(PickedDto, { name: 'Ada' });
    expect(problems).toEqual([]);
    expect({ ...value }).toStrictEqual({ name: 'Ada', count: 3 });
    expect(readInput(PickedDto, {}).problems).toEqual([{ field: 'name', message: 'is required' }]);
  });

  it('PickOf has the given fields in their order, and throws for unknown fields', () => {
    expect(namesOf(PickOf(CreateDto, ['kind', 'name']))).toEqual(['kind', 'name']);
    expect(() => PickOf(CreateDto, ['nickname' as 'name'])).toThrow('nickname');
  });
});
