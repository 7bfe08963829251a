const MS_PER_UNIT = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole number of seconds, minutes, hours or days, such as `90d`. */
export type Duration = `${number}${keyof typeof MS_PER_UNIT}`;

/**
 * The milliseconds of a duration that is written in code.
 * @throws Error that names the option if it is not a duration longer than zero
 */
export function millisecondsOf(duration: Duration, option: string): number {
  const ms = parseDuration(duration);
  if (ms !== undefined) return ms;
  throw new Error(
    `The ${option} must be a whole number with s, m, h or d, such as 10s, and not ${duration}`,
  );
}

/** @returns milliseconds; undefined if the string is not a duration longer than zero */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT];
  return ms > 0 ? ms : undefined;
}
