import type { Answer } from '../../../src/testing/api-client.js';
import { createLead, dataOf, expectInvalid } from '../../../src/testing/factories.js';
import { TestServer } from '../../../src/testing/test-server.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { shareOf } from '../../support/share-of.js';

let app: TestServer;
let tenant: Tenant;
let leadId: string;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  leadId = (await createLead(tenant.api)).id;
});

type Fields = Record<string, unknown>;

const USER = 'A1B2C3D4-0000-4000-8000-00000000000f';

/** The two resources with their fields (docs/contract/resources.md). */
const RESOURCES = [
  {
    name: 'appointments',
    path: '/api/v1/appointments',
    minimal: () => ({
      lead_id: leadId,
      start_time: '2026-05-04T09:00:00Z',
      end_time: '2026-05-04T10:00:00Z',
    }),
    texts: { type: 100, location: 500, notes: 5000, outcome: 100, outcome_notes: 5000 },
    words: { status: ['scheduled', 'confirmed', 'completed', 'cancelled', 'no_show'] },
    uuids: ['lead_id'],
    times: ['start_time', 'end_time'],
    required: ['lead_id', 'start_time', 'end_time'],
    defaults: { status: 'scheduled' },
    clearable: ['type', 'location', 'notes', 'outcome', 'outcome_notes'],
    readOnly: ['id', 'organization_id', 'booked_by', 'created_at', 'updated_at'],
    answered: () => ({
      organization_id: tenant.id,
      lead_id: leadId,
      start_time: '2026-05-04T09:00:00.000Z',
      end_time: '2026-05-04T10:00:00.000Z',
      type: null,
      location: null,
      notes: null,
      status: 'scheduled',
      booked_by: 'api',
      outcome: null,
      outcome_notes: null,
      resource_id: null,
      remind_before_minutes: null,
    }),
  },
  {
    name: 'tasks',
    path: '/api/v1/tasks',
    minimal: () => ({ title: 'Call' }),
    texts: { title: 500, description: 5000 },
    words: {
      priority: ['low', 'medium', 'high', 'urgent'],
      status: ['open', 'in_progress', 'completed', 'cancelled'],
    },
    uuids: ['contact_id', 'assigned_to_user_id'],
    times: ['due_date'],
    required: ['title'],
    defaults: { priority: 'medium', status: 'open' },
    clearable: ['description', 'due_date', 'contact_id', 'assigned_to_user_id'],
    readOnly: [
      'id',
      'organization_id',
      'created_by_user_id',
      'created_by_ai',
      'created_at',
      'updated_at',
    ],
    answered: () => ({
      organization_id: tenant.id,
      title: 'Call',
      description: null,
      priority: 'medium',
      status: 'open',
      due_date: null,
      contact_id: null,
      assigned_to_user_id: null,
      created_by_user_id: null,
      created_by_ai: false,
    }),
  },
];

const NOT_STRINGS = [5, true, [], ['x'], {}, { $ne: null }];

const BAD_TIMES = [
  '2026-02-30',
  '2026-01-01T24:00:00Z',
  '0000-01-01',
  '10000-01-01',
  '+275760-09-13',
  '2026-01-01T10:00:60Z',
  'infinity',
  'tomorrow',
  '1767225600',
  '2026-01-01T10:00:00+25:00',
  `2026-01-01T10:00:00.${'1'.repeat(40)}Z`,
  '2026-W01-1',
];

