import { isIP } from 'node:net';
import { isSupportedCountry } from 'libphonenumber-js';
import { isLoopback } from './loopback.js';
import { setting } from './setting.js';

/** `false` trusts no proxy, a number trusts that many hops, a list trusts addresses or subnets. */
export type TrustProxy = false | number | readonly string[];

/** @param rule a predicate, such as `must be a URL` */
export function optional(isValid: (raw: string) => boolean, rule: string) {
  return setting.custom((raw) => (isValid(raw) ? raw : undefined), rule, { optional: true });
}

/** @param rule a predicate about the parts, which commas separate */
export function listOf(
  isValid: (part: string) => boolean,
  rule: string,
  fallback: readonly string[] = [],
) {
  return setting.custom<readonly string[], { default: readonly string[] }>(
    (raw) => (list(raw).every(isValid) ? list(raw) : undefined),
    `${rule}, separated by commas`,
    { default: fallback },
  );
}

/** Browsers and clients of OAuth accept HTTP only from their own machine. */
export function isPublicUrl(text: string): boolean {
  return isSecureUrl(text) && new URL(text).origin === text;
}

export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' || isLoopback(url);
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) && isPercentEncoded(text);
}

export function isRedisUrl(text: string): boolean {
  const isUrl = /^rediss?:\/\//.test(text) && URL.canParse(text) && isPercentEncoded(text);
  return isUrl && /^(\/\d*)?$/.test(new URL(text).pathname);
}

/** Checks the percent-encoding of a URL, because the driver decodes every part of it. */
function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

export function phoneRegion() {
  return setting.custom(
    (raw) => (isSupportedCountry(raw.toUpperCase()) ? raw.toUpperCase() : undefined),
    'must be a two-letter country code such as US or DE',
    { default: 'US' },
  );
}

/** A time of day in UTC, in minutes after midnight. */
export function timeOfDay() {
  return setting.custom(
    (raw) => {
      const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(raw) ?? [];
      return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
    },
    'must be a time of day in UTC such as 03:00',
    { optional: true },
  );
}

export function trustProxy() {
  return setting.custom<TrustProxy, { default: TrustProxy }>(
    (raw) => {
      if (raw === 'off') return false;
      if (/^\d{1,2}$/.test(raw)) return Number(raw);
      const subnets = list(raw);
      return subnets.every(isSubnet) ? subnets : undefined;
    },
    'must be off, a number of proxies, or addresses and subnets separated by commas',
    { default: false },
  );
}

function isSubnet(text: string): boolean {
  return ['loopback', 'linklocal', 'uniquelocal'].includes(text) || isAddressOrSubnet(text);
}

export function isAddressOrSubnet(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits);
}

function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** @param word a keyword that is allowed in place of an origin */
export function origins(word: string, fallback: readonly string[]) {
  const rule = `must be ${word} or origins such as https://app.example`;
  return listOf((text) => text === word || isOrigin(text), rule, fallback);
}

function list(raw: string): string[] {
  return raw
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
