import {
  escape,
  foldLines,
  ICalCalendar,
  ICalEvent,
  ICalEventStatus,
  ICalEventTransparency,
} from 'ical-generator';
import { giveWay } from '../../../platform/give-way.js';
import type { AppointmentStatus } from '../appointment.dto.js';

/** Increase it when the same content is written in another way, so that readers read it again. */
export const FORMAT = 1;

/** An appointment as a calendar shows it. Times are milliseconds since 1970. */
export interface CalendarItem {
  readonly id: string;
  readonly start_time: number;
  readonly end_time: number;
  readonly type: string | null;
  readonly status: AppointmentStatus;
  readonly created_at: number;
  readonly updated_at: number;
  /** The location and the name of the lead, if the calendar has details. */
  readonly location?: string | null;
  readonly lead_name?: string | null;
}

/** What a calendar contains. */
export interface CalendarContent {
  /** The name of the resource. */
  readonly name: string;
  readonly items: readonly CalendarItem[];
}

/** Appointments that do not take time, such as `no_show`, are cancelled to readers of calendars. */
const STATUSES: Readonly<Record<AppointmentStatus, ICalEventStatus>> = {
  scheduled: ICalEventStatus.TENTATIVE,
  confirmed: ICalEventStatus.CONFIRMED,
  completed: ICalEventStatus.CONFIRMED,
  cancelled: ICalEventStatus.CANCELLED,
  no_show: ICalEventStatus.CANCELLED,
};

/** Proposes how often applications read the calendar again. */
const REFRESH_SECONDS = 3_600;

const END = 'END:VCALENDAR';
const LINE_BREAK = '\r\n';

/** The longest line in octets (RFC 5545, 3.1). */
const MAX_LINE = 75;

/** Writes a calendar as iCalendar (RFC 5545). Other requests run meanwhile. */
export async function renderCalendar({ name, items }: CalendarContent): Promise<string> {
  const calendar = new ICalCalendar({
    prodId: { company: 'Latitude', product: 'Latitude' },
    // The library escapes texts of events only.
    name: escape(printable(name), false),
    ttl: REFRESH_SECONDS,
  });
  const parts = [folded(calendar.toString().slice(0, -END.length))];
  for (const item of items) {
    await giveWay();
    parts.push(folded(eventOf(item, calendar).toString()));
  }
  return `${parts.join('')}${END}${LINE_BREAK}`;
}

function eventOf(item: CalendarItem, calendar: ICalCalendar): ICalEvent {
  const status = STATUSES[item.status];
  const isCancelled = status === ICalEventStatus.CANCELLED;
  const changedAt = new Date(item.updated_at);
  const { TRANSPARENT, OPAQUE } = ICalEventTransparency;
  return new ICalEvent(
    {
      id: item.id,
      sequence: sequenceOf(item),
      start: new Date(item.start_time),
      end: nextSecond(new Date(item.end_time)),
      summary: printable(summaryOf(item)),
      location: item.location ? printable(item.location) : null,
      status,
      transparency: isCancelled ? TRANSPARENT : OPAQUE,
      created: new Date(item.created_at),
      lastModified: changedAt,
      // Equal content has an equal stamp, so that the entity tag does not change.
      stamp: changedAt,
    },
    calendar,
  );
}

function summaryOf({ type, lead_name }: CalendarItem): string {
  return [type ?? 'Appointment', lead_name].filter(Boolean).join(' – ');
}

/** Until this age in milliseconds, about eleven days, the sequence has milliseconds. A sequence has 31 bits. */
const PRECISE_AGE = 1_000_000_000;

/**
 * A number that rises with each change, because `updated_at` does: the milliseconds from the creation to the last change.
 * After eleven days, it has seconds, which are enough for readers that come every few minutes.
 */
function sequenceOf({ created_at, updated_at }: CalendarItem): number {
  const age = Math.max(updated_at - created_at, 0);
  return age <= PRECISE_AGE ? age : PRECISE_AGE + Math.ceil((age - PRECISE_AGE) / 1_000);
}

/** Times have seconds, and an end is later than its start. */
function nextSecond(time: Date): Date {
  return new Date(Math.ceil(time.getTime() / 1_000) * 1_000);
}

/** Control characters other than tabs and line breaks are not allowed, and some parsers end lines at U+2028 and the like. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029]/g;

function printable(text: string): string {
  return text.replace(CONTROLS, ' ');
}

/** Folds the long lines only, because the library looks at each character. */
function folded(text: string): string {
  if (text.length * 3 <= MAX_LINE) return text;
  const lines = text.split(LINE_BREAK);
  return lines.map((line) => (isLong(line) ? foldLines(line) : line)).join(LINE_BREAK);
}

function isLong(line: string): boolean {
  return line.length * 3 > MAX_LINE && Buffer.byteLength(line) > MAX_LINE;
}
