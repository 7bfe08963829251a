import { InvalidArgumentError } from 'commander';
import { isSupportedCountry } from 'libphonenumber-js';
import { SCOPES, type Scope } from '../auth/scopes.js';
import { UUID } from '../fields/uuid.js';

const MS_PER_UNIT = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Maximum lifetime of a key: a century. Much later dates cannot be stored. */
const MAX_DURATION_MS = 36_500 * MS_PER_UNIT.d;
const MAX_DURATION = `${MAX_DURATION_MS / MS_PER_UNIT.d}d`;

/** @throws InvalidArgumentError */
export function uuid(text: string): string {
  if (UUID.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a UUID.');
}

/** @throws InvalidArgumentError */
export function scopes(text: string): readonly Scope[] {
  if (text === 'all') return SCOPES;
  const wanted = [...new Set(text.split(','))];
  const unknown = wanted.filter((scope) => !SCOPES.includes(scope as Scope));
  if (unknown.length === 0) return wanted as Scope[];
  throw new InvalidArgumentError(`It must be all, or some of ${SCOPES.join(',')}.`);
}

/**
 * Reads a country code, ISO 3166-1 alpha-2.
 * @throws InvalidArgumentError
 */
export function phoneRegion(text: string): string {
  const region = text.toUpperCase();
  if (isSupportedCountry(region)) return region;
  throw new InvalidArgumentError('It must be a two-letter country code such as US or DE.');
}

/**
 * @returns milliseconds
 * @throws InvalidArgumentError
 */
export function duration(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT];
  if (ms > MAX_DURATION_MS) throw new InvalidArgumentError(`It must be at most ${MAX_DURATION}.`);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('It must be a whole number with s, m, h or d, such as 90d.');
}

/** @returns a parser of whole numbers within bounds */
export function integer({ min, max }: { min: number; max: number }) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}
