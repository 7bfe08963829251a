import type { BookableResource } from 'latitude/client';
import { leadName } from '../../components/lead-name.js';
import { Link } from '../../components/link.js';
import { Table } from '../../components/table.js';
import { Text } from '../../components/text.js';
import { ZONE } from '../../components/time.js';
import { texts } from '../../texts.js';
import { clockOf, dayOf } from './days.js';
import { type Booked, type Day, dayAt, type Schedule, type Slot } from './schedule.js';

/** Free times of a day, more than which are folded. */
const MAX_OPEN = 12;

interface ScheduleTableProps {
  readonly schedule: Schedule;
  readonly days: readonly string[];
  /** What a click on a free time does. Without it, free times are only shown. */
  readonly onFree: ((slot: Slot) => void) | undefined;
}

/** A row for each resource, a column for each day. */
export function ScheduleTable({ schedule, days, onFree }: ScheduleTableProps) {
  const isWithout = schedule.appointments.some(({ resource_id }) => resource_id === null);
  const rows = [...schedule.resources, ...(isWithout ? [undefined] : [])];
  const columns = [
    {
      name: 'resource',
      label: texts.appointments.resource,
      cell: (resource?: BookableResource) => <ResourceCell resource={resource} />,
    },
    ...days.map((day) => ({
      name: day,
      label: dayOf(day),
      cell: (resource?: BookableResource) => (
        <DayCell
          day={dayAt(schedule, resource?.id ?? null, day)}
          resource={resource}
          onFree={onFree}
        />
      ),
    })),
  ];
  return (
    <Table
      caption={texts.appointments.title}
      columns={columns}
      rows={rows}
      keyOf={(resource) => resource?.id ?? ''}
    />
  );
}

function ResourceCell({ resource }: { resource: BookableResource | undefined }) {
  if (!resource) return <>{texts.appointments.noResource}</>;
  return (
    <>
      <Link to={`resources/${resource.id}`}>
        <bdi>{resource.name}</bdi>
      </Link>
      {resource.time_zone !== ZONE && <div class="hint">{resource.time_zone}</div>}
      {!resource.active && <div class="hint">{texts.appointments.inactive}</div>}
    </>
  );
}

interface DayCellProps {
  readonly day: Day;
  readonly resource: BookableResource | undefined;
  readonly onFree: ((slot: Slot) => void) | undefined;
}

function DayCell({ day: { booked, free }, resource, onFree }: DayCellProps) {
  const zone = resource?.time_zone ?? ZONE;
  return (
    <>
      {booked.length > 0 && (
        <ul class="slots">
          {booked.map((appointment) => (
            <li key={appointment.id}>
              <BookedEntry appointment={appointment} zone={zone} />
            </li>
          ))}
        </ul>
      )}
      {free.length > 0 && (
        <details open={free.length <= MAX_OPEN}>
          <summary>{texts.appointments.free(free.length)}</summary>
          <ul class="slots chips">
            {free.map((slot) => (
              <li key={slot.start_time}>
                <FreeEntry slot={slot} zone={zone} onFree={onFree} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {booked.length + free.length === 0 && texts.data.none}
    </>
  );
}

function BookedEntry({ appointment, zone }: { appointment: Booked; zone: string }) {
  const { id, start_time, end_time, lead, type, status } = appointment;
  const name = lead && leadName(lead);
  return (
    <>
      <Link to={`appointments/${id}`}>
        {clockOf(start_time)}–{clockOf(end_time)}{' '}
        <bdi>{name ?? type ?? texts.appointments.one}</bdi>
      </Link>
      {name && type !== null && <Text value={` ${type}`} />}
      <span class="hint">
        {' '}
        {texts.appointments.statuses[status]}
        {zone !== ZONE && ` · ${texts.appointments.there(clockOf(start_time, zone))}`}
      </span>
    </>
  );
}

interface FreeEntryProps {
  readonly slot: Slot;
  readonly zone: string;
  readonly onFree: ((slot: Slot) => void) | undefined;
}

function FreeEntry({ slot, zone, onFree }: FreeEntryProps) {
  const local =
    zone === ZONE ? '' : ` (${texts.appointments.there(clockOf(slot.start_time, zone))})`;
  const text = `${clockOf(slot.start_time)}${local}`;
  if (!onFree) return <>{text}</>;
  return (
    <button
      type="button"
      class="free"
      onClick={() => {
        onFree(slot);
      }}
    >
      {text}
    </button>
  );
}
