/** The days from which major versions get no fixes any more, as their projects announce them. */
export const ENDS_OF_NODE: Readonly<Record<string, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};

/** Of the versions of PostgreSQL on which Latitude runs. */
export const ENDS_OF_POSTGRESQL: Readonly<Record<string, string>> = {
  15: '2027-11-11',
  16: '2028-11-09',
  17: '2029-11-08',
  18: '2030-11-14',
};

/** @param end a day of the tables; undefined if it is not known */
export function hasEnded(end: string | undefined, now: Date): boolean {
  return end !== undefined && now >= new Date(end);
}
