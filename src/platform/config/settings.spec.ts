import { SettingError } from './setting.js';
import { readSettings, type Settings } from './settings.js';

type Value = Settings[Case['setting']];

interface Case {
  readonly setting: Exclude<keyof Settings, 'ofExtensions' | 'tracing'>;
  readonly unset: Value;
  /** Valid strings, each with the value of the setting. */
  readonly good: readonly (readonly [text: string, value: Value])[];
  readonly bad: readonly string[];
}

const NO_INTEGER = ['x', '1.5', '-1', '+1', '1e3', '0x10', ' 1', '1 ', '1,000', '١', 'NaN', '∞'];

const NO_DURATION = ['30', 'd', '30 d', '30D', '-30d', '1.5d', '0d', 'P30D', '30days', 'forever'];

const DAY_MS = 86_400_000;

/** Every setting of the product (docs/contract/running.md#settings). */
const SETTINGS: Readonly<Record<string, Case>> = {
  PORT: {
    setting: 'port',
    unset: 3000,
    good: [
      ['0', 0],
      ['80', 80],
      ['65535', 65_535],
    ],
    bad: [...NO_INTEGER, '65536', '99999999999'],
  },
  HOST: {
    setting: 'host',
    unset: '127.0.0.1',
    good: [
      ['0.0.0.0', '0.0.0.0'],
      ['::', '::'],
      ['localhost', 'localhost'],
    ],
    bad: [],
  },
  DATABASE_URL: {
    setting: 'databaseUrl',
    unset: undefined,
    good: [
      'postgres://localhost/db',
      'postgresql://user:p%40ss@db.example:6543/latitude?sslmode=require',
      'postgres://user@[::1]:5432/db',
    ].map((url) => [url, url] as const),
    bad: [
      'localhost:5432/db',
      'mysql://localhost/db',
      'http://localhost/db',
      'postgres:localhost',
      'postgres://host:port/db',
      'postgres://host:99999/db',
      'postgres://user:p%ss@host/db',
      'host=localhost dbname=db',
    ],
  },
  DATABASE_REPLICA_URLS: {
    setting: 'databaseReplicaUrls',
    unset: [],
    good: [
      ['postgres://a/db', ['postgres://a/db']],
      [
        ' postgresql://a:1/db, postgres://u:p%2Cw@b/db ,',
        ['postgresql://a:1/db', 'postgres://u:p%2Cw@b/db'],
      ],
    ],
    bad: [
      'localhost',
      'postgres://a/db,mysql://b/db',
      'postgres://a/db postgres://b/db',
      'postgres://u:p%ss@a',
    ],
  },
  REDIS_URL: {
    setting: 'redisUrl',
    unset: undefined,
    good: [
      'redis://localhost',
      'redis://user:p%40ss@redis.example:6380/1',
      'rediss://[::1]:6379',
    ].map((url) => [url, url] as const),
    bad: [
      'localhost:6379',
      'http://localhost',
      'redis:localhost',
      'redis://host:port',
      'redis://a:p%ss@b',
      'redis://localhost/cache',
    ],
  },
  DATABASE_MAX_CONNECTIONS: {
    setting: 'databaseMaxConnections',
    unset: 24,
    good: [
      ['5', 5],
      ['100', 100],
    ],
    bad: ['4', '0', '-1', '1.5', 'many', '10001'],
  },
  DATABASE_PREPARED_STATEMENTS: {
    setting: 'databasePreparedStatements',
    unset: true,
    good: [
      ['on', true],
      ['off', false],
    ],
    bad: ['yes', 'true', '0', ' off'],
  },
  WEBHOOKS_TRACEPARENT: {
    setting: 'webhooksTraceparent',
    unset: false,
    good: [['on', true]],
    bad: ['yes', 'true'],
  },
  DATA_DIR: { setting: 'dataDir', unset: './data', good: [['/var/lib/x', '/var/lib/x']], bad: [] },
  EVENTS_RETENTION: {
    setting: 'eventsRetention',
    unset: 30 * DAY_MS,
    good: [
      ['24h', DAY_MS],
      ['90d', 90 * DAY_MS],
    ],
    bad: [...NO_DURATION, '23h', '91d'],
  },
  RESPONSES_RETENTION: {
    setting: 'responsesRetention',
    unset: DAY_MS,
    good: [
      ['1440m', DAY_MS],
      ['30d', 30 * DAY_MS],
    ],
    bad: [...NO_DURATION, '1h', '1439m', '31d'],
  },
  DELIVERIES_RETENTION: {
    setting: 'deliveriesRetention',
    unset: 30 * DAY_MS,
    good: [
      ['4d', 4 * DAY_MS],
      ['365d', 365 * DAY_MS],
    ],
    bad: [...NO_DURATION, '95h', '366d'],
  },
  AUDIT_RETENTION: {
    setting: 'auditRetention',
    unset: 400 * DAY_MS,
    good: [
      ['24h', DAY_MS],
      ['3650d', 3_650 * DAY_MS],
    ],
    bad: [...NO_DURATION, '23h', '3651d'],
  },
  PURGE_AFTER: {
    setting: 'purgeAfter',
    unset: undefined,
    good: [
      ['24h', DAY_MS],
      ['3650d', 3_650 * DAY_MS],
    ],
    bad: [...NO_DURATION, '23h', '3651d'],
  },
  BACKUP_DIR: {
    setting: 'backupDir',
    unset: undefined,
    good: [['/var/backups/latitude', '/var/backups/latitude']],
    bad: [],
  },
  BACKUP_AT: {
    setting: 'backupAt',
    unset: undefined,
    // It needs BACKUP_DIR.
    good: [],
    bad: ['3', '3:00', '24:00', '03:60', '03:00:00', '03:00Z', '03.00', ' 03:00', 'noon'],
  },
  BACKUP_KEEP: {
    setting: 'backupKeep',
    unset: undefined,
    good: [],
    bad: [...NO_INTEGER, '0', '1001'],
  },
  KEY_MAX_READS_PER_MINUTE: {
    setting: 'keyMaxReadsPerMinute',
    unset: 6_000,
    good: [
      ['1', 1],
      ['1000000000', 1_000_000_000],
    ],
    bad: [...NO_INTEGER, '0', '1000000001'],
  },
  KEY_MAX_WRITES_PER_MINUTE: {
    setting: 'keyMaxWritesPerMinute',
    unset: 3_000,
    good: [
      ['1', 1],
      ['1000000000', 1_000_000_000],
    ],
    bad: [...NO_INTEGER, '0', '1000000001'],
  },
  RATE_LIMIT_READS_PER_MINUTE: {
    setting: 'readsPerMinute',
    unset: 60,
    good: [
      ['1', 1],
      ['1000000000', 1_000_000_000],
    ],
    bad: [...NO_INTEGER, '0', '1000000001'],
  },
  RATE_LIMIT_WRITES_PER_MINUTE: {
    setting: 'writesPerMinute',
    unset: 30,
    good: [
      ['1', 1],
      ['1000000000', 1_000_000_000],
    ],
    bad: [...NO_INTEGER, '0', '1000000001'],
  },
  BODY_LIMIT_BYTES: {
    setting: 'bodyLimitBytes',
    unset: 262_144,
    good: [['1024', 1_024]],
    bad: [...NO_INTEGER, '0', '1023', '256K', '1000000001'],
  },
  LOG_LEVEL: {
    setting: 'logLevel',
    unset: 'info',
    good: [
      ['debug', 'debug'],
      ['WARN', 'warn'],
      ['silent', 'silent'],
    ],
    bad: ['verbose', '30', 'info,debug', ' '],
  },
  LOG_ERRORS: {
    setting: 'logErrors',
    unset: 'stack',
    good: [
      ['stack', 'stack'],
      ['FULL', 'full'],
    ],
    bad: ['on', 'message', ' '],
  },
  DEFAULT_PHONE_REGION: {
    setting: 'defaultPhoneRegion',
    unset: 'US',
    good: [
      ['DE', 'DE'],
      ['de', 'DE'],
    ],
    bad: ['USA', 'XX', '49', '+1', 'U', 'Germany'],
  },
  TRUST_PROXY: {
    setting: 'trustProxy',
    unset: false,
    good: [
      ['off', false],
      ['1', 1],
      ['2', 2],
      ['loopback', ['loopback']],
      ['10.0.0.0/8', ['10.0.0.0/8']],
      ['10.0.0.1, fd00::/8 ,uniquelocal', ['10.0.0.1', 'fd00::/8', 'uniquelocal']],
      ['::ffff:10.0.0.1', ['::ffff:10.0.0.1']],
    ],
    bad: [
      'on',
      'true',
      'yes',
      '-1',
      '1.5',
      '*',
      'proxy.example',
      '10.0.0',
      '10.0.0.0/33',
      '0.0.0.0/0',
      '::/0',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      'fd00::/129',
      '10.0.0.1;10.0.0.2',
      '10.0.0.1,proxy.example',
    ],
  },
  SHUTDOWN_DELAY_SECONDS: {
    setting: 'shutdownDelaySeconds',
    unset: undefined,
    good: [
      ['0', 0],
      ['30', 30],
    ],
    bad: [...NO_INTEGER, '31'],
  },
  MCP_MAX_SESSIONS: {
    setting: 'mcpMaxSessions',
    unset: 1000,
    good: [['1', 1]],
    bad: [...NO_INTEGER, '0'],
  },
  MCP_MAX_SESSIONS_PER_KEY: {
    setting: 'mcpMaxSessionsPerKey',
    unset: undefined,
    good: [['1', 1]],
    bad: [...NO_INTEGER, '0'],
  },
  MCP_SESSION_TTL_SECONDS: {
    setting: 'mcpSessionTtlSeconds',
    unset: 1800,
    good: [['1', 1]],
    bad: [...NO_INTEGER, '0'],
  },
  TRUSTED_ADDRESSES: {
    setting: 'trustedAddresses',
    unset: [],
    good: [
      ['203.0.113.7', ['203.0.113.7']],
      ['160.79.104.0/21, 2001:db8::/32', ['160.79.104.0/21', '2001:db8::/32']],
    ],
    bad: ['on', '1', '*', 'loopback', 'host.example', '10.0.0.0/33', '0.0.0.0/0', '::/0', '10.0.0'],
  },
  OPENAI_APPS_CHALLENGE: {
    setting: 'openaiAppsChallenge',
    unset: undefined,
    good: [['abc-123_XYZ=', 'abc-123_XYZ=']],
    bad: [' ', 'a b', 'a\nb', 'é', 'x'.repeat(1_001)],
  },
  MCP_ALLOWED_ORIGINS: {
    setting: 'mcpAllowedOrigins',
    unset: ['loopback'],
    good: [
      ['loopback', ['loopback']],
      ['loopback, https://app.example', ['loopback', 'https://app.example']],
      ['http://localhost:6274', ['http://localhost:6274']],
    ],
    bad: ['*', 'null', 'app.example', 'https://app.example/', 'Loopback'],
  },
  CORS_ORIGINS: {
    setting: 'corsOrigins',
    unset: [],
    good: [
      ['*', ['*']],
      ['https://app.example', ['https://app.example']],
      [
        'http://localhost:5173, https://a.b.example',
        ['http://localhost:5173', 'https://a.b.example'],
      ],
    ],
    bad: [
      'app.example',
      'https://app.example/',
      'https://app.example/path',
      'https://user@app.example',
      'https://*.example',
      'https://app.example:443',
      'null',
      'https://App.example',
      'https://a.example https://b.example',
    ],
  },
  AUDIT_LOG: {
    setting: 'auditLog',
    unset: false,
    good: [
      ['on', true],
      ['off', false],
    ],
    bad: ['yes', 'true', '0'],
  },
  METRICS: {
    setting: 'metrics',
    unset: true,
    good: [
      ['on', true],
      ['OFF', false],
    ],
    bad: ['yes', 'true', '0', ' off'],
  },
  METRICS_PORT: {
    setting: 'metricsPort',
    unset: undefined,
    good: [
      ['0', 0],
      ['9464', 9464],
      ['65535', 65_535],
    ],
    bad: [...NO_INTEGER, '65536'],
  },
  WEBHOOKS_ALLOW_PRIVATE_TARGETS: {
    setting: 'webhooksAllowPrivateTargets',
    unset: false,
    good: [
      ['on', true],
      ['OFF', false],
    ],
    bad: ['yes', 'true', '0', ' off'],
  },
  PUBLIC_URL: {
    setting: 'publicUrl',
    unset: undefined,
    good: [
      ['https://crm.example', 'https://crm.example'],
      ['https://crm.example:8443', 'https://crm.example:8443'],
      ['http://localhost:3000', 'http://localhost:3000'],
      ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
      ['http://[::1]:3000', 'http://[::1]:3000'],
    ],
    bad: [
      'crm.example',
      'http://crm.example',
      'https://crm.example/',
      'https://crm.example/crm',
      'https://crm.example?a=b',
      'https://user@crm.example',
      'https://crm.example:443',
      'https://CRM.example',
      'http://127.0.0.1.example',
    ],
  },
  OAUTH: {
    setting: 'oauth',
    unset: false,
    // `on` needs PUBLIC_URL.
    good: [['OFF', false]],
    bad: ['yes', 'true', '0', ' off'],
  },
  OAUTH_ISSUER: {
    setting: 'oauthIssuer',
    unset: undefined,
    // It needs PUBLIC_URL.
    good: [],
    bad: [
      'login.example',
      'http://login.example',
      'https://login.example?tenant=1',
      'https://login.example#a',
      'ftp://login.example',
    ],
  },
  OAUTH_AUDIENCE: { setting: 'oauthAudience', unset: undefined, good: [], bad: [] },
  OAUTH_ORGANIZATION_CLAIM: {
    setting: 'oauthOrganizationClaim',
    unset: undefined,
    good: [],
    bad: [],
  },
  OAUTH_ACTOR_CLAIM: { setting: 'oauthActorClaim', unset: undefined, good: [], bad: [] },
  OAUTH_SCOPES_CLAIM: { setting: 'oauthScopesClaim', unset: undefined, good: [], bad: [] },
  DOCS: {
    setting: 'docs',
    unset: true,
    good: [
      ['on', true],
      ['OFF', false],
    ],
    bad: ['true', 'false', '0', '1', 'no'],
  },
  CONSOLE: {
    setting: 'console',
    unset: true,
    good: [
      ['ON', true],
      ['off', false],
    ],
    bad: ['true', 'false', '0', '1', 'no'],
  },
};

