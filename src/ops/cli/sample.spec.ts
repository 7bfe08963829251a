import { faker } from '@faker-js/faker/locale/en_US';
import type { Type } from '@nestjs/common';
import { CreateAppointmentDto } from '../../modules/appointments/appointment.dto.js';
import type { Times } from '../../platform/data/records/tenant-repository.js';
import { readInput } from '../../platform/fields/input/read-input.js';
import { normalizeEmail, parsePhone } from '../../platform/fields/kinds/email-and-phone.js';
import { CreateLeadDto } from '../../modules/leads/lead.dto.js';
import { CreateTaskDto } from '../../modules/tasks/task.dto.js';
import { AREA_CODES, sampleAppointment, sampleLead, sampleTask } from './sample.js';

const NOW = new Date('2026-11-21T10:00:00Z');
const ID = '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43';

const leads = (count: number, { seed = 1, every = 1 } = {}) => {
  faker.seed(seed);
  return Array.from({ length: count }, (_, n) => sampleLead(faker, n * every, NOW));
};
const manyLeads = leads(2_000);
const linkedLeads = manyLeads.map((lead) => ({ ...lead, id: ID }));
const appointments = linkedLeads.map((lead) => sampleAppointment(faker, lead, NOW));
const tasks = linkedLeads.map((lead) => sampleTask(faker, lead, [ID], NOW));

/** The validation errors of a record. */
function problemsOf(dto: Type<object>, { created_at, updated_at, ...input }: object & Times) {
  return readInput(dto, JSON.parse(JSON.stringify(input)) as object).problems;
}

describe('the sample data of latitude demo', () => {
  it.each([
    ['leads', CreateLeadDto, manyLeads],
    ['appointments', CreateAppointmentDto, appointments],
    ['tasks', CreateTaskDto, tasks],
  ] as [string, Type<object>, (object & Times)[]][])(
    'has valid %s with timestamps in the past',
    (_, dto, records) => {
      expect(records.flatMap((record) => problemsOf(dto, record))).toEqual([]);
      const misdated = records.filter(
        ({ created_at, updated_at }) => !(created_at <= updated_at && updated_at <= NOW),
      );
      expect(misdated).toEqual([]);
    },
  );

  it.each([
    ['consecutive leads', 3_000, 1],
    // More than the 10,000 line numbers of two exchanges.
    ['the leads of one area code', 21_000, AREA_CODES.length],
  ])('has unique e-mail addresses and phones: %s', (_, count, every) => {
    const all = leads(count, { every });
    const emails = all.flatMap(({ email }) => (email ? [normalizeEmail(email)] : []));
    const phones = all.flatMap(({ phone }) => (phone ? [phone.replaceAll(/\D/g, '')] : []));
    expect(new Set(emails).size).toBe(emails.length);
    expect(new Set(phones).size).toBe(phones.length);
  });

  it('has phones that are international in every region', () => {
    const phones = leads(100).flatMap(({ phone }) => phone ?? []);
    for (const phone of phones) {
      const digits = `+${phone.replaceAll(/\D/g, '')}`;
      expect([parsePhone(phone, 'US').normalized, parsePhone(phone, 'DE').normalized]).toEqual([
        digits,
        digits,
      ]);
    }
  });

  it('is reproducible and varied', () => {
    expect(leads(50)).toEqual(leads(50));
    expect(leads(50)).not.toEqual(leads(50, { seed: 2 }));
    const values = (name: 'status' | 'temperature' | 'source' | 'city' | 'email') =>
      new Set(manyLeads.map((lead) => lead[name]));
    expect(values('status').size).toBe(6);
    expect(values('temperature')).toEqual(new Set(['cold', 'warm', 'hot', null]));
    expect(values('source').size).toBe(6);
    expect(values('city').size).toBeGreaterThan(20);
    expect(values('email').has(null)).toBe(true);
  });

  it('has appointments after the creation of their lead, of which only past ones are completed', () => {
    const wrong = appointments.filter(({ start_time, end_time, status }, n) => {
      const isOpen = status === 'scheduled' || status === 'confirmed';
      return !(start_time > linkedLeads[n]!.created_at) || isOpen !== end_time >= NOW;
    });
    expect(wrong).toEqual([]);
  });
});
