// Days and times in the zone of the browser.

const two = (number: number) => String(number).padStart(2, '0');

/** The date of a time, such as `2026-03-02`. */
export function dateOf(time: Date): string {
  const year = String(time.getFullYear()).padStart(4, '0');
  return `${year}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** When a date begins. */
export const startOf = (date: string) => new Date(`${date}T00:00`);

/** A date so many days later. */
export function addDays(date: string, days: number): string {
  const time = startOf(date);
  time.setDate(time.getDate() + days);
  return dateOf(time);
}

/** The Monday of the week of a date. */
export const mondayOf = (date: string) => addDays(date, -((startOf(date).getDay() + 6) % 7));

export const isDate = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && dateOf(startOf(text)) === text;

/** The value of an input of type `datetime-local`. */
export function localTimeOf(time: string | Date): string {
  const at = new Date(time);
  return `${dateOf(at)}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The time that such a value names, or undefined. */
export function timeOf(local: string): string | undefined {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

const DAY = new Intl.DateTimeFormat('en', { weekday: 'short', month: 'short', day: 'numeric' });

/** A date in words, such as `Mon, Mar 2`. */
export const dayOf = (date: string) => DAY.format(startOf(date));

const LONG_DAY = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  year: 'numeric',
  month: 'short',
  day: 'numeric',
});

/** The date of a time in words, with its year. */
export const longDayOf = (time: string) => LONG_DAY.format(new Date(time));

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/** The time of a day, such as `09:30`. @param zone default: that of the browser */
export const clockOf = (time: string, zone?: string) =>
  new Date(time).toLocaleTimeString('en', { ...CLOCK, timeZone: zone });
