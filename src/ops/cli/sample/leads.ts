import type { Times } from '../../../platform/data/records/tenant-repository.js';
import { type CreateLeadDto, type Source, TEMPERATURES } from '../../../modules/leads/lead.dto.js';
import type { Random } from './random.js';
import {
  CITIES,
  COMPANY_KINDS,
  COMPANY_NAMES,
  FIRST_NAMES,
  LAST_NAMES,
  LEAD_NOTES,
  PROJECTS,
  STREET_KINDS,
  STREETS,
} from './words.js';

const DAY_MS = 86_400_000;

/** Maximum age of sample data. */
const PAST_DAYS = 180;

const STATUSES = { new: 30, contacted: 25, qualified: 20, proposal: 10, won: 10, lost: 5 };
const SOURCE_WEIGHTS = { website: 40, referral: 20, manual: 15, api: 10, import: 10, other: 5 };

/** Creates a lead of the past months. Its e-mail and phone are unique to its number. */
export function sampleLead(random: Random, number: number, now: Date): CreateLeadDto & Times {
  const firstName = random.pick(FIRST_NAMES);
  const lastName = random.pick(LAST_NAMES);
  // Recent leads are more frequent, as in a growing company.
  const age = random.next() * random.next() * PAST_DAYS * DAY_MS;
  const created_at = new Date(now.getTime() - Math.ceil(age));
  return {
    first_name: firstName,
    last_name: random.chance(0.95) ? lastName : null,
    email: random.chance(0.92) ? emailOf(firstName, lastName, number) : null,
    company: random.chance(0.2)
      ? `${random.pick(COMPANY_NAMES)} ${random.pick(COMPANY_KINDS)}`
      : null,
    ...addressOf(random, number),
    status: random.weighted(STATUSES),
    temperature: random.chance(0.9) ? random.pick(TEMPERATURES) : null,
    source: random.weighted<Source>(SOURCE_WEIGHTS),
    notes: random.chance(0.3) ? random.pick(LEAD_NOTES) : null,
    ...projectOf(random),
    sms_opted_out: random.chance(0.04),
    on_dnc_list: random.chance(0.02),
    created_at,
    updated_at: random.chance(0.5) ? random.between(created_at, now) : created_at,
  };
}

/** Uses domains that are reserved for examples. */
function emailOf(firstName: string, lastName: string, number: number): string {
  const domain = ['example.com', 'example.net', 'example.org'][number % 3] ?? '';
  return `${firstName}.${lastName}${number}@${domain}`.toLowerCase();
}

function addressOf(random: Random, number: number) {
  const [city, state, zip, areaCode] = CITIES[number % CITIES.length] ?? CITIES[0];
  const street = `${random.pick(STREETS)} ${random.pick(STREET_KINDS)}`;
  const address = {
    address_street: `${random.integer(1, 2_400)} ${street}`,
    city,
    state,
    zip: zip + digits(random.integer(1, 99), 2),
  };
  return {
    phone: random.chance(0.85) ? phoneOf(areaCode, Math.floor(number / CITIES.length)) : null,
    ...(random.chance(0.8) ? address : { city, state }),
  };
}

/** Uses the fictional exchange 555, and the following ones for very many leads. */
function phoneOf(areaCode: number, number: number): string {
  const exchange = 555 + Math.floor(number / 10_000);
  // Because 7,919 is coprime to 10,000, every four-digit line number occurs once per exchange.
  const line = (number * 7_919) % 10_000;
  return `+1 ${areaCode}-${exchange}-${digits(line, 4)}`;
}

function projectOf(random: Random) {
  const project = random.pick(PROJECTS);
  return {
    tags: random.chance(0.3) ? [project, 'urgent'] : [project],
    custom_fields: random.chance(0.6) ? { project, budget: random.integer(4, 120) * 500 } : {},
  };
}

function digits(number: number, length: number): string {
  return String(number).padStart(length, '0');
}
