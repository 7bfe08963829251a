import { createLead, expectInvalid, getLead, LEADS } from '../../../src/testing/factories.js';
import { leadSuite, NOT_STRINGS } from '../../support/lead-suite.js';
import { shareOf } from '../../support/share-of.js';

const suite = leadSuite();
const { post, put, create, get, update } = suite;

/** Expects that creates and updates refuse a value. */
async function expectRefused(field: string, value: unknown): Promise<void> {
  expectInvalid(await post({ first_name: 'Ada', [field]: value }), field);
  expectInvalid(await put(refusing, { [field]: value }), field);
}

/** A lead for updates that are refused, which change nothing. */
let refusing: string;
beforeAll(async () => {
  refusing = (await create()).id;
});

/** One-line text fields and their maximum lengths. */
const TEXT_FIELDS = [
  ['first_name', 100],
  ['last_name', 100],
  ['company', 200],
  ['address_street', 200],
  ['city', 100],
  ['state', 2],
  ['zip', 10],
  ['status', 50],
  ['notes', 5000],
  ['external_id', 200],
] as const;

/** Kinds of characters, of which each field gets one, because all count their characters in one place. */
const CHARACTERS = [
  ['emoji', '😀'],
  ['ASCII', 'x'],
  ['combining marks', '\u0301'],
] as const;

describe('text fields', () => {
  const fields = TEXT_FIELDS.map(([field, max], index) => [field, max, index] as const);

  describe.each(fields)('%s of at most %d characters', (field, max, index) => {
    const body = (value: unknown) => ({ first_name: 'Ada', [field]: value });

    it.each(shareOf(CHARACTERS, index, 1))(
      `accepts ${max} code points of %s and rejects one more`,
      async (_, char) => {
        const longest = char.repeat(max);
        const lead = await create(body(longest));
        expect(lead[field]).toBe(longest);
        expectInvalid(await post(body(longest + char)), field);
        expectInvalid(await put(lead.id, { [field]: longest + char }), field);
      },
    );

    it('counts the characters after trimming', async () => {
      const lead = await create(body(` \t\n${'y'.repeat(max)}\r\n\u00a0\u0085\u200b`));
      expect(lead[field]).toBe('y'.repeat(max));
    });

    it('is also trimmed on update', async () => {
      const { id } = await create();
      expect((await update(id, { [field]: '\u2003ß \t' }))[field]).toBe('ß');
      expect((await get(id))[field]).toBe('ß');
    });

    it.each(shareOf(NOT_STRINGS, index, 3))('rejects %j', async (value) => {
      await expectRefused(field, value);
    });
  });

  it.each([
    ['NUL', String.raw`a\u0000b`],
    ['a lone high surrogate', String.raw`\ud83d`],
    ['a lone low surrogate', String.raw`a\ude00`],
    ['surrogates in the wrong order', String.raw`\ude00\ud83d`],
  ])('rejects %s in a value', async (_, escaped) => {
    expectInvalid(await post(`{"first_name":"${escaped}"}`), 'first_name');
    expectInvalid(await post(`{"first_name":"a","notes":"${escaped}"}`), 'notes');
    expectInvalid(await post(`{"first_name":"a","tags":["${escaped}"]}`), 'tags');
    expectInvalid(
      await post(`{"first_name":"a","custom_fields":{"a":["${escaped}"]}}`),
      'custom_fields',
    );
    expectInvalid(
      await post(`{"first_name":"a","custom_fields":{"b":{"${escaped}":1}}}`),
      'custom_fields',
    );
  });
});

