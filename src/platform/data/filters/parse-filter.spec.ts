import { fieldsOf, RecordOf } from '../../fields/field.js';
import {
  Email,
  Flag,
  Integer,
  JsonObject,
  OneOf,
  Phone,
  Tags,
  Text,
  Uuid,
} from '../../fields/kinds/kinds.js';
import { CreatedAt } from '../../fields/kinds/record-fields.js';
import { type FilterField, filterTargetOf, relate } from './filter-target.js';
import { readFilter, scopesOfFilter } from './parse-filter.js';
import { withDefinitions } from './with-definitions.js';

class CreateBoatDto {
  @Text({ max: 50, required: true }) name: string;
  @Text({ max: 50 }) berth?: string | null;
  @OneOf(['sail', 'motor']) type?: 'sail' | 'motor';
  @Integer({ min: 0, max: 100, required: true }) length: number;
  @Flag({ default: false }) is_sold?: boolean;
  @Email() email?: string | null;
  @Phone() phone?: string | null;
  @Tags() tags?: string[];
  @JsonObject() custom_fields?: object;
}
class BoatDto extends RecordOf(CreateBoatDto) {
  @CreatedAt() created_at: Date;
}
class TripDto {
  @Uuid() boat_id?: string | null;
  @Text({ max: 50 }) to?: string | null;
}

const BOATS = filterTargetOf('boats', BoatDto, {
  searchable: ['name', 'email', 'phone'],
  customFields: 'custom_fields',
});
const TRIPS = filterTargetOf('trips', TripDto, { searchable: [] });
relate({ from: TRIPS, to: BOATS, column: 'boat_id', one: 'boat' });

const read = (given: unknown, target = BOATS) => readFilter(given, { target, hasRelations: true });

/** The filter as nested arrays, without paths. */
function shapeOf(node: unknown): unknown {
  const { kind, filters, filter, field, operator, value, given, relation } = node as Readonly<
    Record<string, unknown>
  >;
  if (filters) return [kind, ...(filters as unknown[]).map(shapeOf)];
  if (relation) return [(relation as FilterField).name, shapeOf(filter)];
  if (filter) return [kind, shapeOf(filter)];
  return [(field as FilterField).name, operator, value ?? given];
}

