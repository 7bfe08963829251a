import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Nested } from '../nested.js';
import { EnumArray } from '../kinds/output-kinds.js';
import { PickOf, RecordOf, UpdateOf } from '../field.js';
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
} from '../kinds/kinds.js';
import { readInput } from '../input/read-input.js';
import { exampleOf, jsonSchemaOf } from './schema-of.js';

class CreateDto {
  @Text({ min: 2, max: 4, required: true, description: 'Its name.', example: 'Ada' }) name: string;
  @Text({ max: 3 }) text?: string | null;
  @OneOf(['a', 'b'], { default: 'a' }) word?: string;
  @OneOf(['a', 'b'], { example: 'b' }) choice?: string | null;
  @Phone() phone?: string | null;
  @Email() email?: string | null;
  @Uuid() uuid?: string | null;
  @Flag({ default: false }) flag?: boolean;
  @Integer({ min: 1, max: 9 }) integer?: number | null;
  @DateTime() from?: Date | null;
  @DateTime({ after: 'from', description: 'Its end.' }) to?: Date | null;
  @Tags() tags?: string[];
  @JsonObject({ description: 'Anything.' }) object?: Record<string, unknown>;
}

class UpdateDto extends UpdateOf(CreateDto, { fixed: ['text'] }) {}
class RecordDto extends RecordOf(CreateDto) {}
class ShortDto extends PickOf(RecordDto, ['id', 'name']) {}

class ReportDto {
  @Nested(ShortDto, { required: true }) subject: ShortDto;
  @EnumArray(['x', 'y'], { example: ['y'] }) words: readonly string[];
}

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
addFormats.default(ajv);

const takes = ajv.compile(jsonSchemaOf(CreateDto, 'input'));

const TEXT = { type: 'string', minLength: 1, maxLength: 3 };

describe('the JSON Schema of a DTO', () => {
  it('of a create has the required fields, the defaults, and null for optional fields', () => {
    expect(jsonSchemaOf(CreateDto, 'input')).toMatchObject({
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: {
        name: {
          type: 'string',
          minLength: 2,
          maxLength: 4,
          description: 'Its name.',
          examples: ['Ada'],
        },
        text: { ...TEXT, type: ['string', 'null'] },
        word: { type: ['string', 'null'], enum: ['a', 'b', null], default: 'a' },
        flag: { type: ['boolean', 'null'], default: false },
        tags: { type: ['array', 'null'], default: [] },
      },
    });
  });

  it('of an update has no required fields, and null only for fields without a default', () => {
    const { required, properties = {} } = jsonSchemaOf(UpdateDto, 'input');
    expect(required).toBeUndefined();
    expect(properties).not.toHaveProperty('text');
    expect(properties).toMatchObject({
      name: { type: 'string' },
      word: { type: 'string', enum: ['a', 'b'] },
      choice: { type: ['string', 'null'] },
      object: { type: 'object' },
    });
    expect(JSON.stringify(properties)).not.toContain('"default"');
  });

  it('of a record has every field, and null for unset fields', () => {
    const { required, properties = {} } = jsonSchemaOf(RecordDto, 'output');
    expect(required).toEqual(Object.keys(properties));
    expect(properties).toMatchObject({
      id: { type: 'string', format: 'uuid' },
      name: { type: 'string' },
      word: { type: 'string', enum: ['a', 'b'] },
      choice: { type: ['string', 'null'], enum: ['a', 'b', null] },
      tags: { type: 'array' },
    });
  });

  it('describes rules in words that JSON Schema cannot express', () => {
    const { to, object } = jsonSchemaOf(CreateDto, 'input').properties ?? {};
    expect(to?.description).toMatch(/^Its end\. It must be after from\. ISO 8601 .*\.$/);
    expect(object?.description).toMatch(
      /^Anything\. At most 32768 bytes as JSON and 8 levels deep\. Numbers at any depth .*\.$/,
    );
  });

  it('of a record has the format of times in responses', () => {
    const { from, to } = jsonSchemaOf(RecordDto, 'output').properties ?? {};
    expect(from).toEqual({ type: ['string', 'null'], format: 'date-time' });
    expect(to?.description).toBe('Its end. It must be after from.');
  });

  it('of a response can have lists of words, which inputs reject', () => {
    expect(jsonSchemaOf(ReportDto, 'output').properties).toMatchObject({
      subject: { type: 'object', required: ['id', 'name'] },
      words: { type: 'array', items: { enum: ['x', 'y'] }, uniqueItems: true },
    });
    const subject = { id: 'x', name: 'Ada' };
    const { problems } = readInput(ReportDto, { subject, words: ['x'] });
    expect(problems).toEqual([{ field: 'words', message: 'cannot be set' }]);
  });
});

