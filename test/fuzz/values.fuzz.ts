import fc from 'fast-check';
import { createLead } from '../../src/testing/factories.js';
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
import { invalidInputs, fieldWithInvalidTime, validInputs } from './support/inputs.js';
import { asJson, type Json } from './support/json.js';

/** Fields that the service sets when a record changes. */
const OWN_OF_SERVICE = ['updated_at', 'lead_score'];

let app: TestApp;
let tenant: Tenant;
let lead: string;

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

  describe.each(KINDS)('%s', (path, { create, get, update, remove }) => {
    /** Creates a record and deletes it afterwards, so that unique values are available again. */
    async function withRecord(input: Json, work: (id: string, record: Json) => Promise<void>) {
      const record = accepted(await api.call(create, undefined, input));
      const id = String(record.id);
      try {
        await work(id, record);
      } finally {
        await api.call(remove, id, {});
      }
    }

    const read = async (id: string) => accepted(await api.call(get, id, {}));

    it('stores a valid create, apart from normalization', async () => {
      const inputs = validInputs(dtoOf(app, create), lead);
      await check(
        fc.asyncProperty(inputs, ({ sent, stored }) =>
          withRecord(sent, async (id, record) => {
            expect({ ...record, ...(asJson(stored) as Json) }).toEqual(record);
            expect(await read(id)).toEqual(record);
          }),
        ),
      );
    });

    it('changes only the given fields with a valid update', async () => {
      const dto = dtoOf(app, update);
      const inputs = fc.tuple(validInputs(dtoOf(app, create), lead), validInputs(dto, lead));
      await check(
        fc.asyncProperty(inputs, ([original, { sent, stored }]) =>
          withRecord(original.sent, async (id, before) => {
            const expected = { ...before, ...(asJson(stored) as Json) };
            const outcome = await api.call(update, id, sent);
            const late = fieldWithInvalidTime(dto, expected, sent);
            if (late === undefined) expectChange(path, sent, before, expected, accepted(outcome));
            else expectRefusal(outcome, [late]);
            expect(await read(id)).toEqual(late === undefined ? accepted(outcome) : before);
          }),
        ),
      );
    });

    it('names each invalid field of a create', async () => {
      const inputs = invalidInputs(dtoOf(app, create), lead);
      await check(
        fc.asyncProperty(inputs, async ({ sent, fields }) => {
          expectRefusal(await api.call(create, undefined, sent), fields);
        }),
      );
    });

    it('names each invalid field of an update', async () => {
      const [example] = fc.sample(validInputs(dtoOf(app, create), lead), { numRuns: 1, seed: 1 });
      await withRecord(example!.sent, async (id, before) => {
        const inputs = invalidInputs(dtoOf(app, update), lead, api.nullInUpdates);
        await check(
          fc.asyncProperty(inputs, async ({ sent, fields }) => {
            expectRefusal(await api.call(update, id, sent), fields);
            expect(await read(id)).toEqual(before);
          }),
        );
      });
    });
  });
});

/** Expects the given fields, and a later `updated_at` if and only if there is a change. */
function expectChange(path: string, sent: Json, before: Json, expected: Json, after: Json): void {
  const computed = Object.fromEntries(OWN_OF_SERVICE.map((name) => [name, after[name]]));
  expect(after).toEqual({ ...expected, ...computed });
  const isChange = JSON.stringify(sorted(before)) !== JSON.stringify(sorted(expected));
  // A given status changes the `updated_at` of an appointment even if it equals the stored one.
  const isTouched = path.endsWith('/appointments') && sent.status !== undefined;
  const moved = String(after.updated_at) > String(before.updated_at);
  expect({ moved }).toEqual({ moved: isChange || isTouched });
}

/** The value with every object replaced by its entries, sorted by key. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, inner]) => [key, sorted(inner)]);
}