describe('readFilter', () => {
  it.each<[unknown, unknown]>([
    [{ berth: 'A1' }, ['berth', 'eq', 'A1']],
    [{ berth: { ne: 'A1' } }, ['not', ['berth', 'eq', 'A1']]],
    [{ berth: { in: ['A1', 'A2'] } }, ['berth', 'in', ['A1', 'A2']]],
    [{ berth: { not_in: ['A1'] } }, ['not', ['berth', 'in', ['A1']]]],
    [{ berth: null }, ['berth', 'is_empty', true]],
    [{ berth: { eq: null } }, ['berth', 'is_empty', true]],
    [{ berth: { ne: null } }, ['not', ['berth', 'is_empty', true]]],
    [{ tags: null }, ['tags', 'is_empty', true]],
    [{ custom_fields: null }, ['custom_fields', 'is_empty', true]],
    [{ berth: { is_empty: false } }, ['not', ['berth', 'is_empty', true]]],
    [{ berth: ' ' }, ['berth', 'eq', ' ']],
    [{ type: 'sail', is_sold: true }, ['and', ['type', 'eq', 'sail'], ['is_sold', 'eq', true]]],
    [{ length: { gte: 5, lt: 200 } }, ['and', ['length', 'gte', 5], ['length', 'lt', 200]]],
    [{ name: { contains: 'ÉLAN  ' } }, ['name', 'contains', 'elan ']],
    [{ phone: { starts_with: '+1 (415)' } }, ['phone', 'starts_with', '1415']],
    [{ phone: '+1 (415) 555' }, ['phone', 'eq', '+1 (415) 555']],
    [{ tags: { has: 'Old' } }, ['tags', 'has_any', ['Old']]],
    [{ tags: { has_none: ['a', 'b'] } }, ['not', ['tags', 'has_any', ['a', 'b']]]],
    [
      { id: 'A1A1FBDE-995E-72A3-A032-AB1C988B9794' },
      ['id', 'eq', 'a1a1fbde-995e-72a3-a032-ab1c988b9794'],
    ],
    [
      { not: { or: [{ berth: 'A' }, { berth: 'B' }] } },
      ['not', ['or', ['berth', 'eq', 'A'], ['berth', 'eq', 'B']]],
    ],
    [{ and: [{ berth: 'A' }] }, ['berth', 'eq', 'A']],
    [{ trips: { some: { to: 'Graz' } } }, ['trips', ['to', 'eq', 'Graz']]],
    [{ trips: { none: { to: 'Graz' } } }, ['not', ['trips', ['to', 'eq', 'Graz']]]],
    [{ 'custom_fields.a.b': { gte: 20 } }, ['custom_fields.a.b', 'gte', 20]],
    [{ custom_fields: { is_empty: true } }, ['custom_fields', 'is_empty', true]],
  ])('reads %j', (given, shape) => {
    const { filter, problems } = read(given);
    expect(problems).toEqual([]);
    expect(shapeOf(filter)).toEqual(shape);
  });

  it('reads a relation to one record', () => {
    const { filter } = read({ boat: { name: 'Ada' } }, TRIPS);
    expect(shapeOf(filter)).toEqual(['boat', ['name', 'eq', 'Ada']]);
    expect(filter && scopesOfFilter(filter)).toEqual(['boats:read']);
  });

  it.each([
    ['eq', '2026-01-31T09:30:00.0004Z', '2026-01-31T09:30:00.000Z'],
    ['gt', '2026-01-31T09:30:00.0004Z', '2026-01-31T09:30:00.000Z'],
    ['gte', '2026-01-31T09:30:00.0004Z', '2026-01-31T09:30:00.001Z'],
    ['lt', '2026-01-31T09:30:00.0004Z', '2026-01-31T09:30:00.001Z'],
    ['lte', '2026-01-31T09:30:00.0004Z', '2026-01-31T09:30:00.000Z'],
    ['lt', '2026-01-31', '2026-01-31T00:00:00.000Z'],
  ])('rounds a time of %s so that the operator is exact: %s', (operator, time, rounded) => {
    const { filter } = read({ created_at: { [operator]: time } });
    expect(shapeOf(filter)).toEqual(['created_at', operator, new Date(rounded)]);
  });

  it('has no filter without conditions', () => {
    expect(read({})).toEqual({ problems: [] });
  });

  const NOT = (levels: number): unknown =>
    levels === 0 ? { berth: 'A' } : { not: NOT(levels - 1) };
  const many = (count: number) => ({ or: Array.from({ length: count }, () => ({ berth: 'A' })) });
  const FIELDS = namesOfBoats();

  it.each<[unknown, string, string | RegExp]>([
    [5, 'filter', /^must be an object/],
    [[], 'filter', /^must be an object/],
    [
      { colour: 'red' },
      'filter.colour',
      `is unknown; the fields are ${FIELDS}, custom_fields.KEY, the relations are trips, and and, or, not join filters`,
    ],
    [JSON.parse('{"__proto__":{"eq":1}}'), 'filter.__proto__', /^is unknown/],
    [{ constructor: 1 }, 'filter.constructor', /^is unknown/],
    [{ 'custom_fields.': 1 }, 'filter.custom_fields.', /^is unknown/],
    [
      { berth: { like: 'A' } },
      'filter.berth.like',
      'is no operator of berth; its operators are eq, ne, in, not_in, is_empty',
    ],
    [{ berth: { contains: 'A' } }, 'filter.berth.contains', /^is no operator/],
    [{ berth: { gt: 'A' } }, 'filter.berth.gt', /^is no operator/],
    [
      { tags: 'old' },
      'filter.tags',
      'is no operator of tags; its operators are has, has_any, has_none, is_empty',
    ],
    [{ berth: {} }, 'filter.berth', 'must not be empty'],
    [{ berth: 5 }, 'filter.berth', 'must be a string'],
    [{ berth: ['A'] }, 'filter.berth', /^must be a string; a list needs in/],
    [{ berth: { in: [] } }, 'filter.berth.in', 'must have at least one value'],
    [{ berth: { in: 'A' } }, 'filter.berth.in', 'must be an array of values'],
    [{ berth: { in: ['A', null] } }, 'filter.berth.in[1]', 'must be a string'],
    [{ berth: { in: Array(101).fill('A') } }, 'filter.berth.in', 'must have at most 100 values'],
    [{ berth: { is_empty: 'yes' } }, 'filter.berth.is_empty', 'must be true or false'],
    [{ berth: '\ud800' }, 'filter.berth', /NUL or unpaired surrogates/],
    [{ type: 'boat' }, 'filter.type', 'must be one of sail, motor'],
    [{ type: { in: ['sail', 'Sail'] } }, 'filter.type.in[1]', 'must be one of sail, motor'],
    [{ length: '5' }, 'filter.length', 'must be a number'],
    [{ length: { gt: null } }, 'filter.length.gt', 'must be a number'],
    [{ is_sold: 'true' }, 'filter.is_sold', 'must be true or false'],
    [{ id: 'x' }, 'filter.id', 'must be a UUID'],
    [{ created_at: { gt: '2026-02-30' } }, 'filter.created_at.gt', /day that exists/],
    [{ created_at: { gt: 5 } }, 'filter.created_at.gt', 'must be a string'],
    [{ name: { contains: '' } }, 'filter.name.contains', 'must not be empty'],
    [{ name: { contains: '\u00ad' } }, 'filter.name.contains', 'must not be empty'],
    [{ phone: { contains: 'x' } }, 'filter.phone.contains', 'must have a digit'],
    [{ tags: { has: '' } }, 'filter.tags.has', 'must not be empty'],
    [{ or: [] }, 'filter.or', 'must not be empty'],
    [{ or: {} }, 'filter.or', 'must be an array of filters'],
    [{ or: [{ name: 'A' }, {}] }, 'filter.or[1]', 'must not be empty'],
    [{ or: [{ name: 'A' }, 5] }, 'filter.or[1]', /^must be an object/],
    [{ not: {} }, 'filter.not', 'must not be empty'],
    [{ not: [] }, 'filter.not', /^must be an object/],
    [
      { or: [{ name: 'A' }, { name: { starts: 'B' } }] },
      'filter.or[1].name.starts',
      /^is no operator/,
    ],
    [{ trips: {} }, 'filter.trips', /^must be {"some": filter}/],
    [{ trips: { every: {} } }, 'filter.trips.every', /^is unknown; filter.trips must be {"some"/],
    [{ trips: { some: {} } }, 'filter.trips.some', 'must not be empty'],
    [
      { trips: { some: { boat: {} } } },
      'filter.trips.some.boat',
      /^is unknown; the fields are boat_id, to, and and, or/,
    ],
    [NOT(4), 'filter.not.not.not.not', /^is nested too deep; .* 3 levels/],
    [
      { and: [{ or: [{ not: { trips: { some: { to: 'A' } } } }] }] },
      'filter.and[0].or[0].not.trips',
      /too deep/,
    ],
    [
      { trips: { some: { and: [{ or: [{ not: { to: 'A' } }] }] } } },
      'filter.trips.some.and[0].or[0].not',
      /too deep/,
    ],
    [many(26), 'filter.or[25].berth', 'is beyond the limit of 25 conditions'],
    [
      {
        berth: {
          eq: 'A',
          ...Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`op${at}`, 1])),
        },
      },
      'filter.berth.op24',
      'is beyond the limit of 25 conditions',
    ],
  ])('refuses %j at %s', (given, field, message) => {
    const { filter, problems } = read(given);
    const found = problems.find((problem) => problem.field === field);
    expect(filter).toBeUndefined();
    expect(problems).toContainEqual(found);
    expect(found?.message).toMatch(message);
  });

  it('reads three levels and 25 conditions', () => {
    expect(read(NOT(3)).problems).toEqual([]);
    expect(read(many(25)).problems).toEqual([]);
  });

  it('reports all problems, and no more than an answer can have', () => {
    expect(read({ a: 1, b: 2, name: { x: 1 } }).problems).toHaveLength(3);
    const wide = { or: Array.from({ length: 5000 }, () => 5) };
    expect(read(wide).problems.length).toBeLessThan(30);
  });
});

