import type {
  AppointmentStatus,
  CreateAppointmentDto,
} from '../../../modules/appointments/appointment.dto.js';
import type { Times } from '../../../platform/data/records/tenant-repository.js';
import type { Random } from './random.js';
import { OUTCOMES } from './words.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Working hours in the cities of the sample, in minutes of the day in UTC. */
const OPENS = 14 * 60;
const HALF_HOURS_OPEN = 16;

const PAST: Partial<Record<AppointmentStatus, number>> = {
  completed: 70,
  cancelled: 18,
  no_show: 12,
};
const FUTURE: Partial<Record<AppointmentStatus, number>> = { scheduled: 60, confirmed: 40 };

/** The lead of an appointment. */
interface Lead {
  readonly id: string;
  readonly created_at: Date;
  readonly address_street?: string | null;
  readonly city?: string | null;
}

/** Creates an appointment in the weeks after the creation of the lead. */
export function sampleAppointment(
  random: Random,
  lead: Lead,
  now: Date,
): CreateAppointmentDto & Times {
  const start_time = startOf(random, lead.created_at);
  const end_time = new Date(start_time.getTime() + random.integer(1, 4) * 30 * MINUTE_MS);
  const isOver = end_time < now;
  const created_at = random.between(lead.created_at, isOver ? start_time : now);
  const status = random.weighted(isOver ? PAST : FUTURE);
  const isDone = status === 'completed';
  return {
    lead_id: lead.id,
    start_time,
    end_time,
    type: random.pick(['Estimate', 'Installation', 'Inspection', 'Consultation']),
    location: lead.address_street ? `${lead.address_street}, ${lead.city ?? ''}` : null,
    notes: random.chance(0.2) ? 'Ring twice; the bell is quiet.' : null,
    status,
    outcome: isDone ? random.pick(OUTCOMES) : null,
    outcome_notes: isDone && random.chance(0.3) ? 'Wants the work done before winter.' : null,
    created_at,
    updated_at: isOver ? end_time : created_at,
  };
}

function startOf(random: Random, leadCreatedAt: Date): Date {
  const midnight = Math.floor(leadCreatedAt.getTime() / DAY_MS) * DAY_MS;
  const minutes = OPENS + 30 * random.integer(0, HALF_HOURS_OPEN - 1);
  return new Date(midnight + random.integer(2, 25) * DAY_MS + minutes * MINUTE_MS);
}
