import fc, { type Arbitrary } from 'fast-check';
import { CreateLeadDto } from '../../src/modules/leads/lead.dto.js';
import { fieldsOf } from '../../src/platform/fields/field.js';
import { createLead } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { check } from './support/check.js';
import {
  accepted,
  type ApiInterface,
  API_INTERFACES,
  expectRefusal,
  KINDS,
} from './support/interfaces.js';
import { asJson, jsonObjects } from './support/json.js';

const LARGEST = 2n ** 53n;

const CUSTOM_FIELDS = fieldsOf(CreateLeadDto).find(({ name }) => name === 'custom_fields')!.schema;

let app: TestApp;
let tenant: Tenant;
let id: string;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  ({ id } = await createLead(tenant.api));
});
afterAll(() => app.stop());

describe.each(API_INTERFACES)('custom_fields by %s', (_, open) => {
  const [, { update }] = KINDS.find(([path]) => path.endsWith('/leads'))!;
  let api: ApiInterface;

  beforeAll(async () => {
    api = await open(app, tenant);
  });

  const send = (text: string) => api.call(update, id, Buffer.from(`{"custom_fields":${text}}`));

  it('have the same value for every JSON notation', async () => {
    const texts = fc
      .tuple(jsonObjects(CUSTOM_FIELDS), fc.infiniteStream(fc.nat(7)))
      .map(([value, choices]) => ({
        value,
        text: formatJson(value, () => Number(choices.next().value)),
      }));
    await check(
      fc.asyncProperty(texts, async ({ value, text }) => {
        const lead = accepted(await send(text));
        expect(lead.custom_fields).toEqual(asJson(value));
      }),
    );
  });

  it('reject exactly the numbers beyond ±2^53, in every notation', async () => {
    await check(
      fc.asyncProperty(numbers(), async ({ text, isBeyond }) => {
        const outcome = await send(`{"number":${text}}`);
        if (isBeyond) expectRefusal(outcome, ['custom_fields']);
        // A fraction is stored as the nearest double, which may be zero.
        else expect(accepted(outcome).custom_fields).toEqual(asJson({ number: Number(text) }));
      }),
      { times: 5 },
    );
  });
});

/** JSON of a value with random white space and escapes. */
function formatJson(value: unknown, choose: () => number): string {
  const blank = () => ['', '', '', ' ', '\n', '\t \r'][choose()] ?? '';
  const inner = () => {
    if (typeof value === 'string')
      return `"${[...value].map((char) => escaped(char, choose)).join('')}"`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map((one) => formatJson(one, choose)).join(',')}]`;
    const entries = Object.entries(value).map(
      ([key, one]) => `${formatJson(key, choose)}:${formatJson(one, choose)}`,
    );
    return `{${entries.join(',')}}`;
  };
  return `${blank()}${inner()}${blank()}`;
}

/** A character of a JSON string: literal, as a short escape or as escaped code units. */
function escaped(char: string, choose: () => number): string {
  const asIs = JSON.stringify(char).slice(1, -1);
  const choice = choose();
  if (choice > 2) return asIs;
  if (char === '/' && choice === 0) return String.raw`\/`;
  const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i));
  const hex = units.map((unit) => unit.toString(16).padStart(4, '0'));
  return hex
    .map((digits) => String.raw`\u` + (choice === 1 ? digits : digits.toUpperCase()))
    .join('');
}

/** Numbers in any JSON notation, and whether they are beyond ±2^53. */
function numbers(): Arbitrary<{ text: string; isBeyond: boolean }> {
  const atTheEdge = fc
    .tuple(fc.bigInt({ min: -20n, max: 20n }), fc.nat(30))
    .map(([distance, zeros]) => ({ digits: LARGEST * 10n ** BigInt(zeros) + distance, zeros }));
  const anywhere = fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: -400, max: 400 }))
    .map(([digits, zeros]) => ({ digits, zeros }));
  const exact = fc.oneof(atTheEdge, anywhere);
  const signs = fc.constantFrom('', '-');
  const exponents = fc.constantFrom('e', 'E', 'e+', 'e0');
  return fc
    .tuple(exact, fc.nat(40), signs, exponents)
    .map(([{ digits, zeros }, places, sign, e]) => ({
      text: sign + formatNumber(digits, places, places - zeros, e),
      isBeyond:
        zeros < 0
          ? digits * 10n ** BigInt(-zeros) > LARGEST
          : digits > LARGEST * 10n ** BigInt(zeros),
    }));
}

/** Digits with this number of decimal places and a power of ten as exponent. */
function formatNumber(digits: bigint, places: number, power: number, e: string): string {
  const padded = String(digits).padStart(places + 1, '0');
  const whole = padded.slice(0, padded.length - places);
  const fraction = places > 0 ? `.${padded.slice(-places)}` : '';
  if (power === 0 && e === 'e0') return whole + fraction;
  const exponent = power < 0 ? `${e.charAt(0)}${power}` : `${e}${power}`;
  return whole + fraction + exponent;
}
