import { InvalidArgumentError, Option } from 'commander';
import { isSupportedCountry } from 'libphonenumber-js';
import { ORDINARY_SCOPES, SCOPES, type Scope } from '../access/scopes.js';
import { parseDuration } from '../config/duration.js';
import { CONFIRMATIONS } from '../data/call.js';
import { isTimeZone, TIME_ZONE_PROBLEM } from '../fields/kinds/time-zone.js';
import { UUID } from '../fields/kinds/uuid.js';

/** Maximum lifetime of a key: a century. Much later dates cannot be stored. */
const MAX_DURATION = '36500d';
const MAX_DURATION_MS = parseDuration(MAX_DURATION) ?? 0;

/** @throws InvalidArgumentError */
export function uuid(text: string): string {
  if (UUID.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a UUID.');
}

/** @throws InvalidArgumentError */
export function scopes(text: string): readonly Scope[] {
  if (text === 'all') return ORDINARY_SCOPES;
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

/** @throws InvalidArgumentError */
export function timeZone(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError(`It ${TIME_ZONE_PROBLEM}.`);
}

/**
 * @returns milliseconds
 * @throws InvalidArgumentError
 */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) {
    throw new InvalidArgumentError('It must be a whole number with s, m, h or d, such as 90d.');
  }
  if (ms > MAX_DURATION_MS) throw new InvalidArgumentError(`It must be at most ${MAX_DURATION}.`);
  return ms;
}

/** @returns a parser of whole numbers within bounds */
export function integer({ min, max }: { min: number; max: number }) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** The option of keys and grants that lets tools of /mcp ask the user. */
export function confirmationsOption(): Option {
  const description = 'whether tools of /mcp ask the user before they delete, cancel or merge';
  return new Option('--confirmations <when>', description).choices(CONFIRMATIONS);
}
