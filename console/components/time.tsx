/** The zone of the browser, which all times of the console have. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const MOMENT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' });
const CLOCK = new Intl.DateTimeFormat('en', { timeStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat('en');

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
/** Older times are shown as a date. */
const MAX_DAYS = 30;

export const clockTime = (time: Date) => CLOCK.format(time);

/** Such as `3 minutes ago`. */
export function timeAgo(time: Date, now = Date.now()): string {
  const seconds = Math.round((time.getTime() - now) / 1_000);
  if (Math.abs(seconds) > MAX_DAYS * 86_400) return MOMENT.format(time);
  const [unit, length] =
    UNITS.find(([, unitLength]) => Math.abs(seconds) >= unitLength) ?? (['second', 1] as const);
  return RELATIVE.format(Math.trunc(seconds / length), unit);
}

/** A time of a record. */
export function Time({ value, isAgo = false }: { value: string; isAgo?: boolean }) {
  const time = new Date(value);
  return (
    <time dateTime={value} title={EXACT.format(time)}>
      {isAgo ? timeAgo(time) : MOMENT.format(time)}
    </time>
  );
}
