const MS_PER_UNIT = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole number of seconds, minutes, hours or days, such as `90d`. */
export type Duration = `${number}${keyof typeof MS_PER_UNIT}`;

/** The milliseconds of a duration that is written in code. @throws Error if it is not a duration longer than zero */
export function millisecondsOf(duration: Duration): number {
  const ms = parseDuration(duration);
  if (ms === undefined) throw new Error(`"${duration}" is not a duration such as 30d`);
  return ms;
}

/** @returns milliseconds; undefined if the string is not a duration longer than zero */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT];
  return ms > 0 ? ms : undefined;
}
