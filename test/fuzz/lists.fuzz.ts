import { trimText } from '../../src/platform/fields/kinds/text.js';
import type { Type } from '@nestjs/common';
import fc, { type Arbitrary } from 'fast-check';
import type { Field } from '../../src/platform/fields/field.js';
import { foldText } from '../../src/platform/data/lists/search-text.js';
import { createLead, dataOf, LEADS, type LeadRecord } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { check } from './support/check.js';
import {
  accepted,
  type ApiInterface,
  API_INTERFACES,
  dtoOf,
  expectRefusal,
  KINDS,
} from './support/interfaces.js';
import {
  type InvalidInput,
  plainFieldsOf,
  type ValidInput,
  validInputs,
} from './support/inputs.js';
import type { Json } from './support/json.js';
import { isBlank, padded, texts } from './support/texts.js';
import { invalidTexts, validValues } from './support/values.js';

const RECORDS_OF_EACH = 25;

let app: TestApp;
let tenant: Tenant;
let lead: string;
/** Created records by id. */
const records = new Map<string, Json>();

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  ({ id: lead } = await createLead(tenant.api));
});
afterAll(() => app.stop());

describe.each(API_INTERFACES)('by %s', (_, open) => {
  let api: ApiInterface;

  beforeAll(async () => {
    api = await open(app, tenant);
  });

  describe.each(KINDS)('%s', (__, { list, create }) => {
    beforeAll(async () => {
      const inputs = validInputs(dtoOf(app, create), lead);
      for (const { sent } of fc.sample(inputs, { numRuns: RECORDS_OF_EACH, seed: 1 })) {
        const created = await api.call(create, undefined, sent);
        // A duplicate e-mail is skipped.
        if (created.accepted) records.set(String(created.value.id), created.value);
      }
    });

    it('returns the page for valid parameters', async () => {
      await check(
        fc.asyncProperty(validQueries(dtoOf(app, list)), async ({ sent, stored }) => {
          const page = accepted(await api.call(list, undefined, sent)) as unknown as PageOf<Json>;
          expectPage(page, stored);
        }),
      );
    });

    it('names each invalid parameter', async () => {
      await check(
        fc.asyncProperty(invalidQueries(dtoOf(app, list)), async ({ sent, fields }) => {
          expectRefusal(await api.call(list, undefined, sent), fields);
        }),
      );
    });
  });
});

describe('search', () => {
  it('finds a lead by any part of its names', async () => {
    const parts = fc
      .tuple(texts(100), texts(100), fc.nat(), fc.nat(), fc.boolean())
      .map(([first, last, start, length, isUpper]) => {
        const names = { first_name: trimText(first), last_name: trimText(last) };
        const whole = `${names.first_name} ${names.last_name}`.trim().normalize('NFC');
        const characters = [...whole];
        const from = start % Math.max(characters.length, 1);
        const part = characters.slice(from, from + 1 + (length % 100)).join('');
        return { names, whole, search: isUpper ? asciiUpper(part) : part };
      })
      // Characters at the ends of a part can be marks, or be composed with others in the text.
      .filter(({ names, whole, search }) => {
        const isPart = foldText(whole).includes(foldText(trimText(search)));
        return names.first_name !== '' && !isBlank(search) && isPart;
      });
    await check(
      fc.asyncProperty(parts, async ({ names, search }) => {
        const { id } = await createLead(tenant.api, names);
        try {
          const query = new URLSearchParams({ search, limit: '100' });
          const found = dataOf<LeadRecord[]>(await tenant.api.get(`${LEADS}?${query}`));
          expect(found.map((one) => one.id)).toContain(id);
        } finally {
          await tenant.api.delete(`${LEADS}/${id}`);
        }
      }),
    );
  });
});

interface PageOf<T> {
  readonly data: readonly T[];
  readonly meta: Readonly<Record<'page' | 'limit' | 'total' | 'total_pages', number>>;
}

/** Expects the requested page, with records that match the filters and equal the created ones. */
function expectPage({ data, meta }: PageOf<Json>, asked: Json): void {
  const { page = 1, limit = 50, sort_by: _, sort_dir: __, ...filters } = asked;
  const rest = Math.max(0, meta.total - (meta.page - 1) * meta.limit);
  expect({ ...meta, shown: data.length }).toEqual({
    page,
    limit,
    total: meta.total,
    total_pages: Math.ceil(meta.total / Number(limit)),
    shown: Math.min(rest, Number(limit)),
  });
  for (const item of data) {
    const same = Object.entries(filters).filter(([name]) => name in item);
    expect(item).toMatchObject(Object.fromEntries(same));
    const record = records.get(String(item.id));
    if (record) expect(record).toEqual({ ...record, ...withMilliseconds(item) });
  }
}

/** Completes times, of which the lists of tools leave out zero seconds. */
function withMilliseconds(item: Json): Json {
  const entries = Object.entries(item).map(([name, value]) => {
    const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
    return [name, isTime ? new Date(value).toISOString() : value];
  });
  return Object.fromEntries(entries) as Json;
}

/** Valid parameters of a list. Blank ones are excluded, because they have no effect. */
function validQueries(dto: Type<object>): Arbitrary<ValidInput> {
  const valueOf = (field: Field) =>
    fc.option(
      validValues(field, lead).filter(({ stored }) => stored !== null),
      { nil: undefined },
    );
  const values = plainFieldsOf(dto).map((field) => [field.name, valueOf(field)] as const);
  return fc.record(Object.fromEntries(values)).map((given) => {
    const present = Object.entries(given).flatMap(([name, value]) =>
      value ? [[name, value] as const] : [],
    );
    return {
      sent: Object.fromEntries(present.map(([name, { sent }]) => [name, sent])),
      stored: Object.fromEntries(present.map(([name, { stored }]) => [name, stored])),
    };
  });
}

/** Query parameters of which at least one is invalid or unknown. */
function invalidQueries(dto: Type<object>): Arbitrary<InvalidInput> {
  const fields = plainFieldsOf(dto);
  const names = fields.map(({ name }) => name);
  const wrongText = (field: Field) =>
    fc.oneof(
      { weight: 4, arbitrary: invalidTexts(field) },
      { weight: 1, arbitrary: fc.constantFrom(...blanksFor(field), 'a\0b') },
    );
  const strays = fc.constantFrom('page[]', 'status[$ne]', '__proto__', 'Limit', 'api_key', ' page');
  const wrong = fc.subarray([...fields], { minLength: 1 }).chain((chosen) => {
    const values = chosen.map((field) => [field.name, wrongText(field)] as const);
    return fc.record<Json>(Object.fromEntries(values));
  });
  const unknown = fc.dictionary(strays, padded(texts(20)), { maxKeys: 2 });
  return fc
    .tuple(validQueries(dto), fc.option(wrong, { nil: {} }), unknown)
    .map(([{ sent }, bad, stray]) => ({
      sent: { ...sent, ...bad, ...stray },
      fields: [...Object.keys(bad), ...Object.keys(stray).filter((name) => !names.includes(name))],
    }))
    .filter(({ fields: named }) => named.length > 0);
}

/** Blank values that are invalid: those of parameters with a default. Empty filters have no effect. */
function blanksFor({ presence }: Field): string[] {
  return presence.default === undefined ? [] : ['', ' ', '\t'];
}

function asciiUpper(text: string): string {
  return text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
}
