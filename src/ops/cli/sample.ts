import type { Faker } from '@faker-js/faker';
import type {
  AppointmentStatus,
  CreateAppointmentDto,
} from '../../modules/appointments/appointment.dto.js';
import { type CreateLeadDto, TEMPERATURES } from '../../modules/leads/lead.dto.js';
import type { CreateTaskDto, TaskStatus } from '../../modules/tasks/task.dto.js';
import type { Times } from '../../platform/data/records/tenant-repository.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Maximum age of sample data. */
const PAST_DAYS = 180;

/** Working hours in the cities of the sample, in minutes of the day in UTC. */
const OPENS = 14 * 60;
const HALF_HOURS_OPEN = 16;

/** Values of the sample. Frequent ones are repeated. */
const LEAD_STATUSES = ['new', 'new', 'contacted', 'qualified', 'proposal', 'won', 'lost'] as const;
const SOURCES = ['website', 'website', 'referral', 'manual', 'api', 'import', 'other'] as const;
const PAST_APPOINTMENTS = ['completed', 'completed', 'completed', 'cancelled', 'no_show'] as const;
export const FUTURE_APPOINTMENTS = ['scheduled', 'confirmed'] as const;
const PRIORITIES = ['low', 'medium', 'medium', 'high', 'urgent'] as const;
const OVERDUE_TASKS = ['completed', 'completed', 'completed', 'open', 'cancelled'] as const;
const FUTURE_TASKS = ['open', 'open', 'in_progress', 'completed'] as const;

/** Area codes of some cities. */
export const AREA_CODES = [212, 303, 312, 404, 415, 505, 512, 602, 617, 702, 801, 901];

/** The company of the sample renovates homes. */
export const PROJECTS = ['roof', 'kitchen', 'bathroom', 'solar', 'windows', 'deck', 'heating'];
export const VISITS = ['Estimate', 'Installation', 'Inspection', 'Consultation'];
const OUTCOMES = ['Offer accepted', 'Offer sent', 'Needs second visit', 'Not interested'];
const LEAD_NOTES = [
  'Asked for a call back in the evening.',
  'Compares three offers; wants to decide this month.',
  'Needs financing; send the leaflet.',
];
const TASK_TITLES = [
  'Call back about the offer',
  'Order material samples',
  'Ask for photos of the site',
  'Prepare the contract',
  'Follow up after the visit',
];

/** A lead that has been created. */
type CreatedLead = CreateLeadDto & Times & { readonly id: string };

/** Creates a lead of the past months. Its e-mail and phone are unique to its number. */
export function sampleLead(faker: Faker, number: number, now: Date): CreateLeadDto & Times {
  const first_name = faker.person.firstName();
  const last_name = faker.person.lastName();
  const account = `${first_name}.${last_name}${number}`.toLowerCase().replaceAll(/[^\w.]/g, '');
  // The domains are reserved for examples.
  const domain = faker.helpers.arrayElement(['example.com', 'example.net', 'example.org']);
  const state = faker.location.state({ abbreviated: true });
  const zip = faker.location.zipCode({ state });
  const address = { address_street: faker.location.streetAddress(), zip };
  const project = faker.helpers.arrayElement(PROJECTS);
  const budget = faker.number.int({ min: 4, max: 120 }) * 500;
  // Recent leads are more frequent, as in a growing company.
  const age = faker.number.float() * faker.number.float() * PAST_DAYS * DAY_MS;
  const created_at = new Date(now.getTime() - Math.ceil(age));
  return {
    first_name,
    last_name: sometimes(faker, 0.95, last_name),
    email: sometimes(faker, 0.92, `${account}@${domain}`),
    phone: sometimes(faker, 0.85, phoneOf(number)),
    company: sometimes(faker, 0.2, faker.company.name()),
    city: faker.location.city(),
    state,
    ...sometimes(faker, 0.8, address),
    status: faker.helpers.arrayElement(LEAD_STATUSES),
    temperature: sometimes(faker, 0.9, faker.helpers.arrayElement(TEMPERATURES)),
    source: faker.helpers.arrayElement(SOURCES),
    notes: sometimes(faker, 0.3, faker.helpers.arrayElement(LEAD_NOTES)),
    tags: sometimes(faker, 0.3, [project, 'urgent']) ?? [project],
    custom_fields: sometimes(faker, 0.6, { project, budget }) ?? {},
    sms_opted_out: faker.datatype.boolean(0.04),
    on_dnc_list: faker.datatype.boolean(0.02),
    created_at,
    updated_at:
      sometimes(faker, 0.5, faker.date.between({ from: created_at, to: now })) ?? created_at,
  };
}