describe.each(RESOURCES)('$name', (resource) => {
  const post = (fields: Fields) =>
    tenant.api.post(resource.path, { ...resource.minimal(), ...fields });
  const create = async (fields: Fields = {}) => dataOf<Fields>(await post(fields), 201);
  const put = (id: unknown, changes: Fields) => tenant.api.put(`${resource.path}/${id}`, changes);
  const update = async (id: unknown, changes: Fields) => dataOf<Fields>(await put(id, changes));
  const both = async (field: string, value: unknown): Promise<Answer[]> => {
    return [await post({ [field]: value }), await put(refusing, { [field]: value })];
  };
  /** A record for updates that are refused, which change nothing. */
  let refusing: unknown;
  beforeAll(async () => {
    refusing = (await create()).id;
  });

  it('is created from its required fields and returned with every field, null or default if unset', async () => {
    const answer = await post({});
    const record = dataOf<Fields>(answer, 201);
    const { id, created_at, updated_at } = record;
    expect(record).toStrictEqual({ id, ...resource.answered(), created_at, updated_at });
    expect(created_at).toBe(updated_at);
    expect(answer.headers.get('location')).toBe(`${resource.path}/${id}`);
    expect(dataOf(await tenant.api.get(`${resource.path}/${id}`))).toStrictEqual(record);
    const { body } = await tenant.api.get(`${resource.path}?limit=100`);
    expect(body.data).toContainEqual(record);
  });

  it.each(resource.required)('is rejected without %s and with null for it', async (field) => {
    expectInvalid(await tenant.api.post(resource.path, omit(resource.minimal(), field)), field);
    for (const answer of await both(field, null)) {
      expect([answer.status, answer.body.error.details[0].field]).toEqual([400, field]);
    }
  });

  const texts = Object.entries(resource.texts).map(
    ([field, max], index) => [field, max, index] as const,
  );
  describe.each(texts)('%s', (field, max, index) => {
    it(`accepts up to ${max} characters, counted in code points`, async () => {
      const longest = '🦊'.repeat(max);
      expect((await create({ [field]: longest }))[field]).toBe(longest);
      for (const answer of await both(field, `${longest}x`)) expectInvalid(answer, field);
    });

    it('is trimmed and otherwise returned unchanged', async () => {
      const odd = `<script>'; DROP \u202e\u200b \${x} %s é`;
      expect((await create({ [field]: ` \t${odd}\n ` }))[field]).toBe(odd);
    });

    const notStrings = shareOf(NOT_STRINGS, index, 2).map((value) => [value]);
    it.each(notStrings)('rejects %j', async (value) => {
      for (const answer of await both(field, value)) expectInvalid(answer, field);
    });

    it('rejects NUL and lone surrogates', async () => {
      for (const value of ['a\\u0000b', '\\ud800']) {
        const body = JSON.stringify({ ...resource.minimal(), [field]: '@' }).replace('@', value);
        expectInvalid(await tenant.api.post(resource.path, body), field);
      }
    });
  });

  describe.each(Object.entries(resource.words))('%s', (field, words) => {
    it('accepts each of its values on create and on update', async () => {
      const { id } = await create();
      for (const word of words) {
        expect((await create({ [field]: word }))[field]).toBe(word);
        expect((await update(id, { [field]: word }))[field]).toBe(word);
      }
    });

    it.each(['nonsense', 'OPEN', ...NOT_STRINGS])('rejects %j', async (value) => {
      for (const answer of await both(field, value)) expectInvalid(answer, field);
    });
  });

  it.each(resource.uuids)('%s must be a UUID', async (field) => {
    for (const value of [
      'x',
      '{00000000-0000-4000-8000-000000000000}',
      'a'.repeat(32),
      7,
      [],
      {},
    ]) {
      expectInvalid(await post({ [field]: value }), field);
    }
  });

  const times = resource.times.map((field, index) => [field, index] as const);
  describe.each(times)('%s', (field, index) => {
    it.each([
      ['2023-02-29', 'must have a day that exists; 2023 is not a leap year'],
      ['2026-05-04T24:00', 'must have an hour from 00 to 23; 24:00 is 00:00 of the next day'],
      ['2026-05-04T09:30:00.1234567891Z', 'must have at most 9 fractional digits'],
      ['05/04/2026', expect.stringContaining('a date is written as year-month-day')],
    ])('says what is wrong with %s', async (value, message) => {
      for (const answer of await both(field, value)) {
        expect(answer.body.error.details).toEqual([{ field, message }]);
      }
    });

    it.each([
      ['2026-05-04T09:30:00+05:30', '2026-05-04T04:00:00.000Z'],
      ['2026-05-04T09:30', '2026-05-04T09:30:00.000Z'],
      ['2026-05-04t09:30:00.5z', '2026-05-04T09:30:00.500Z'],
      ['2026-05-04t09:30:00+05:30', '2026-05-04T04:00:00.000Z'],
      ['2026-05-04', '2026-05-04T00:00:00.000Z'],
      ['2026-05-04T09:30:00.123456Z', '2026-05-04T09:30:00.123Z'],
    ])('stores %s as %s', async (given, answered) => {
      const others =
        field === 'end_time' ? { start_time: '2000-01-01' } : { end_time: '2100-01-01' };
      const fields = resource.name === 'tasks' ? {} : others;
      expect((await create({ ...fields, [field]: given }))[field]).toBe(answered);
    });

    const badTimes = [...BAD_TIMES, 1767225600, true, [], {}];
    it.each(shareOf(badTimes, index, 8))('rejects %j', async (value) => {
      for (const answer of await both(field, value)) expectInvalid(answer, field);
    });
  });

  it.each(resource.clearable)('%s is cleared by null and by an empty string', async (field) => {
    for (const empty of [null, '', '  ']) {
      const { id } = await create(await someValueOf(field));
      expect((await update(id, { [field]: empty }))[field]).toBeNull();
      expect((await create({ [field]: empty }))[field]).toBeNull();
    }
  });

  it.each(Object.entries(resource.defaults))(
    '%s defaults to %j on create and cannot be cleared by an update',
    async (field, value) => {
      const record = await create({ [field]: null });
      expect(record[field]).toBe(value);
      expectInvalid(await put(record.id, { [field]: null }), field);
      expectInvalid(await put(record.id, { [field]: '' }), field);
    },
  );

  it.each(['nonsense', '__proto__', 'constructor', ...resource.readOnly])(
    'rejects and names the unknown or read-only field %s',
    async (field) => {
      const body = JSON.stringify({ ...resource.minimal(), '@': 'x' }).replace('"@"', `"${field}"`);
      expectInvalid(await tenant.api.post(resource.path, body), field);
      expectInvalid(
        await tenant.api.put(`${resource.path}/${refusing}`, `{"${field}":"x"}`),
        field,
      );
    },
  );

  it('names every invalid field in one error', async () => {
    const wrong = Object.fromEntries(Object.keys(resource.texts).map((field) => [field, 5]));
    expectInvalid(await post({ ...wrong, status: 'x' }), ...Object.keys(wrong), 'status');
  });

  it('changes only the fields provided, and not updated_at if no value differs', async () => {
    const [text] = Object.keys(resource.texts) as [string];
    const record = await create();
    expect(await update(record.id, {})).toStrictEqual(record);
    expect(await update(record.id, { [text]: record[text] ?? '' })).toStrictEqual(record);
    const changed = await update(record.id, { [text]: 'other' });
    expect(changed).toStrictEqual({ ...record, [text]: 'other', updated_at: changed.updated_at });
    expect(String(changed.updated_at) > String(record.updated_at)).toBe(true);
  });

  it('increases updated_at with every change, even of concurrent updates', async () => {
    const [text] = Object.keys(resource.texts) as [string];
    const { id } = await create();
    const updates = Array.from({ length: 20 }, (_, n) => update(id, { [text]: `v${n}` }));
    const times = (await Promise.all(updates)).map(({ updated_at }) => updated_at);
    expect(new Set(times).size).toBe(20);
  });

  async function someValueOf(field: string): Promise<Fields> {
    if (field === 'contact_id') return { contact_id: (await createLead(tenant.api)).id };
    if (field === 'assigned_to_user_id') return { assigned_to_user_id: USER };
    if (field === 'due_date') return { due_date: '2026-05-04' };
    return { [field]: 'something' };
  }
});

function omit(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}
