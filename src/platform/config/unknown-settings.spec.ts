import { findUnknownSettings } from './unknown-settings.js';

const FOREIGN = {
  ...{
    PATH: '/bin',
    HOME: '/root',
    HOSTNAME: 'a',
    PWD: '/',
    SHELL: '/bin/sh',
    USER: 'a',
    LANG: 'C',
  },
  ...{ PGHOST: 'a', PGPORT: '5432', PGPASSWORD: 'a', PGDATABASE: 'a', POSTGRES_PASSWORD: 'a' },
  ...{
    NODE_ENV: 'production',
    NODE_OPTIONS: '--a',
    npm_config_user_agent: 'npm',
    npm_lifecycle_event: 'a',
  },
  ...{
    TERM: 'xterm',
    TZ: 'UTC',
    TMPDIR: '/tmp',
    EDITOR: 'vi',
    CI: 'true',
    NO_COLOR: '1',
    SSH_TTY: '/a',
  },
  ...{
    HTTP_PROXY: 'http://a',
    DISPLAY: ':0',
    LOGNAME: 'a',
    MAIL: '/a',
    OLDPWD: '/',
    SHLVL: '1',
    _: '/a',
  },
  ...{ XDG_DATA_DIRS: '/a', XDG_DATA_HOME: '/a', GIT_DIR: '/a', DEBUG: '*', LOG_FORMAT: 'json' },
  // Hosts set variables of OpenTelemetry for all processes, also of what Latitude does not have.
  ...{
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_LOG_LEVEL: 'info',
    OTEL_PROPAGATORS: 'tracecontext,baggage',
    OTEL_NODE_RESOURCE_DETECTORS: 'env,host',
    OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'fs',
    OTEL_SEMCONV_STABILITY_OPT_IN: 'http',
    OTEL_METRIC_EXPORT_INTERVAL: '60000',
    OTEL_METRIC_EXPORT_TIMEOUT: '30000',
    OTEL_BLRP_SCHEDULE_DELAY: '1000',
    OTEL_BLRP_MAX_QUEUE_SIZE: '2048',
    OTEL_EXPORTER_OTLP_INSECURE: 'true',
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://a:4318/v1/metrics',
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
    OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'grpc',
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '100',
    OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '128',
    OTEL_EXPORTER_ZIPKIN_ENDPOINT: 'http://a:9411',
  },
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
  LATITUDE_SERVICE_HOST: '10.0.0.1',
  LATITUDE_SERVICE_PORT_HTTP: '3000',
  LATITUDE_PORT: 'tcp://10.0.0.1:3000',
  LATITUDE_PORT_3000_TCP_ADDR: '10.0.0.1',
  DATABASE_PORT_5432_TCP: 'tcp://10.0.0.2:5432',
};

const OURS = {
  PORT: '3000',
  HOST: '::',
  DATABASE_URL: 'postgres://a/b',
  RATE_LIMIT_READS_PER_MINUTE: '60',
  MCP_MAX_SESSIONS: '5',
  DOCS: 'on',
};

describe('findUnknownSettings', () => {
  it.each([
    ['REDIS_URLS', ' Did you mean REDIS_URL?'],
    ['DATABASE_REPLICA_URL', ' Did you mean DATABASE_REPLICA_URLS?'],
    ['LATITUDE_PORT', ' Did you mean PORT?'],
    ['LATITUDE_SECRET', ''],
    ['LATITUDE_DATABASE_URL', ' Did you mean DATABASE_URL?'],
    ['RATE_LIMIT_READ', ' Did you mean RATE_LIMIT_READS_PER_MINUTE?'],
    ['RATE_LIMIT_WRITES', ' Did you mean RATE_LIMIT_WRITES_PER_MINUTE?'],
    ['MCP_SESSION_TTL', ' Did you mean MCP_SESSION_TTL_SECONDS?'],
    ['BODY_LIMIT', ' Did you mean BODY_LIMIT_BYTES?'],
    ['SHUTDOWN_DELAY', ' Did you mean SHUTDOWN_DELAY_SECONDS?'],
    ['DATABASE_CONNECTIONS', ' Did you mean DATABASE_MAX_CONNECTIONS?'],
    ['WEBHOOKS_ALLOW_PRIVATE', ' Did you mean WEBHOOKS_ALLOW_PRIVATE_TARGETS?'],
    ['ALLOWED_ORIGINS', ' Did you mean MCP_ALLOWED_ORIGINS?'],
    ['WEBHOOK_ALOW_PRIVATE_TARGET', ' Did you mean WEBHOOKS_ALLOW_PRIVATE_TARGETS?'],
    ['PUBLIC_ULR', ' Did you mean PUBLIC_URL?'],
    ['RATE_LIMIT_WRITE_PER_MINUTE', ' Did you mean RATE_LIMIT_WRITES_PER_MINUTE?'],
    ['DATABASE_POOL', ''],
    ['RATE_LIMIT_BURST', ''],
    ['MCP_SECRET', ''],
    ['OAUTH_SECRET', ''],
    ['RATE_LIMIT_READS_PER_MINUTES', ' Did you mean RATE_LIMIT_READS_PER_MINUTE?'],
    ['CORS_ORIGIN', ' Did you mean CORS_ORIGINS?'],
    ['LOGLEVEL', ' Did you mean LOG_LEVEL?'],
    ['LOG_LEVLE', ' Did you mean LOG_LEVEL?'],
    ['BODY_LIMIT_BYTE', ' Did you mean BODY_LIMIT_BYTES?'],
    ['TRUSTED_PROXY', ' Did you mean TRUST_PROXY?'],
    ['PROT', ' Did you mean PORT?'],
    ['OTEL_TRACE_EXPORTER', ' Did you mean OTEL_TRACES_EXPORTER?'],
    ['OTEL_EXPORTER_OTLP_ENDPOINTS', ' Did you mean OTEL_EXPORTER_OTLP_ENDPOINT?'],
    ['METRIC', ' Did you mean METRICS?'],
    ['database_url', ' Did you mean DATABASE_URL?'],
    [
      'WEB_CONCURRENCY',
      ' A server uses one core. To use several, run several instances behind a load balancer, with REDIS_URL.',
    ],
  ])('warns about %s', (name, hint) => {
    expect(findUnknownSettings([], { ...FOREIGN, ...OURS, [name]: '1' })).toEqual([
      `${name} is set, but Latitude has no such setting and ignores it.${hint}`,
    ]);
  });

  it('does not warn about variables of other products', () => {
    expect(findUnknownSettings([], { ...FOREIGN, ...OURS })).toEqual([]);
  });

  it('ignores empty variables', () => {
    expect(findUnknownSettings([], { DATABASE_POOL: '' })).toEqual([]);
  });
});