describe.each(Object.entries(SETTINGS))('%s', (name, { setting, unset, good, bad }) => {
  it(`is ${String(unset)} if unset or empty`, () => {
    expect(readSettings({})[setting]).toEqual(unset);
    expect(readSettings({ [name]: '' })[setting]).toEqual(unset);
  });

  if (good.length > 0) {
    it.each(good)('accepts %s', (text, value) => {
      expect(readSettings({ [name]: text })[setting]).toEqual(value);
    });
  }

  if (bad.length > 0) {
    it.each(bad)('rejects %s with one line that names the setting', (text) => {
      const read = () => readSettings({ [name]: text });
      expect(read).toThrow(SettingError);
      expect(read).toThrow(new RegExp(`^${name} must be [^\\n]+$`));
    });
  }
});

describe('settings', () => {
  it('are exactly those of this test', () => {
    const known = Object.values(SETTINGS).map(({ setting }) => setting);
    const { ofExtensions, tracing, ...core } = readSettings({});
    expect(tracing).toBeUndefined();
    expect(Object.keys(core).sort()).toEqual(known.sort());
    expect(ofExtensions).toEqual({});
  });

  it('are read from process.env by default', () => {
    process.env.RATE_LIMIT_READS_PER_MINUTE = '61';
    expect(readSettings().readsPerMinute).toBe(61);
    delete process.env.RATE_LIMIT_READS_PER_MINUTE;
  });

  it('ignore other environment variables', () => {
    expect(readSettings({ PORTS: 'x', port: 'x' })).toEqual(readSettings({}));
  });

  it.each<[Record<string, string>, string]>([
    [{ OAUTH: 'on' }, 'OAUTH is on, which needs PUBLIC_URL'],
    [{ OAUTH_ISSUER: 'https://login.example' }, 'OAUTH_ISSUER is set, which needs PUBLIC_URL'],
    [
      { OAUTH: 'on', OAUTH_ISSUER: 'https://login.example', PUBLIC_URL: 'https://crm.example' },
      'OAUTH is on, so that OAUTH_ISSUER cannot be set: choose one',
    ],
    ...[
      'OAUTH_AUDIENCE',
      'OAUTH_ORGANIZATION_CLAIM',
      'OAUTH_ACTOR_CLAIM',
      'OAUTH_SCOPES_CLAIM',
    ].map((name): [Record<string, string>, string] => [
      { [name]: 'a' },
      `${name} is set, which needs OAUTH_ISSUER`,
    ]),
    [{ METRICS: 'off', METRICS_PORT: '9464' }, 'METRICS_PORT is set, which needs METRICS'],
    [{ METRICS_PORT: '3000' }, 'METRICS_PORT must be another port than PORT'],
  ])('that contradict another one end the start with one line: %j', (env, message) => {
    expect(() => readSettings(env)).toThrow(SettingError);
    expect(() => readSettings(env)).toThrow(new Error(message));
  });

  it('of scheduled backups need their directory', () => {
    const plan = { BACKUP_AT: '23:59', BACKUP_KEEP: '1000' };
    expect(readSettings({ BACKUP_DIR: 'a', ...plan })).toMatchObject({
      ...{ backupDir: 'a', backupAt: 23 * 60 + 59, backupKeep: 1_000 },
    });
    for (const [name, value] of Object.entries(plan)) {
      const problem = `${name} is set, which needs BACKUP_DIR`;
      expect(() => readSettings({ [name]: value })).toThrow(new Error(problem));
    }
  });

  it.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.4', false],
    ['127.0.0.1.example', false],
  ])('switch the console on without CONSOLE only on a loopback address: %s', (HOST, isOn) => {
    expect(readSettings({ HOST }).console).toBe(isOn);
    expect(readSettings({ HOST, CONSOLE: 'on' }).console).toBe(true);
    expect(readSettings({ HOST, CONSOLE: 'off' }).console).toBe(false);
  });

  it('of sign-in that are complete are read', () => {
    const complete = readSettings({ OAUTH: 'on', PUBLIC_URL: 'https://crm.example' });
    expect(complete).toMatchObject({ oauth: true, publicUrl: 'https://crm.example' });
    const issuer = { OAUTH_ISSUER: 'https://login.example/realms/crm', OAUTH_SCOPES_CLAIM: 'scp' };
    expect(readSettings({ ...issuer, PUBLIC_URL: 'https://crm.example' })).toMatchObject({
      oauthIssuer: 'https://login.example/realms/crm',
      oauthScopesClaim: 'scp',
    });
  });

  it('are not repeated in errors, because they can contain a password', () => {
    const url = 'mysql://user:hunter2@host/db';
    expect(() => readSettings({ DATABASE_URL: url })).not.toThrow(/hunter2/);
    expect(() => readSettings({ DATABASE_URL: url })).toThrow();
  });
});
