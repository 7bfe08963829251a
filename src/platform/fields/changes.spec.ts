import { changedFields } from './changes.js';

const STORED = {
  name: 'Ada' as string | null,
  city: null as string | null,
  score: 0,
  optedOut: false,
  at: new Date('2026-01-01T00:00:00.000Z') as Date | null,
  tags: ['a', 'b'],
  custom: { b: { d: [1, 2], c: 'x' }, a: 0.1 } as Record<string, unknown>,
};

describe('changedFields', () => {
  it.each<[string, Partial<typeof STORED>]>([
    ['nothing', {}],
    ['everything that is stored', STORED],
    ['fields that are undefined', { name: undefined, tags: undefined }],
    ['null for null', { city: null }],
    ['another Date of the same instant', { at: new Date('2026-01-01T00:00:00.000Z') }],
    ['an equal array', { tags: ['a', 'b'] }],
    [
      'the same object with its keys in another order',
      { custom: { a: 0.1, b: { c: 'x', d: [1, 2] } } },
    ],
  ])('returns nothing for %s', (_, update) => {
    expect(changedFields(STORED, update)).toBeUndefined();
  });

  it.each<[string, Partial<typeof STORED>]>([
    ['another string', { name: 'ada' }],
    ['null for a string', { name: null }],
    ['a string for null', { city: 'Paris' }],
    ['an empty text for null', { city: '' }],
    ['another number', { score: 1 }],
    ['another flag', { optedOut: true }],
    ['another instant', { at: new Date('2026-01-01T00:00:00.001Z') }],
    ['null for an instant', { at: null }],
    ['another order of an array', { tags: ['b', 'a'] }],
    ['a shorter array', { tags: ['a'] }],
    ['a longer array', { tags: ['a', 'b', 'b'] }],
    ['an empty array', { tags: [] }],
    ['a missing key', { custom: { a: 0.1 } }],
    ['one more key', { custom: { ...STORED.custom, z: null } }],
    ['another order in an inner array', { custom: { a: 0.1, b: { c: 'x', d: [2, 1] } } }],
    ['a number as text', { custom: { ...STORED.custom, a: '0.1' } }],
  ])('returns the change of %s', (_, update) => {
    expect(changedFields(STORED, update)).toEqual(update);
  });

  it('returns only the changed fields', () => {
    const update = { ...STORED, name: 'Grace', tags: ['a', 'b'] };
    expect(changedFields(STORED, update)).toEqual({ name: 'Grace' });
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'detects a change of a key named %s',
    (name) => {
      const parse = (value: number) =>
        JSON.parse(`{"${name}":{"a":${value}}}`) as Record<string, unknown>;
      const stored = { custom: parse(1) };
      expect(changedFields(stored, { custom: parse(1) })).toBeUndefined();
      expect(changedFields(stored, { custom: parse(2) })).toBeDefined();
      expect(changedFields(stored, { custom: {} })).toBeDefined();
      expect(changedFields({ custom: {} }, stored)).toBeDefined();
    },
  );

  it('treats 0 and -0 as equal', () => {
    expect(changedFields({ custom: { a: 0 } }, { custom: { a: -0 } })).toBeUndefined();
  });
});
