import { isLoopbackAddress } from './loopback.js';
import {
  isAddressOrSubnet,
  isPostgresUrl,
  isPublicUrl,
  isRedisUrl,
  isSecureUrl,
  listOf,
  optional,
  origins,
  phoneRegion,
  timeOfDay,
  type TrustProxy,
  trustProxy,
} from './setting-values.js';
import { type Environment, type Setting, setting, SettingError, variablesOf } from './setting.js';
import { readTracing, type TracingSettings } from './tracing-settings.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const LOG_ERRORS = ['stack', 'full'] as const;

/** Connections to the database: the default and the minimum. */
export const DEFAULT_CONNECTIONS = 24;
export const MIN_CONNECTIONS = 5;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** `stack` logs the class and the stack of an error, `full` also its message. */
export type LogErrors = (typeof LOG_ERRORS)[number];

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
  /** URLs of read replicas of that server. */
  abstract readonly databaseReplicaUrls: readonly string[];
  /** Maximum number of connections that this instance opens to the database. */
  abstract readonly databaseMaxConnections: number;
  /** Whether statements are prepared under names, which a connection pooler may not support. */
  abstract readonly databasePreparedStatements: boolean;
  /** URL of the Redis that keeps the rate limits of all instances. If unset, each keeps its own. */
  abstract readonly redisUrl: string | undefined;
  /** Data directory of the embedded PostgreSQL. */
  abstract readonly dataDir: string;
  /** Maximum number of reads per key in 60 seconds. */
  abstract readonly readsPerMinute: number;
  /** Maximum number of writes per key in 60 seconds. */
  abstract readonly writesPerMinute: number;
  /** The largest limits that a key can have of its own. */
  abstract readonly keyMaxReadsPerMinute: number;
  abstract readonly keyMaxWritesPerMinute: number;
  /** Maximum size of a decompressed request body in bytes. */
  abstract readonly bodyLimitBytes: number;
  /** Seconds for which a server that stops still accepts connections, so that load balancers notice it. */
  abstract readonly shutdownDelaySeconds: number | undefined;
  abstract readonly logLevel: LogLevel;
  abstract readonly logErrors: LogErrors;
  /** Default region for national phone numbers of new organizations, ISO 3166-1 alpha-2. */
  abstract readonly defaultPhoneRegion: string;
  abstract readonly trustProxy: TrustProxy;
  /** Origins that CORS allows. `*` allows any origin; an empty list switches CORS off. */
  abstract readonly corsOrigins: readonly string[];
  /** Maximum number of open sessions of /mcp. */
  abstract readonly mcpMaxSessions: number;
  /** Maximum number of open sessions of /mcp of one key. */
  abstract readonly mcpMaxSessionsPerKey: number | undefined;
  /** Idle timeout of a session of /mcp in seconds. */
  abstract readonly mcpSessionTtlSeconds: number;
  /** Addresses and subnets that many clients share, whose limits by address are larger. */
  abstract readonly trustedAddresses: readonly string[];
  /** Origins that may call /mcp. `loopback` allows every port of this machine. */
  abstract readonly mcpAllowedOrigins: readonly string[];
  /** The token by which OpenAI verifies that the service belongs to the publisher of an application. */
  abstract readonly openaiAppsChallenge: string | undefined;
  /** The address under which clients reach this service. */
  abstract readonly publicUrl: string | undefined;
  /** Whether people sign in to /mcp by OAuth, with an API key. Needs the public URL. */
  abstract readonly oauth: boolean;
  /** The authorization server whose access tokens /mcp accepts, in place of the built-in one. */
  abstract readonly oauthIssuer: string | undefined;
  /** The audience of its tokens. If unset, the URL of /mcp. */
  abstract readonly oauthAudience: string | undefined;
  /** The claim that has the id of the organization. If unset, `organization_id`. */
  abstract readonly oauthOrganizationClaim: string | undefined;
  /** The claim that identifies the caller. If unset, `sub`. */
  abstract readonly oauthActorClaim: string | undefined;
  /** The claim that has the scopes. If unset, `scope`. */
  abstract readonly oauthScopesClaim: string | undefined;
  /** Whether /docs is served. */
  abstract readonly docs: boolean;
  /** Whether /console is served. */
  abstract readonly console: boolean;
  /** Whether /metrics is served. */
  abstract readonly metrics: boolean;
  /** Another port of the same address for /metrics; 0 picks a free one. If unset, the port of the API serves it. */
  abstract readonly metricsPort: number | undefined;
  /** How long events are stored, in milliseconds. */
  abstract readonly eventsRetention: number;
  /** How long responses are stored for an `Idempotency-Key`, in milliseconds. */
  abstract readonly responsesRetention: number;
  /** How long deliveries of webhooks are stored, in milliseconds. */
  abstract readonly deliveriesRetention: number;
  /** The age at which a schedule purges deleted records, in milliseconds. If unset, only the command does. */
  abstract readonly purgeAfter: number | undefined;
  /** The directory of scheduled backups of the embedded PostgreSQL. If unset, there are none. */
  abstract readonly backupDir: string | undefined;
  /** When the backup of a day begins, in minutes after midnight UTC. If unset, at 03:00. */
  abstract readonly backupAt: number | undefined;
  /** How many scheduled backups are kept. If unset, 7. */
  abstract readonly backupKeep: number | undefined;
  /** How long entries of the audit log are stored, in milliseconds. */
  abstract readonly auditRetention: number;
  /** Whether the entries of the audit log are also lines of standard output. */
  abstract readonly auditLog: boolean;
  /** Whether webhooks may send events to private addresses. For development. */
  abstract readonly webhooksAllowPrivateTargets: boolean;
  /** Whether requests to webhooks name the trace of the change, in the header `traceparent`. */
  abstract readonly webhooksTraceparent: boolean;
  /** How traces are exported. If undefined, they are not. */
  abstract readonly tracing: TracingSettings | undefined;
  /** The values of the settings of extensions, by the name of the variable. */
  abstract readonly ofExtensions: Readonly<Record<string, unknown>>;
}

