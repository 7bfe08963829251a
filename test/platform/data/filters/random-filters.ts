// Records with unusual values, and filters of them, that are the same in each run.

import { Random } from '../../../support/random.js';

const TEXTS = [
  ...[
    'Ada',
    'ada',
    'Ädä',
    'Graz',
    'GRAZ',
    'Straße',
    'STRASSE',
    'O’Brien',
    "O'Brien",
    'a%b',
    'a_b',
    'a\\b',
  ],
  ...[
    'Γιώργος',
    'ΓΙΏΡΓΟΣ',
    'Жук',
    'Łukasz',
    'がく',
    'かく',
    '日本',
    'ＡＣＭＥ',
    '‘q’',
    '“q”',
    "x'; --",
    '$1',
  ],
  ...[
    'a  b',
    'a\tb',
    'Jean\u200bLuc',
    'é',
    'e\u0301',
    '😀',
    '01234',
    '٣٤',
    'true',
    'null',
    '{}',
    '-',
  ],
];
const ZIPS = ['8010', '8020', '80-10', '٨٠', 'A 80', '94607'];
const STATUSES = ['new', 'New', 'won', 'a%', 'élan'];
const TAGS = ['roof', 'ROOF', 'Straße', 'a%b', 'é', 'x_y', '日本', '-'];
const PHONES = ['+1 415 555 01', '(415) 555-01', '1-415-555-01'];
const TIMES = [
  ...[
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.001Z',
    '2026-03-29T02:30:00+02:00',
    '2026-06-30',
  ],
  ...['1999-12-31T23:59:59.999Z', '2031-05-05T05:05:05-11:30'],
];
const IDS = ['6f9619ff-8b86-4d01-b42d-00cf4fc964ff', '00000000-0000-4000-8000-000000000001'];
const CUSTOM = [
  ...[1, 1.5, 0, -3, 20, 2 ** 53, 1e-7, 0.1, '20', 'Graz', '', 'É', '\\', "'", true, false, null],
  ...[[], ['a'], {}, { a: 1 }],
];
const KEYS = ['a', 'a.b', "k'y", 'roof_age', 'ключ', '__proto__x', '%'];

export function randomLead(random: Random, index: number): object {
  const maybe = <T>(value: T) => (random.below(3) === 0 ? undefined : value);
  const custom = Array.from({ length: random.below(5) }, () => [
    random.of(KEYS),
    random.of(CUSTOM),
  ]);
  return {
    first_name: random.of(TEXTS),
    last_name: maybe(random.of(TEXTS)),
    company: maybe(random.of(TEXTS)),
    email: maybe(`${random.of(['Ada', 'élan', 'bob.x'])}${index}@Example.com`),
    phone: maybe(`${random.of(PHONES)}${String(10 + index)}`),
    city: maybe(random.of(TEXTS)),
    zip: maybe(random.of(ZIPS)),
    status: maybe(random.of(STATUSES)),
    temperature: maybe(random.of(['cold', 'warm', 'hot'])),
    source: maybe(random.of(['website', 'referral', 'other'])),
    tags: random.below(2) === 0 ? [] : random.some(TAGS, 3),
    sms_opted_out: random.below(2) === 0,
    custom_fields: Object.fromEntries(custom) as object,
    notes: maybe(random.of(TEXTS)),
    external_id: maybe(`x-${index}`),
  };
}

export function randomAppointment(random: Random, leadId: string): object {
  const start = random.of(TIMES.slice(0, 5));
  return {
    lead_id: leadId,
    start_time: start,
    end_time: '2032-01-01T00:00:00Z',
    type: random.of(TEXTS),
    location: random.below(2) === 0 ? undefined : random.of(TEXTS),
    status: random.of(['scheduled', 'confirmed', 'cancelled']),
  };
}

export function randomTask(random: Random, leadId: string | undefined): object {
  return {
    title: random.of(TEXTS),
    contact_id: leadId,
    status: random.of(['open', 'in_progress', 'completed']),
    priority: random.of(['low', 'high', 'urgent']),
    due_date: random.below(2) === 0 ? undefined : random.of(TIMES),
    assigned_to_user_id: random.below(2) === 0 ? undefined : random.of(IDS),
  };
}

type Operators = (random: Random) => readonly [operator: string, value: unknown];

const equality =
  (values: readonly unknown[]): Operators =>
  (random) => {
    const operator = random.of(['eq', 'ne', 'in', 'not_in', 'is_empty', 'null']);
    if (operator === 'is_empty') return [operator, random.below(2) === 0];
    if (operator === 'null') return ['eq', null];
    return [operator, operator.endsWith('in') ? random.some(values, 4) : random.of(values)];
  };