/** Uses the fictional exchange 555, and the following ones for very many leads. */
function phoneOf(number: number): string {
  const areaCode = AREA_CODES[number % AREA_CODES.length];
  const numberInArea = Math.floor(number / AREA_CODES.length);
  const exchange = 555 + Math.floor(numberInArea / 10_000);
  // Because 7,919 is coprime to 10,000, every four-digit line number occurs once per exchange.
  const line = (numberInArea * 7_919) % 10_000;
  return `+1 ${areaCode}-${exchange}-${String(line).padStart(4, '0')}`;
}

/** Creates an appointment in the weeks after the creation of the lead. */
export function sampleAppointment(
  faker: Faker,
  lead: CreatedLead,
  now: Date,
): CreateAppointmentDto & Times {
  const midnight = Math.floor(lead.created_at.getTime() / DAY_MS) * DAY_MS;
  const minutes = OPENS + 30 * faker.number.int({ min: 0, max: HALF_HOURS_OPEN - 1 });
  const days = faker.number.int({ min: 2, max: 25 });
  const start_time = new Date(midnight + days * DAY_MS + minutes * MINUTE_MS);
  const halfHours = faker.number.int({ min: 1, max: 4 });
  const end_time = new Date(start_time.getTime() + halfHours * 30 * MINUTE_MS);
  const isOver = end_time < now;
  const created_at = faker.date.between({ from: lead.created_at, to: isOver ? start_time : now });
  const statuses = isOver ? PAST_APPOINTMENTS : FUTURE_APPOINTMENTS;
  const status = faker.helpers.arrayElement<AppointmentStatus>(statuses);
  const isDone = status === 'completed';
  const outcome = faker.helpers.arrayElement(OUTCOMES);
  const outcome_notes = sometimes(faker, 0.3, 'Wants the work done before winter.');
  return {
    lead_id: lead.id,
    start_time,
    end_time,
    type: faker.helpers.arrayElement(VISITS),
    location: lead.address_street ? `${lead.address_street}, ${lead.city ?? ''}` : null,
    notes: sometimes(faker, 0.2, 'Ring twice; the bell is quiet.'),
    status,
    ...(isDone && { outcome, outcome_notes }),
    created_at,
    updated_at: isOver ? end_time : created_at,
  };
}

/** Creates a task about a lead, for a member of the team. */
export function sampleTask(
  faker: Faker,
  lead: CreatedLead,
  team: readonly string[],
  now: Date,
): CreateTaskDto & Times {
  const created_at = faker.date.between({ from: lead.created_at, to: now });
  const hours = faker.number.int({ min: 4, max: 14 * 24 });
  const due = new Date(created_at.getTime() + hours * HOUR_MS);
  return {
    title: faker.helpers.arrayElement(TASK_TITLES),
    description: sometimes(faker, 0.3, `${lead.first_name} expects an answer.`),
    priority: faker.helpers.arrayElement(PRIORITIES),
    status: faker.helpers.arrayElement<TaskStatus>(due < now ? OVERDUE_TASKS : FUTURE_TASKS),
    due_date: sometimes(faker, 0.85, due),
    contact_id: lead.id,
    assigned_to_user_id: sometimes(faker, 0.7, faker.helpers.arrayElement(team)),
    created_at,
    updated_at: faker.date.between({ from: created_at, to: due < now ? due : now }),
  };
}

function sometimes<T>(faker: Faker, probability: number, value: T): T | null {
  return faker.datatype.boolean(probability) ? value : null;
}