describe('strings are returned with the same code points', () => {
  it.each([
    'مرحبا بالعالم',
    'a\u202eb\u202c',
    'zero\u200bwidth\u200d\ufeffjoin',
    'e\u0301 is not \u00e9',
    'Z̷̢͝ä̴l̶g̸o',
    '👩‍👩‍👧‍👦 🏴‍☠️',
    '\ud83d\ude00 as a pair',
    '<script>alert(1)</script>',
    "Robert'); DROP TABLE leads;--",
    '$1 $$ ${process.env} {{7*7}} #{1}',
    '%s %d %n %00 %F0',
    String.raw`back\slash \u0041 \n`,
    'line\r\nfeed\ttab\u0001\u001f\u0085\u007f',
    '"quoted" \'single\' `tick`',
    '{a,"b",NULL}',
    'NULL',
    'null',
    '\u{10ffff}\ufffe\uffff',
  ])('%j', async (text) => {
    const custom = { [text]: [text, { [text]: text }] };
    const lead = await create({
      first_name: text,
      notes: text,
      status: text,
      tags: [text],
      custom_fields: custom,
    });
    const stored = await get(lead.id);
    expect(stored).toStrictEqual(lead);
    expect(stored).toMatchObject({ first_name: text, notes: text, status: text, tags: [text] });
    expect(stored.custom_fields).toStrictEqual(custom);
  });
});

describe('phone', () => {
  it.each([
    '123',
    '1 2 3',
    '+1 (415) 555-2671',
    '+49.30/901820',
    '415-555-2672 x12',
    '#123/(45)',
    '()()123',
    '9'.repeat(50),
    '415\t5552671',
    '415\u00a0555\u202f2671',
    '415–555—2671',
    '415\u2011555\u22122671',
    '+1 415\u00b7555\u00b72671',
    '+1 \u202a(415)\u202c 555\u200b2671',
    '٠٣٠٩٠١٨٢٠',
    '＋４９（３０）９０１８２０',
    'tel:+1-415-555-2671;ext=12',
    'Tel.: 415 555 2671',
    '415-555-2671 extension 5',
  ])('%s is accepted and returned unchanged', async (phone) => {
    const { api } = await suite.app.organization();
    const lead = await createLead(api, { phone });
    expect(lead.phone).toBe(phone);
    expect((await getLead(api, lead.id)).phone).toBe(phone);
  });

  it('is trimmed, with the invisible characters at its ends', async () => {
    const { api } = await suite.app.organization();
    const phone = ' \u202a\u200e+1 415 555\u200b9999\u202c\t\ufeff\u00ad';
    expect((await createLead(api, { phone })).phone).toBe('+1 415 555\u200b9999');
    expect((await createLead(api, { phone: '\u200e \u2066\u2069' })).phone).toBeNull();
  });

  it.each([
    '12',
    '++--()',
    '1-2',
    '9'.repeat(51),
    '415-555-267a',
    'tel:call me',
    '415-555-2671 extensions 5',
    '415-555-2671=5',
    'ext. 5',
    'ext. ٥',
    '٤١\u200b',
    '\u200e1\u200e2\u200e',
    '415\u00015552671',
    '²³¹²³¹',
    '*123#',
    "123' or '1'='1",
    4155552671,
    ...NOT_STRINGS,
  ])('rejects %j', async (phone) => {
    await expectRefused('phone', phone);
  });

  it.each([
    ['415-555-267a', 'must not contain "a"'],
    ['call me', 'must not contain "call"'],
    ['extension 12 415 5552671', 'must not contain "extension"'],
    ['415-555-2671=5', 'must not contain "="'],
    ['415\u00015552671', 'must not contain U+0001'],
    ['1-2', 'must have at least 3 digits'],
  ])('%j is rejected with the reason', async (phone, message) => {
    const { body } = await post({ first_name: 'Ada', phone });
    expect(body.error.details[0].message).toContain(message);
  });
});