const MAX_SHUTDOWN_DELAY_SECONDS = 30;

const readHost = setting.text({ default: '127.0.0.1' });

/** An example for messages. */
const POSTGRES_URL = 'postgres://user:password@host:5432/database';

/** The name of each variable, the property that has its value, and how it is read. */
const SETTINGS = {
  port: ['PORT', setting.integer({ default: 3000, max: 65_535 })],
  host: ['HOST', readHost],
  databaseUrl: [
    'DATABASE_URL',
    setting.secret(optional(isPostgresUrl, `must be a URL such as ${POSTGRES_URL}`)),
  ],
  databaseReplicaUrls: [
    'DATABASE_REPLICA_URLS',
    setting.secret(
      listOf(
        (url) => isPostgresUrl(url) && !/\s/.test(url),
        `must be URLs such as ${POSTGRES_URL}`,
      ),
    ),
  ],
  databaseMaxConnections: [
    'DATABASE_MAX_CONNECTIONS',
    setting.integer({ default: DEFAULT_CONNECTIONS, min: MIN_CONNECTIONS, max: 10_000 }),
  ],
  databasePreparedStatements: ['DATABASE_PREPARED_STATEMENTS', setting.flag({ default: true })],
  redisUrl: [
    'REDIS_URL',
    setting.secret(optional(isRedisUrl, 'must be a URL such as redis://user:password@host:6379/0')),
  ],
  dataDir: ['DATA_DIR', setting.text({ default: './data' })],
  readsPerMinute: ['RATE_LIMIT_READS_PER_MINUTE', setting.integer({ default: 60, min: 1 })],
  writesPerMinute: ['RATE_LIMIT_WRITES_PER_MINUTE', setting.integer({ default: 30, min: 1 })],
  keyMaxReadsPerMinute: ['KEY_MAX_READS_PER_MINUTE', setting.integer({ default: 6_000, min: 1 })],
  keyMaxWritesPerMinute: ['KEY_MAX_WRITES_PER_MINUTE', setting.integer({ default: 3_000, min: 1 })],
  bodyLimitBytes: ['BODY_LIMIT_BYTES', setting.integer({ default: 262_144, min: 1_024 })],
  shutdownDelaySeconds: [
    'SHUTDOWN_DELAY_SECONDS',
    setting.integer({ optional: true, max: MAX_SHUTDOWN_DELAY_SECONDS }),
  ],
  logLevel: ['LOG_LEVEL', setting.oneOf(LOG_LEVELS, { default: 'info' })],
  logErrors: ['LOG_ERRORS', setting.oneOf(LOG_ERRORS, { default: 'stack' })],
  defaultPhoneRegion: ['DEFAULT_PHONE_REGION', phoneRegion()],
  trustProxy: ['TRUST_PROXY', trustProxy()],
  corsOrigins: ['CORS_ORIGINS', origins('*', [])],
  mcpMaxSessions: ['MCP_MAX_SESSIONS', setting.integer({ default: 1_000, min: 1 })],
  mcpMaxSessionsPerKey: ['MCP_MAX_SESSIONS_PER_KEY', setting.integer({ optional: true, min: 1 })],
  mcpSessionTtlSeconds: ['MCP_SESSION_TTL_SECONDS', setting.integer({ default: 1_800, min: 1 })],
  mcpAllowedOrigins: ['MCP_ALLOWED_ORIGINS', origins('loopback', ['loopback'])],
  trustedAddresses: [
    'TRUSTED_ADDRESSES',
    listOf(
      isAddressOrSubnet,
      'must be addresses and subnets such as 203.0.113.7 or 203.0.113.0/24',
    ),
  ],
  openaiAppsChallenge: [
    'OPENAI_APPS_CHALLENGE',
    optional(
      (raw) => /^[\x21-\x7e]{1,1000}$/.test(raw),
      'must be a token of 1 to 1000 visible ASCII characters',
    ),
  ],
  publicUrl: [
    'PUBLIC_URL',
    optional(
      isPublicUrl,
      'must be an origin such as https://latitude.example, with http only for this machine',
    ),
  ],
  oauth: ['OAUTH', setting.flag({ default: false })],
  oauthIssuer: [
    'OAUTH_ISSUER',
    optional(
      (raw) => isSecureUrl(raw) && !/[?#]/.test(raw),
      'must be a URL such as https://login.example/realms/crm, with http only for this machine',
    ),
  ],
  oauthAudience: ['OAUTH_AUDIENCE', setting.text({ optional: true })],
  oauthOrganizationClaim: ['OAUTH_ORGANIZATION_CLAIM', setting.text({ optional: true })],
  oauthActorClaim: ['OAUTH_ACTOR_CLAIM', setting.text({ optional: true })],
  oauthScopesClaim: ['OAUTH_SCOPES_CLAIM', setting.text({ optional: true })],
  docs: ['DOCS', setting.flag({ default: true })],
  // The default is on where only this machine reaches the server.
  console: [
    'CONSOLE',
    (name, env) => setting.flag({ default: isLoopbackAddress(readHost('HOST', env)) })(name, env),
  ],
  metrics: ['METRICS', setting.flag({ default: true })],
  metricsPort: ['METRICS_PORT', setting.integer({ optional: true, max: 65_535 })],
  // Each day of events is a partition, and statements that read all of them lock each one.
  eventsRetention: [
    'EVENTS_RETENTION',
    setting.duration({ default: '30d', min: '1d', max: '90d' }),
  ],
  // The contract promises a replay within 24 hours.
  responsesRetention: [
    'RESPONSES_RETENTION',
    setting.duration({ default: '24h', min: '24h', max: '30d' }),
  ],
  // The attempts of a delivery take up to four days.
  deliveriesRetention: [
    'DELIVERIES_RETENTION',
    setting.duration({ default: '30d', min: '4d', max: '365d' }),
  ],
  auditLog: ['AUDIT_LOG', setting.flag({ default: false })],
  auditRetention: [
    'AUDIT_RETENTION',
    setting.duration({ default: '400d', min: '1d', max: '3650d' }),
  ],
  webhooksAllowPrivateTargets: ['WEBHOOKS_ALLOW_PRIVATE_TARGETS', setting.flag({ default: false })],
  purgeAfter: ['PURGE_AFTER', setting.duration({ optional: true, min: '1d', max: '3650d' })],
  backupDir: ['BACKUP_DIR', setting.text({ optional: true })],
  backupAt: ['BACKUP_AT', timeOfDay()],
  backupKeep: ['BACKUP_KEEP', setting.integer({ optional: true, min: 1, max: 1_000 })],
  webhooksTraceparent: ['WEBHOOKS_TRACEPARENT', setting.flag({ default: false })],
  tracing: ['OTEL_TRACES_EXPORTER', readTracing],
} as const satisfies {
  [P in Exclude<keyof Settings, 'ofExtensions'>]: readonly [string, Setting<Settings[P]>];
};

/** Names of the variables that Latitude itself reads. */
export const SETTING_NAMES: readonly string[] = Object.values(SETTINGS).flatMap(([name, read]) =>
  variablesOf(name, read),
);

/** Settings of extensions by the name of the variable. */
export type DeclaredSettings = Readonly<Record<string, Setting<unknown>>>;

/** Names of the variables that settings of extensions are read from. */
export function namesOf(declared: DeclaredSettings): string[] {
  return Object.entries(declared).flatMap(([name, read]) => variablesOf(name, read));
}

/**
 * Reads and checks the settings.
 * @throws SettingError for the first invalid setting
 */
export function readSettings(
  env: Environment = process.env,
  declared: DeclaredSettings = {},
): Settings {
  const core = Object.entries(SETTINGS).map(([property, [name, read]]) => [
    property,
    read(name, env),
  ]);
  const others = Object.entries(declared).map(([name, read]) => [name, read(name, env)]);
  const settings = {
    ...(Object.fromEntries(core) as Omit<Settings, 'ofExtensions'>),
    ofExtensions: Object.fromEntries(others) as Settings['ofExtensions'],
  };
  assertComplete(settings);
  return settings;
}

/** @throws SettingError if a setting needs another one, which is not set */
function assertComplete(settings: Settings): void {
  if (settings.oauth && settings.oauthIssuer !== undefined) {
    throw new SettingError('OAUTH', 'is on, so that OAUTH_ISSUER cannot be set: choose one');
  }
  if (settings.metricsPort === settings.port && settings.port !== 0) {
    throw new SettingError('METRICS_PORT', 'must be another port than PORT');
  }
  for (const [property, needed] of NEEDS) {
    const value = settings[property];
    if (!isSet(value) || isSet(settings[needed])) continue;
    const state = value === true ? 'on' : 'set';
    throw new SettingError(
      SETTINGS[property][0],
      `is ${state}, which needs ${SETTINGS[needed][0]}`,
    );
  }
}

/** Settings that have an effect only with another one. */
const NEEDS = [
  ['oauth', 'publicUrl'],
  ['oauthIssuer', 'publicUrl'],
  ['oauthAudience', 'oauthIssuer'],
  ['oauthOrganizationClaim', 'oauthIssuer'],
  ['oauthActorClaim', 'oauthIssuer'],
  ['oauthScopesClaim', 'oauthIssuer'],
  ['backupAt', 'backupDir'],
  ['backupKeep', 'backupDir'],
  ['metricsPort', 'metrics'],
] as const;

function isSet(value: unknown): boolean {
  return value !== undefined && value !== false;
}
