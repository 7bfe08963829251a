import { trimText } from '../../src/platform/fields/kinds/text.js';
import type { Type } from '@nestjs/common';
import type { Field } from '../../src/platform/fields/field.js';
import { createLead } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import {
  accepted,
  API_INTERFACES,
  dtoOf,
  expectRefusal,
  KINDS,
  type Outcome,
} from './support/interfaces.js';
import { singleFieldsOf } from './support/inputs.js';
import type { Json } from './support/json.js';
import { codePoints, isBlank, someNaughty } from './support/texts.js';
import { kindOf } from './support/values.js';

const STRINGS = someNaughty();

let app: TestApp;
let tenant: Tenant;
let lead: string;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  ({ id: lead } = await createLead(tenant.api));
});
afterAll(() => app.stop());

describe.each(API_INTERFACES)('naughty strings in every field by %s', (_, open) => {
  describe.each(KINDS)('%s', (__, { create, update, list, remove }) => {
    it('are stored or refused by a create', async () => {
      const api = await open(app, tenant);
      const dto = dtoOf(app, create);
      for (const text of STRINGS) {
        const send = (input: Json) => api.call(create, undefined, input);
        const { sent, value } = await sendEverywhere(dto, text, send, {
          required: requiredOf(dto),
        });
        expectKept(dto, sent, text, value);
        // Two strings can be the same phone or external id.
        if (sent.phone !== undefined || sent.external_id !== undefined) {
          await api.call(remove, String(value.id), {});
        }
      }
    });

    it('are stored or refused by an update', async () => {
      const api = await open(app, tenant);
      const dto = dtoOf(app, update);
      const id = await update.makeRecord!(tenant);
      for (const text of STRINGS) {
        const { sent, value } = await sendEverywhere(dto, text, (input) =>
          api.call(update, id, input),
        );
        expectKept(dto, sent, text, value);
      }
      // Otherwise it keeps a phone and an external id, which the leads of other tests cannot have.
      await api.call(remove, id, {});
    });

    it('are accepted or refused by a list', async () => {
      const api = await open(app, tenant);
      const dto = dtoOf(app, list);
      const send = (input: Json) => api.call(list, undefined, input);
      for (const text of STRINGS) await sendEverywhere(dto, text, send);
    });
  });
});

/** Sends a string in every field at once, then only in the fields that accepted it, which must succeed. */
async function sendEverywhere(
  dto: Type<object>,
  text: string,
  send: (input: Json) => Promise<Outcome>,
  { required = {} }: { required?: Json } = {},
): Promise<{ sent: Json; value: Json }> {
  const fields = singleFieldsOf(dto).filter(({ schema }) => schema.type !== 'boolean');
  const all = Object.fromEntries(fields.map((field) => [field.name, carrying(field, text)]));
  const first = await send(all);
  const wrong = wrongIn(dto, first);
  const plain = fields.filter(({ schema }) => isPlain(schema));
  const isBad = (field: Field) => mustRefuse(field, text);
  const found = plain.map(({ name }) => name).filter((name) => wrong.includes(name));
  const expected = plain.filter(isBad).map(({ name }) => name);
  expect({ text, wrong: found }).toEqual({ text, wrong: expected });
  const sent = without(all, wrong);
  return { sent, value: accepted(await send({ ...required, ...sent })) };
}

/** The invalid fields of an input, without duplicates. */
function wrongIn(dto: Type<object>, outcome: Outcome): readonly string[] {
  if (outcome.accepted) return [];
  expectRefusal(outcome, outcome.fields);
  const names = singleFieldsOf(dto).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...outcome.fields]));
  return names.filter((name) => outcome.fields.includes(name));
}

function without(input: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
}

/** Expects the trimmed string, or the meaning of an empty string. */
function expectKept(dto: Type<object>, sent: Json, text: string, value: Json): void {
  for (const field of singleFieldsOf(dto).filter(({ name }) => name in sent)) {
    const empty = field.presence.default ?? null;
    const isText = typeof sent[field.name] === 'string';
    const stored = isText ? trimText(text) || empty : carrying(field, text, trimText(text));
    const got = { field: field.name, text, value: value[field.name] };
    expect(got).toEqual({ ...got, value: stored });
  }
}

/** A value of a field's type that contains a string; an object has it as key and value. */
function carrying({ schema }: Field, text: string, item = text): unknown {
  if (schema.type === 'array') return [item];
  return schema.type === 'object' ? { [text]: text } : text;
}

/** Whether a field accepts any string within its length. */
function isPlain(schema: Field['schema']): boolean {
  return ['text', 'array', 'object'].includes(kindOf(schema));
}

function mustRefuse({ schema, presence }: Field, text: string): boolean {
  const { type, maxLength = 0, items, propertyNames } = schema;
  if (!isPlain(schema)) return false;
  if (type === 'object') return text === '' || codePoints(text) > (propertyNames?.maxLength ?? 0);
  const most = items?.maxLength ?? maxLength;
  const isNeeded = type === 'array' || presence.required;
  return codePoints(trimText(text)) > most || (isBlank(text) && isNeeded === true);
}

/** Examples of the required fields of a create. */
function requiredOf(dto: Type<object>): Json {
  const required = singleFieldsOf(dto).filter(({ presence }) => presence.required);
  return Object.fromEntries(
    required.map(({ name, schema }) => [name, name === 'lead_id' ? lead : schema.examples?.[0]]),
  );
}
