/** By what records are counted. The column is SQL and must never come from a caller. */
export interface Grouping {
  readonly column: string;
  /**
   * `value` (default) is the value of the column, `element` each element of an array, `key` the value of a key of a JSON
   * object. The others are units of a time.
   */
  readonly per?: 'value' | 'element' | 'key' | TimeUnit;
}

/** Groupings by their names in the parameter `by`. The name of one per `key` is followed by a dot and the key. */
export type Groupings = Readonly<Record<string, Grouping>>;

/** A grouping, with its key. */
export interface ChosenGrouping extends Grouping {
  readonly key?: string;
  /** Whether the value of the key is an array, whose elements are counted. */
  readonly isList?: boolean;
}

const MAX_KEY = 100;

/** The names of groupings in documentation and errors, such as `custom_fields.KEY`. */
export function groupingNames(groupings: Groupings): string[] {
  return Object.entries(groupings).map(([name, { per }]) => (per === 'key' ? `${name}.KEY` : name));
}

/** @returns undefined if a parameter `by` names no grouping */
export function groupingOf(groupings: Groupings, by: string): ChosenGrouping | undefined {
  const dot = by.indexOf('.');
  const name = dot < 0 ? by : by.slice(0, dot);
  const grouping = Object.hasOwn(groupings, name) ? groupings[name] : undefined;
  if (grouping?.per !== 'key') return dot < 0 ? grouping : undefined;
  const key = by.slice(dot + 1);
  const { length } = [...key];
  return dot >= 0 && length > 0 && length <= MAX_KEY ? { ...grouping, key } : undefined;
}

/** Units of time, which SQL numbers so that units without records can be found. */
const TIME_UNITS = {
  day: {
    number: (time: string) => `${time}::date - date '1970-01-01'`,
    name: (number: number) => dateOf(number),
  },
  // The week 0 begins on Monday, 1969-12-29.
  week: {
    number: (time: string) => `floor((${time}::date - date '1969-12-29') / 7.0)::int`,
    name: (number: number) => dateOf(number * 7 - 3),
  },
  month: {
    number: (time: string) =>
      `(extract(year from ${time}) * 12 + extract(month from ${time}) - 1)::int`,
    name: (number: number) => {
      const [year, month] = [Math.floor(number / 12), (number % 12) + 1];
      return [String(year).padStart(4, '0'), String(month).padStart(2, '0')].join('-');
    },
  },
} as const;

export type TimeUnit = keyof typeof TIME_UNITS;

/** @returns undefined if a grouping is not by time */
export function timeUnitOf({ per = 'value' }: Grouping) {
  return Object.hasOwn(TIME_UNITS, per) ? TIME_UNITS[per as TimeUnit] : undefined;
}

const DAY_MS = 86_400_000;

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().replace(/T.*/, '');
}
