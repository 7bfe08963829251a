import { randomUUID } from 'node:crypto';
import type { Answer } from '../../../src/testing/api-client.js';
import {
  createLead,
  errorOf,
  expectError,
  getLead,
  LEADS,
  updateLead,
} from '../../../src/testing/factories.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { leadSuite } from '../../support/lead-suite.js';

const suite = leadSuite();

describe('uniqueness of e-mail, phone and external id', () => {
  let api: Tenant['api'];
  let organizationId: string;

  beforeEach(async () => {
    ({ api, id: organizationId } = await suite.app.organization());
  });

  function expectDuplicate(answer: Answer, details: Record<string, string | undefined>): void {
    expectError(answer, 409, 'duplicate');
    const error = errorOf(answer);
    expect(error.retryable).toBe(false);
    const found = (error.details ?? []).map(({ field, existing_id }) => [field, existing_id]);
    expect(Object.fromEntries(found)).toEqual(details);
    expect(found).toHaveLength(Object.keys(details).length);
    for (const field of Object.keys(details)) expect(error.message).toContain(field);
  }

  const same: [string, string, string][] = [
    ['email', 'ada@example.com', 'ada@example.com'],
    ['email', 'Ada@Example.com', 'aDA@eXAMPLE.COM'],
    ['email', 'ada@example.com', '  ada@example.com\t'],
    ['email', 'élan@example.com', 'ÉLAN@example.com'],
    ['phone', '+14155552671', '+14155552671'],
    ['phone', '+1 (415) 555-2671', '+1.415.555.2671'],
    ['phone', '+14155552671', '(415) 555-2671'],
    ['phone', '415-555-2671', '1 415 555 2671'],
    ['phone', '+49 30 901820', '+49 (30) 90-18-20'],
    ['phone', '+49 30 901820', '011 49 30 901820'],
    ['phone', '123', '1-2-3'],
    ['phone', '0'.repeat(40), `${'0'.repeat(20)} ${'0'.repeat(20)}`],
    ['external_id', 'crm-4711', 'crm-4711'],
    ['external_id', 'crm 4711', ' crm 4711\t'],
    ['external_id', '😀'.repeat(200), '😀'.repeat(200)],
  ];

  it.each(same)('answers 409 when a %s %s exists and %s is sent', async (field, first, second) => {
    const { id } = await createLead(api, { [field]: first });
    expectDuplicate(await api.post(LEADS, { first_name: 'Bob', [field]: second }), { [field]: id });
    const other = await createLead(api);
    expectDuplicate(await api.put(`${LEADS}/${other.id}`, { [field]: second }), { [field]: id });
    expect(await getLead(api, other.id)).toStrictEqual(other);
  });

  it.each([
    ['email', 'ada@example.com', 'ada+1@example.com'],
    ['email', 'ada@example.com', 'a.da@example.com'],
    ['email', 'ada@gmail.com', 'ada@googlemail.com'],
    ['phone', '+14155552671', '+14155552672'],
    ['phone', '+14155552671', '+44 4155552671'],
    ['phone', '123', '1234'],
    ['external_id', 'crm-4711', 'CRM-4711'],
    ['external_id', 'crm-4711', 'crm-47110'],
    ['external_id', '4711', '04711'],
    ['external_id', 'Andr\u00e9', 'Andre\u0301'],
    ['external_id', 'ß', 'ss'],
  ])('accepts the %s %s if another lead has %s', async (field, first, second) => {
    await createLead(api, { [field]: first });
    await createLead(api, { [field]: second });
  });

  it('parses national numbers in the region of the organization', async () => {
    await suite.app.sql(`update organizations set phone_region = 'DE' where id = $1`, [
      organizationId,
    ]);
    const { id } = await createLead(api, { phone: '030 901820' });
    const answer = await api.post(LEADS, { first_name: 'Bob', phone: '+49 30 901820' });
    expectDuplicate(answer, { phone: id });
    await createLead(api, { phone: '+1 309 018 2000' });
  });

  it('allows many leads without e-mail, phone and external id', async () => {
    for (const nothing of [{}, { email: null, phone: '', external_id: null }, { email: ' ' }]) {
      await createLead(api, nothing);
    }
  });

  it('applies within each organization only', async () => {
    const contact = { email: 'shared@example.com', phone: '+14155552671', external_id: '1' };
    await createLead(api, contact);
    const stranger = await suite.app.organization();
    await createLead(stranger.api, contact);
  });

  it('allows an update with the e-mail and phone of the same lead in another form', async () => {
    const { id } = await createLead(api, { email: 'own@example.com', phone: '+14155552671' });
    const changes = { email: 'OWN@example.com', phone: '415 555 2671' };
    expect(await updateLead(api, id, changes)).toMatchObject(changes);
  });

  it('names all fields when one lead has all', async () => {
    const contact = { email: 'both@example.com', phone: '+14155552671', external_id: 'crm-1' };
    const { id } = await createLead(api, contact);
    const answer = await api.post(LEADS, { first_name: 'Bob', ...contact });
    expectDuplicate(answer, { email: id, phone: id, external_id: id });
  });

  it('names both fields when two leads have one each', async () => {
    const first = await createLead(api, { email: 'first@example.com' });
    const second = await createLead(api, { phone: '+14155552671' });
    const body = { first_name: 'Bob', email: 'FIRST@example.com', phone: '4155552671' };
    expectDuplicate(await api.post(LEADS, body), { email: first.id, phone: second.id });
    const { id } = await createLead(api);
    const answer = await api.put(`${LEADS}/${id}`, body);
    expectDuplicate(answer, { email: first.id, phone: second.id });
  });

  it('names only the field that belongs to another lead', async () => {
    const other = await createLead(api, { phone: '+14155552671' });
    const { id } = await createLead(api, { email: 'own@example.com' });
    const answer = await api.put(`${LEADS}/${id}`, {
      email: 'own@example.com',
      phone: '+14155552671',
    });
    expectDuplicate(answer, { phone: other.id });
  });

  it('does not change the lead when an update is a duplicate', async () => {
    await createLead(api, { email: 'taken@example.com' });
    const lead = await createLead(api, { city: 'London' });
    const answer = await api.put(`${LEADS}/${lead.id}`, {
      city: 'Paris',
      email: 'taken@example.com',
    });
    expectError(answer, 409, 'duplicate');
    expect(await getLead(api, lead.id)).toStrictEqual(lead);
  });

  it('includes existing_id only for keys with leads:read', async () => {
    const contact = { email: 'both@example.com', phone: '+14155552671', external_id: 'crm-1' };
    const { id } = await createLead(api, contact);
    const writer = await suite.app.key(organizationId, ['leads:write', 'tasks:read']);
    const answer = await writer.api.post(LEADS, { first_name: 'Bob', ...contact });
    expectDuplicate(answer, { email: undefined, phone: undefined, external_id: undefined });
    expect(JSON.stringify(answer.body)).not.toContain(id);
    for (const detail of errorOf(answer).details!) {
      expect(Object.keys(detail)).toEqual(['field', 'message']);
    }
  });

  it('accepts a value that the other lead no longer has', async () => {
    const { id } = await createLead(api, { email: 'old@example.com', phone: '+14155552671' });
    await updateLead(api, id, { email: 'new@example.com', phone: null });
    await createLead(api, { email: 'old@example.com', phone: '+14155552671' });
    const answer = await api.post(LEADS, { first_name: 'Bob', email: 'new@example.com' });
    expectDuplicate(answer, { email: id });
  });

  it('answers 404 and not 409 when the lead to update does not exist', async () => {
    await createLead(api, { email: 'taken@example.com' });
    const answer = await api.put(`${LEADS}/${randomUUID()}`, { email: 'taken@example.com' });
    expectError(answer, 404, 'not_found');
  });
});
