import type { Field } from '../../src/platform/fields/field.js';

/** @returns values to send to a field of any kind */
export function anyValues(): unknown[] {
  const wrong = [0, 1, -1, 1.5, 2 ** 53, 1e21, true, false, [], ['a'], [null], {}, { a: 1 }];
  const texts = ['', ' ', '\t\n', '\u00a0', 'nonsense', 'null', 'true', '0', '😀', 'A\0', '\ud800'];
  return [null, ...wrong, ...texts];
}

/**
 * @param leadId the id of an existing lead, for the fields that refer to a lead
 * @returns valid and invalid values at the bounds of the field's schema
 */
export function boundaryValuesOf({ name, schema }: Field, leadId: string): unknown[] {
  const refersToLead = name === 'lead_id' || name === 'contact_id';
  const examples = refersToLead ? [leadId] : (schema.examples ?? []);
  const texts = [...examples, ...(schema.enum ?? [])].filter((value) => typeof value === 'string');
  const altered = texts.flatMap((text) => [` ${text}\n`, text.toUpperCase(), text.toLowerCase()]);
  return [
    ...examples,
    ...(schema.enum ?? []),
    ...altered,
    ...lengths(schema.maxLength),
    ...(schema.format === 'uuid' ? UUIDS : []),
    ...(schema.format === 'date-time' ? DATE_TIMES : []),
    ...(schema.format === 'email' ? EMAILS : []),
    ...(name === 'phone' ? PHONES : []),
    ...(schema.type === 'array' ? LISTS : []),
    ...(schema.type === 'object' ? OBJECTS : []),
    ...(schema.type === 'integer' ? integers(schema.minimum!, schema.maximum!) : []),
  ];
}

function lengths(max: number | undefined): string[] {
  if (max === undefined) return [];
  return [max, max + 1].flatMap((n) => ['x'.repeat(n), '😀'.repeat(n), ` ${'y'.repeat(n)} `]);
}

function integers(min: number, max: number): unknown[] {
  return [min, max, min - 1, max + 1, '007', '1e1', '+1', '1.0', '0x1', ' 5'];
}

const UUIDS = [
  'a1fbde',
  '01A1FBDE-995E-72A3-A032-AB1C988B979G',
  '{01a1fbde-995e-72a3-a032-ab1c988b9794}',
  '01a1fbde995e72a3a032ab1c988b9794',
  '00000000-0000-0000-0000-000000000000',
];

const DATE_TIMES = [
  ...['2026-03-02', '2026-03-02T09:30', '2026-03-02T09:30:15.1234567Z', '2026-03-02T09:30+05:30'],
  ...['2026-02-30', '2026-02-30T10:00:00Z', '2025-02-29T10:00Z', '2026-13-01', '2026-03-02T24:00Z'],
  ...['2026-W10-1', '2026-061', '20260302T093000Z', '2026-03-02 09:30:00Z', '2026-03-02t09:30:00z'],
  ...['2026-03-02T09:30:60Z', '0000-01-01', '0001-01-01', '10000-01-01', '+010000-01-01T00:00:00Z'],
  ...['1772442600000', 'tomorrow', '9999-12-31T23:59:59.999Z', '0001-01-01T00:00:00+01:00'],
];

const EMAILS = ['ada', 'ada@', '@example.com', 'a b@example.com', 'ada@localhost', 'ä@example.com'];
const PHONES = ['12', '123', '+-()', '1'.repeat(50), '1'.repeat(51), '415 555 0132 x9', '１２３'];

const LISTS = [
  ['a', ' a ', 'b', 'a'],
  [''],
  [' '],
  [1],
  [['a']],
  ['x'.repeat(50)],
  ['x'.repeat(51)],
  ['A\0'],
  Array.from({ length: 50 }, (_, i) => `t${i}`),
  Array.from({ length: 51 }, (_, i) => `t${i}`),
  Array<string>(51).fill('same'),
];

/** @returns an object with so many levels */
function deep(levels: number): Record<string, unknown> {
  return levels === 1 ? { leaf: 1 } : { in: deep(levels - 1) };
}

function withKeys(count: number): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
}

const OBJECTS = [
  deep(8),
  deep(9),
  withKeys(100),
  withKeys(101),
  { '': 1 },
  { ['k'.repeat(100)]: 1 },
  { ['k'.repeat(101)]: 1 },
  { text: 'x'.repeat(32 * 1024 - 11) },
  { text: 'x'.repeat(32 * 1024 - 10) },
  { n: 2 ** 53 },
  { n: 2 ** 53 + 2 },
  { n: [1e-7, -0, 1.7976931348623157e308] },
  { s: ' kept ', e: '', nothing: null, 'A\0': 1 },
  { s: ' kept ', e: '', nothing: null, flags: [true, false] },
  JSON.parse('{"__proto__":{"a":1},"constructor":1,"prototype":{"b":[]}}') as Record<
    string,
    unknown
  >,
];
