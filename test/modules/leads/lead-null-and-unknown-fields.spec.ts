import { buildLead, errorOf, expectInvalid, LEADS } from '../../../src/testing/factories.js';
import { leadSuite } from '../../support/lead-suite.js';

const suite = leadSuite();
const { post, put, create, get, update } = suite;

const CLEARABLE_FIELDS = [
  'last_name',
  'phone',
  'email',
  'company',
  'address_street',
  'city',
  'state',
  'zip',
  'status',
  'temperature',
  'notes',
  'external_id',
];

const READ_ONLY_FIELDS = ['id', 'lead_score', 'created_at', 'updated_at'];

describe('null, unknown fields and defaults', () => {
  it.each([undefined, null, '', '   ', '\u00a0\t', '\u0085', '\u200b', '\u200d\u2060'])(
    'rejects a create whose first_name is %j',
    async (value) => {
      expectInvalid(await post({ first_name: value, last_name: 'Lovelace' }), 'first_name');
    },
  );

  it.each([null, '', ' \n', '\u200b'])(
    'rejects an update that clears first_name with %j',
    async (value) => {
      const lead = await create();
      expectInvalid(await put(lead.id, { first_name: value }), 'first_name');
      expect(await get(lead.id)).toStrictEqual(lead);
    },
  );

  it.each([null, '', ' \t ', '\u0085\u200b'])('treats %j on create as omitted', async (value) => {
    const nothing = Object.fromEntries(CLEARABLE_FIELDS.map((field) => [field, value]));
    const lead = await create({ ...nothing, source: value });
    for (const field of CLEARABLE_FIELDS) expect(lead).toHaveProperty(field, null);
    expect(lead.source).toBe('api');
  });

  it('treats null on create as omitted for lists, objects and flags', async () => {
    const nothing = { tags: null, custom_fields: null, sms_opted_out: null, on_dnc_list: null };
    expect(await create(nothing)).toMatchObject({
      tags: [],
      custom_fields: {},
      sms_opted_out: false,
      on_dnc_list: false,
    });
  });

  it.each([null, '', '  '])('clears every optional field with %j on update', async (value) => {
    const lead = await create(buildLead());
    const cleared = await update(
      lead.id,
      Object.fromEntries(CLEARABLE_FIELDS.map((field) => [field, value])),
    );
    for (const field of CLEARABLE_FIELDS) expect(cleared).toHaveProperty(field, null);
    expect(await get(lead.id)).toStrictEqual(cleared);
  });

  it.each(['source', 'tags', 'custom_fields', 'sms_opted_out', 'on_dnc_list'])(
    'rejects null on an update of %s, which has a default',
    async (field) => {
      const lead = await create(buildLead());
      expectInvalid(await put(lead.id, { [field]: null }), field);
      expect(await get(lead.id)).toStrictEqual(lead);
    },
  );

  it('clears tags with [] and custom_fields with {} on update', async () => {
    const { id } = await create(buildLead());
    const empty = { tags: [], custom_fields: {} };
    expect(await update(id, empty)).toMatchObject(empty);
  });

  it('rejects "" for source on update, because it means null', async () => {
    const { id } = await create();
    expectInvalid(await put(id, { source: '' }), 'source');
  });

  it.each([
    ...READ_ONLY_FIELDS,
    'organization_id',
    'deleted_at',
    'email_compared',
    'search_text',
    'First_name',
    'first_name ',
    'a.b',
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'toString',
    'data',
  ])('names the unknown or read-only field %j in the error', async (field) => {
    const extra = `${JSON.stringify(field)}:null`;
    expectInvalid(await post(`{"first_name":"Ada",${extra}}`), field);
    const lead = await create();
    expectInvalid(await put(lead.id, `{"city":"Paris",${extra}}`), field);
    expect(await get(lead.id)).toStrictEqual(lead);
  });

  it('rejects read-only fields even with their stored values', async () => {
    const lead = await create();
    expectInvalid(await put(lead.id, { ...lead }), ...READ_ONLY_FIELDS);
  });

  it('names every invalid field in details and in the message', async () => {
    const wrong = {
      last_name: 'x'.repeat(101),
      phone: 'call me',
      email: 'nobody',
      company: 1,
      address_street: {},
      city: [],
      state: 'NYC',
      zip: '12345678901',
      status: false,
      temperature: 'boiling',
      source: 'fax',
      notes: 5,
      tags: 'poet',
      custom_fields: [],
      sms_opted_out: 'yes',
      on_dnc_list: 1,
      id: 'x',
      nickname: 'A',
    };
    const fields = Object.keys(wrong);
    expectInvalid(await post(wrong), 'first_name', ...fields);
    const { id } = await create();
    expectInvalid(await put(id, { ...wrong, first_name: null }), 'first_name', ...fields);
  });

  it('names invalid fields of body and query together', async () => {
    const answer = await suite.tenant.api.post(`${LEADS}?dry_run=1`, { zip: 5 });
    expectInvalid(answer, 'dry_run', 'zip', 'first_name');
  });

  it('returns one message for each invalid field, without the submitted value', async () => {
    const { details } = errorOf(await post({ first_name: 7, email: 'secret@@example.com' }));
    expect(details).toHaveLength(2);
    for (const detail of details!) {
      expect(Object.keys(detail)).toEqual(['field', 'message']);
      expect(detail.message).not.toContain('secret');
    }
  });
});