const order =
  (values: readonly unknown[]): Operators =>
  (random) =>
    random.below(2) === 0
      ? [random.of(['gt', 'gte', 'lt', 'lte']), random.of(values)]
      : equality(values)(random);
const search =
  (values: readonly string[], of = equality(values)): Operators =>
  (random) => {
    if (random.below(2) === 0) return of(random);
    const characters = Array.from(random.of(values));
    const start = random.below(characters.length);
    const part = characters
      .slice(start, start + 1 + random.below(4))
      .join('')
      .trim();
    return [random.of(['contains', 'starts_with']), part.replaceAll('\u200b', '') || 'a'];
  };
const tags: Operators = (random) => {
  const operator = random.of(['has', 'has_any', 'has_none', 'is_empty']);
  if (operator === 'is_empty') return [operator, random.below(2) === 0];
  return [operator, operator === 'has' ? random.of(TAGS) : random.some(TAGS, 3)];
};
const custom: Operators = (random) => {
  const [operator, value] = order(CUSTOM.filter((each) => typeof each !== 'object'))(random);
  if (!/^[gl]t/.test(operator)) return [operator, value];
  return [operator, typeof value === 'number' ? value : 19.5];
};
const phones: Operators = (random) =>
  random.below(2) === 0
    ? [random.of(['contains', 'starts_with']), random.of(['415', '+1 (415) 555', '0123', '٤'])]
    : equality(Array.from({ length: 20 }, (_, index) => `${PHONES[index % 3]}${10 + index}`))(
        random,
      );

const TIMES_OF_RECORDS = { created_at: order(TIMES), updated_at: order(TIMES) };
const FIELDS: Readonly<Record<string, Readonly<Record<string, Operators>>>> = {
  leads: {
    ...{ first_name: search(TEXTS), last_name: search(TEXTS), company: search(TEXTS) },
    ...{ city: search(TEXTS), zip: search(ZIPS), phone: phones, tags, notes: equality(TEXTS) },
    email: search(['ADA3@example.com', 'élan7@example.com', 'bob.x9@example.com']),
    status: equality(STATUSES),
    temperature: equality(['cold', 'warm', 'hot']),
    source: equality(['website', 'referral', 'other']),
    sms_opted_out: equality([true, false]),
    lead_score: order([0, 20, 39.5, 45, 2 ** 53, -(2 ** 53), 100]),
    external_id: equality(['x-1', 'x-2', 'x-30']),
    ...Object.fromEntries(KEYS.map((key) => [`custom_fields.${key}`, custom])),
    ...TIMES_OF_RECORDS,
  },
  appointments: {
    ...{ type: search(TEXTS), location: search(TEXTS), start_time: order(TIMES) },
    status: equality(['scheduled', 'confirmed', 'cancelled']),
    ...TIMES_OF_RECORDS,
  },
  tasks: {
    ...{ title: search(TEXTS), due_date: order(TIMES), assigned_to_user_id: equality(IDS) },
    status: equality(['open', 'in_progress', 'completed']),
    priority: equality(['low', 'high', 'urgent']),
    ...TIMES_OF_RECORDS,
  },
};

/** A filter of a kind of record, whose parts are nested up to a depth. */
export function randomFilter(random: Random, record: string, depth = 3, isRelated = false): object {
  const parts = Array.from({ length: 1 + random.below(2) }, (): [string, unknown] => {
    const kind = random.below(6);
    if (depth > 0 && kind === 0) {
      const inner = () => randomFilter(random, record, depth - 1, isRelated);
      return random.of<[string, unknown]>([
        ['or', [inner(), inner()]],
        ['and', [inner(), inner()]],
        ['not', inner()],
      ]);
    }
    if (depth > 0 && !isRelated && kind === 1) {
      if (record !== 'leads') return ['lead', randomFilter(random, 'leads', depth - 1, true)];
      const related = random.of(['tasks', 'appointments']);
      const inner = randomFilter(random, related, depth - 1, true);
      return [related, { [random.of(['some', 'none'])]: inner }];
    }
    const fields = FIELDS[record] ?? {};
    const name = random.of(Object.keys(fields));
    const [operator, value] = fields[name]?.(random) ?? [];
    return [
      name,
      operator === 'eq' && random.below(2) === 0 ? value : { [String(operator)]: value },
    ];
  });
  return Object.fromEntries(parts) as object;
}