describe('email', () => {
  /** 254 characters: 64 before the sign, 189 after it. */
  const longest = `${'l'.repeat(64)}@${`${'d'.repeat(61)}.`.repeat(3)}com`;

  it.each([
    'a@b.co',
    'Ada.Lovelace+test@Example.COM',
    "o'neil@sub.example.com",
    'under_score-dash@example.museum',
    longest,
  ])('%s is accepted and returned unchanged', async (email) => {
    const { api } = await suite.app.organization();
    const lead = await createLead(api, { email });
    expect(lead.email).toBe(email);
    expect((await getLead(api, lead.id)).email).toBe(email);
  });

  it('is trimmed', async () => {
    expect((await create({ email: '\t trimmed@example.com ' })).email).toBe('trimmed@example.com');
  });

  it('is trimmed, with the invisible characters at its ends', async () => {
    const { api } = await suite.app.organization();
    const email = '\ufeff\u202a\u00a0ada@example.com\u202c\u200e\u3000\u00ad';
    expect((await createLead(api, { email })).email).toBe('ada@example.com');
    const { id } = await createLead(api);
    const twin = await api.put(`${LEADS}/${id}`, { email });
    expect(twin).toMatchObject({ status: 409, body: { error: { code: 'duplicate' } } });
    expect((await createLead(api, { email: '\u2067\u2069' })).email).toBeNull();
  });

  it.each([
    ['an invisible character', 'U+200B', 'ad\u200ba@example.com'],
    ['an invisible character', 'U+00AD', 'ada@exam\u00adple.com'],
    ['an invisible character', 'U+202E', 'ada\u202e@example.com'],
    ['an invisible character', 'U+2066', 'ada@\u2066example.com'],
    ['an invisible character', 'U+FEFF', 'ada@example\ufeff.com'],
    ['an invisible character', 'U+034F', 'a\u034fda@example.com'],
    ['an invisible character', 'U+3164', 'ada\u3164@example.com'],
    ['an invisible character', 'U+FE0F', 'ada\ufe0f@example.com'],
    ['an invisible character', 'U+E0020', 'ada\u{e0020}@example.com'],
    ['a space', 'U+00A0', 'ada\u00a0b@example.com'],
    ['a space', 'U+2800', 'ada\u2800b@example.com'],
    ['a space', 'U+3000', 'ada@exam\u3000ple.com'],
    ['a space', 'U+0020', 'ada b@example.com'],
    ['a space', 'U+0020', '"ada b"@example.com'],
    ['a space', 'U+2028', 'ada\u2028@example.com'],
  ])('names %s (%s) inside %j', async (kind, codePoint, email) => {
    const body = { first_name: 'Ada', email };
    for (const answer of [await post(body), await put(refusing, { email })]) {
      expectInvalid(answer, 'email');
      const message = `must not contain ${kind} (${codePoint})`;
      expect(answer.body.error.details).toEqual([{ field: 'email', message }]);
    }
  });

  it.each([
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'ada@@example.com',
    'ada example@example.com',
    'ada@exam ple.com',
    'ada@example..com',
    '.ada@example.com',
    'ada@-example.com',
    'Ada <ada@example.com>',
    'ada@example.com, bob@example.com',
    'ada@example.com\nbcc:bob@example.com',
    'mailto:ada@example.com',
    'ada@127.0.0.1',
    `${'l'.repeat(65)}@example.com`,
    longest.replace('com', 'info'),
    ['ada@example.com'],
    ...NOT_STRINGS,
  ])('rejects %j', async (email) => {
    await expectRefused('email', email);
  });
});

describe('temperature, source and flags', () => {
  const WORDS = {
    temperature: ['cold', 'warm', 'hot'],
    source: ['manual', 'api', 'website', 'referral', 'import', 'other'],
    sms_opted_out: [true, false],
    on_dnc_list: [true, false],
  };

  it.each(Object.entries(WORDS))(
    '%s accepts any of %j on create and update',
    async (field, words) => {
      const { id } = await create();
      for (const value of words) {
        expect(await create({ [field]: value })).toHaveProperty(field, value);
        await update(id, { [field]: value });
        expect(await get(id)).toHaveProperty(field, value);
      }
    },
  );

  const notWords: unknown[] = ['Hot', 'lukewarm', 'hot,cold', ['hot'], ...NOT_STRINGS];
  const notFlags: unknown[] = ['true', 'false', '', 0, 1, [], [true], {}, { constructor: 1 }];

  it.each<[string, unknown]>([
    ...notWords.map((value): [string, unknown] => ['temperature', value]),
    ...[...notWords, 'hot'].map((value): [string, unknown] => ['source', value]),
    ...notFlags.map((value): [string, unknown] => ['sms_opted_out', value]),
    ...notFlags.map((value): [string, unknown] => ['on_dnc_list', value]),
  ])('%s rejects %j', async (field, value) => {
    await expectRefused(field, value);
  });

  it('trims words like every string', async () => {
    expect(await create({ temperature: ' hot ', source: '\timport' })).toMatchObject({
      temperature: 'hot',
      source: 'import',
    });
  });
});