describe('withDefinitions', () => {
  const key = (name: string, kind: FilterField['kind'], more: Partial<FilterField> = {}) =>
    [
      name,
      { name: `custom_fields.${name}`, kind, column: 'custom_fields', key: name, ...more },
    ] as const;
  const defined = new Map<string, FilterField>([
    key('age', 'number'),
    key('roof', 'one_of', { values: ['slate', 'tile'] }),
    key('colours', 'options', { values: ['red', 'blue'] }),
    key('built', 'date'),
    key('seen', 'time'),
  ]);
  const typed = (filter: object) => {
    const { filter: untyped, problems } = read(filter);
    expect(problems).toEqual([]);
    return untyped && withDefinitions(untyped, defined);
  };

  it.each<[string, unknown, unknown]>([
    ['age', { gte: 5 }, ['custom_fields.age', 'gte', 5]],
    ['roof', 'slate', ['custom_fields.roof', 'eq', 'slate']],
    ['colours', { has: 'red' }, ['custom_fields.colours', 'has_any', ['red']]],
    ['built', { lt: '2026-01-31' }, ['custom_fields.built', 'lt', '2026-01-31']],
    ['seen', { lt: '2026-01-31' }, ['custom_fields.seen', 'lt', new Date('2026-01-31')]],
    ['other', { ne: 5 }, ['not', ['custom_fields.other', 'eq', 5]]],
    ['other', { in: ['5', 5, true, ''] }, ['custom_fields.other', 'in', ['5', 5, true, '']]],
    ['colours', null, ['custom_fields.colours', 'is_empty', true]],
    ['other', null, ['custom_fields.other', 'is_empty', true]],
  ])('reads a condition on %s: %j', (name, given, shape) => {
    expect(shapeOf(typed({ [`custom_fields.${name}`]: given }))).toEqual(shape);
  });

  it.each<[string, unknown, string, string]>([
    ['age', '5', '', 'must be a number'],
    [
      'age',
      { has: 5 },
      '.has',
      'is no operator of custom_fields.age; its operators are eq, ne, in, not_in, gt, gte, lt, lte, is_empty',
    ],
    ['roof', { ne: 'straw' }, '.ne', 'must be one of slate, tile'],
    ['colours', { has_none: ['red', 'green'] }, '.has_none[1]', 'must be one of red, blue'],
    ['built', { gt: '2026-02-30' }, '.gt', 'must be a date such as 2026-01-31'],
    ['other', { gt: 'x' }, '.gt', 'must be a number'],
    [
      'other',
      { contains: 'x' },
      '.contains',
      'is no operator of custom_fields.other; its operators are eq, ne, in, not_in, gt, gte, lt, lte, is_empty',
    ],
    ['other', { eq: [] }, '.eq', 'must be a string, a number, or true or false'],
    [
      'other',
      { like: 5 },
      '.like',
      'is no operator of custom_fields.other; its operators are eq, ne, in, not_in, gt, gte, lt, lte, is_empty',
    ],
  ])('refuses a condition on %s: %j', (name, given, path, message) => {
    const field = `filter.or[1].custom_fields.${name}${path}`;
    const filter = { or: [{ name: 'A' }, { [`custom_fields.${name}`]: given }] };
    expect(() => typed(filter)).toThrow(
      expect.objectContaining({ code: 'validation_error', details: [{ field, message }] }),
    );
  });
});

function namesOfBoats(): string {
  return fieldsOf(BoatDto)
    .map(({ name }) => name)
    .join(', ');
}
