import { isIP } from 'node:net';
import { isSupportedCountry } from 'libphonenumber-js';

/** An invalid value of a setting. The message is one line that names the setting. */
export class SettingError extends Error {
  constructor(name: string, problem: string) {
    super(`${name} ${problem}`);
    this.name = 'SettingError';
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Connections to the database: the default and the minimum. */
export const DEFAULT_CONNECTIONS = 24;
export const MIN_CONNECTIONS = 5;

/** Upper bound of settings that are integers, such as the rate limits, unless they have another. */
export const MAX_INTEGER = 1_000_000_000;

const ON_OFF = ['on', 'off'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** `false` trusts no proxy, a number trusts that many hops, a list trusts addresses or subnets. */
export type TrustProxy = false | number | readonly string[];

/**
 * Every setting of the product, read once from environment variables
 * (docs/contract/running.md#settings).
 * It is a class because Nest uses it as the injection token.
 */
export abstract class Settings {
  /** TCP port to listen on; 0 picks a free one. */
  abstract readonly port: number;
  /** Address to listen on. */
  abstract readonly host: string;
  /** URL of the PostgreSQL server. If unset, the embedded PostgreSQL starts. */
  abstract readonly databaseUrl: string | undefined;
  /** Maximum number of connections that this instance opens to the database. */
  abstract readonly databaseMaxConnections: number;
  /** Data directory of the embedded PostgreSQL. */
  abstract readonly dataDir: string;
  /** Maximum number of reads per key in 60 seconds. */
  abstract readonly readsPerMinute: number;
  /** Maximum number of writes per key in 60 seconds. */
  abstract readonly writesPerMinute: number;
  /** Maximum size of a decompressed request body in bytes. */
  abstract readonly bodyLimitBytes: number;
  abstract readonly logLevel: LogLevel;
  /** Default region for national phone numbers of new organizations, ISO 3166-1 alpha-2. */
  abstract readonly defaultPhoneRegion: string;
  abstract readonly trustProxy: TrustProxy;
  /** Origins that CORS allows. `*` allows any origin; an empty list switches CORS off. */
  abstract readonly corsOrigins: readonly string[];
  /** Maximum number of open sessions of /mcp. */
  abstract readonly mcpMaxSessions: number;
  /** Idle timeout of a session of /mcp in seconds. */
  abstract readonly mcpSessionTtlSeconds: number;
  /** Origins that may call /mcp. `loopback` allows every port of this machine. */
  abstract readonly mcpAllowedOrigins: readonly string[];
  /** Whether /docs is served. */
  abstract readonly docs: boolean;
  /** Whether /metrics is served. */
  abstract readonly metrics: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks the settings.
 * @throws SettingError for the first invalid setting
 */
export function readSettings(env: Environment = process.env): Settings {
  return {
    port: integer(env, 'PORT', { default: 3000, min: 0, max: 65_535 }),
    host: text(env, 'HOST', '127.0.0.1'),
    databaseUrl: postgresUrl(env, 'DATABASE_URL'),
    databaseMaxConnections: integer(env, 'DATABASE_MAX_CONNECTIONS', {
      default: DEFAULT_CONNECTIONS,
      min: MIN_CONNECTIONS,
      max: 10_000,
    }),
    dataDir: text(env, 'DATA_DIR', './data'),
    readsPerMinute: integer(env, 'RATE_LIMIT_READS_PER_MINUTE', { default: 60, min: 1 }),
    writesPerMinute: integer(env, 'RATE_LIMIT_WRITES_PER_MINUTE', { default: 30, min: 1 }),
    bodyLimitBytes: integer(env, 'BODY_LIMIT_BYTES', { default: 262_144, min: 1_024 }),
    logLevel: oneOf(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    defaultPhoneRegion: region(env, 'DEFAULT_PHONE_REGION', 'US'),
    trustProxy: trustProxy(env, 'TRUST_PROXY'),
    corsOrigins: origins(env, 'CORS_ORIGINS', { word: '*', default: [] }),
    mcpMaxSessions: integer(env, 'MCP_MAX_SESSIONS', { default: 1_000, min: 1 }),
    mcpSessionTtlSeconds: integer(env, 'MCP_SESSION_TTL_SECONDS', { default: 1_800, min: 1 }),
    mcpAllowedOrigins: origins(env, 'MCP_ALLOWED_ORIGINS', {
      word: 'loopback',
      default: ['loopback'],
    }),
    docs: oneOf(env, 'DOCS', ON_OFF, 'on') === 'on',
    metrics: oneOf(env, 'METRICS', ON_OFF, 'on') === 'on',
  };
}

/** An empty variable counts as unset, because compose files and shells often set empty ones. */
function text(env: Environment, name: string, fallback: string): string {
  const raw = env[name];
  return raw === undefined || raw === '' ? fallback : raw;
}

function integer(
  env: Environment,
  name: string,
  { default: fallback, min, max = MAX_INTEGER }: { default: number; min: number; max?: number },
): number {
  const raw = env[name];
  if (!raw) return fallback;
  const value = /^\d{1,10}$/.test(raw) ? Number(raw) : NaN;
  if (value >= min && value <= max) return value;
  throw new SettingError(name, `must be an integer from ${min} to ${max}`);
}

function oneOf<T extends string>(
  env: Environment,
  name: string,
  allowed: readonly T[],
  fallback: T,
): T {
  const raw = env[name];
  if (!raw) return fallback;
  const value = allowed.find((candidate) => candidate === raw.toLowerCase());
  if (value) return value;
  throw new SettingError(name, `must be one of ${allowed.join(', ')}`);
}

function postgresUrl(env: Environment, name: string): string | undefined {
  const raw = env[name];
  if (!raw) return undefined;
  if (/^postgres(ql)?:\/\//.test(raw) && URL.canParse(raw) && isPercentEncoded(raw)) return raw;
  throw new SettingError(name, 'must be a URL such as postgres://user:password@host:5432/database');
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

function region(env: Environment, name: string, fallback: string): string {
  const value = text(env, name, fallback).toUpperCase();
  if (isSupportedCountry(value)) return value;
  throw new SettingError(name, 'must be a two-letter country code such as US or DE');
}

function trustProxy(env: Environment, name: string): TrustProxy {
  const raw = env[name];
  if (!raw || raw === 'off') return false;
  if (/^\d{1,2}$/.test(raw)) return Number(raw);
  const subnets = list(raw);
  if (subnets.every(isSubnet)) return subnets;
  throw new SettingError(
    name,
    'must be off, a number of proxies, or addresses and subnets separated by commas',
  );
}

function isSubnet(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits);
}

/** @param word a keyword that is allowed in place of an origin */
function origins(
  env: Environment,
  name: string,
  { word, default: fallback }: { word: string; default: readonly string[] },
): readonly string[] {
  const raw = env[name];
  if (!raw) return fallback;
  const values = list(raw);
  const isOrigin = (text: string) =>
    text === word ||
    (/^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text);
  if (values.every(isOrigin)) return values;
  throw new SettingError(
    name,
    `must be ${word} or origins such as https://app.example, separated by commas`,
  );
}

function list(raw: string): string[] {
  return raw
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