describe('the example of a DTO', () => {
  it('has the examples of its fields', () => {
    expect(exampleOf(CreateDto, 'input')).toEqual({ name: 'Ada', choice: 'b' });
    expect(exampleOf(CreateDto, 'input', 'required fields')).toEqual({ name: 'Ada' });
  });

  it('leaves alternatives out of inputs', () => {
    class BookingDto {
      @Text({ max: 9, example: 'Room 2' }) place?: string | null;
      @Text({ max: 9, example: 'Ada', isAlternative: true }) person?: string | null;
    }
    expect(exampleOf(BookingDto, 'input')).toEqual({ place: 'Room 2' });
    expect(exampleOf(BookingDto, 'output')).toEqual({ place: 'Room 2', person: 'Ada' });
  });

  it('is undefined if a required field has no example', () => {
    expect(exampleOf(RecordDto, 'output')).toBeUndefined();
    expect(exampleOf(ShortDto, 'output')).toEqual({ id: expect.any(String), name: 'Ada' });
  });
});

/** Values for which schema and validation must agree. What only one of them refuses is omitted. */
const VALUES: Readonly<Record<keyof CreateDto, readonly unknown[]>> = {
  name: ['ab', 'abcd', '😀😀😀😀', 'a', 'abcde', '😀'.repeat(5), '    ', '', null, 1],
  text: ['a', 'abc', '😀😀😀', 'abcd', null, 1, {}, []],
  word: ['a', 'b', 'c', 'A', null, 1],
  choice: ['a', null, 'ab', true],
  phone: ['123', '+1 (2) 3', '1'.repeat(50), '12', '1'.repeat(51), '*123', null, 123],
  email: ['a@example.com', 'jörg@bücher.example', `a@${'b'.repeat(250)}.com`, 'ada', null, 1],
  uuid: ['01a1fbdf-c82e-7372-858e-5501a64880f1', '01a1fbdf', null, 1],
  flag: [true, false, null, 'true', 1],
  integer: [1, 9, 0, 10, 1.5, null, true],
  from: [
    '2026-01-31T09:30:00Z',
    '2026-01-31T09:30:00.123+05:30',
    '2026-01-31T09:30+0530',
    '2026-01-31T09:30:00.123456789',
    '2026-01-31',
    '2024-02-29',
    '2026-02-30T00:00:00Z',
    '2026-04-31',
    '2026-01-31T24:00:00Z',
    '2026-01-31 09:30:00Z',
    '2026-13-01',
    null,
    1,
  ],
  to: ['2026-01-31T09:30:00Z', 'tomorrow', null],
  tags: [
    [],
    ['a'],
    ['a'.repeat(50)],
    ['a'.repeat(51)],
    [''],
    [' '],
    [1],
    Array(51).fill('a'),
    null,
  ],
  object: [{}, { a: { b: [1] } }, { '': 1 }, { ['k'.repeat(101)]: 1 }, [], 'x', null],
};

describe('the JSON Schema of a field and its validation', () => {
  it.each(
    Object.entries(VALUES).flatMap(([name, values]) =>
      values.map((value) => [name, value] as const),
    ),
  )('agree on %s: %j', (name, value) => {
    const input = { name: 'Ada', [name]: value };
    const { problems } = readInput(CreateDto, input);
    expect(takes(input)).toBe(problems.length === 0);
  });
});
