const DAY = 24 * 60 * 60 * 1_000;

/** Offsets of a zone that are remembered, of at most 100 bytes each. */
const MAX_REMEMBERED = 10_000;

/**
 * The local times of a time zone, as milliseconds since the local beginning of 1970. Local days begin at the multiples of 24
 * hours.
 */
export class LocalTimes {
  private readonly format: Intl.DateTimeFormat;
  private readonly offsets = new Map<number, number>();

  /** @param zone a name of the IANA database */
  constructor(zone: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: zone, calendar: 'gregory', hourCycle: 'h23', era: 'short' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  }

  /** The local time at a moment. */
  at(utc: number): number {
    return utc + this.offsetAt(utc);
  }

  /**
   * The moment of a local time. One that does not exist, because clocks are set forward, is later by the length of the gap;
   * one that exists twice is the first.
   */
  toUtc(local: number): number {
    // No zone is a whole day from UTC, and none changes twice within these days.
    const day = Math.floor(local / DAY) * DAY;
    const before = this.rememberedOffset(day - DAY);
    const after = this.rememberedOffset(day + 3 * DAY);
    const [first, second] = [local - before, local - after];
    if (before === after || this.offsetAt(first) === before) return first;
    return this.offsetAt(second) === after ? second : first;
  }

  private rememberedOffset(utc: number): number {
    let offset = this.offsets.get(utc);
    if (offset === undefined) {
      if (this.offsets.size >= MAX_REMEMBERED) this.offsets.clear();
      offset = this.offsetAt(utc);
      this.offsets.set(utc, offset);
    }
    return offset;
  }

  private offsetAt(utc: number): number {
    const parts = new Map(this.format.formatToParts(utc).map(({ type, value }) => [type, value]));
    const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
    const year = parts.get('era')?.startsWith('B') ? 1 - part('year') : part('year');
    const local = new Date(0);
    local.setUTCFullYear(year, part('month') - 1, part('day'));
    local.setUTCHours(part('hour'), part('minute'), part('second'));
    // Formats have whole seconds.
    return local.getTime() - Math.floor(utc / 1_000) * 1_000;
  }
}

const ZONES = new Map<string, LocalTimes>();

/** The names of zones in all cases are more than there are zones. */
const MAX_ZONES = 1_000;

/** The local times of a zone, with what is remembered of it. */
export function localTimesOf(zone: string): LocalTimes {
  let times = ZONES.get(zone);
  if (!times) {
    if (ZONES.size >= MAX_ZONES) ZONES.clear();
    times = new LocalTimes(zone);
    ZONES.set(zone, times);
  }
  return times;
}
