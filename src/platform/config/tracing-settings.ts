import { accessSync, constants } from 'node:fs';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type Environment, type Setting, setting, SettingError, variablesOf } from './setting.js';

/** How traces are exported. The SDK of OpenTelemetry itself reads the addresses, the limits and the sampler. */
export interface TracingSettings {
  readonly exporter: 'otlp' | 'console';
  readonly protocol: 'http/protobuf' | 'http/json';
  /** Headers of the requests to the collector, such as a key. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the spans say about this service. */
  readonly resource: Readonly<Record<string, string>>;
}

const EXPORTER = 'OTEL_TRACES_EXPORTER';
const DISABLED = 'OTEL_SDK_DISABLED';
const SERVICE_NAME = 'OTEL_SERVICE_NAME';
const RESOURCE_ATTRIBUTES = 'OTEL_RESOURCE_ATTRIBUTES';
const PREFIX = 'OTEL_EXPORTER_OTLP_';
const TRACES_PREFIX = `${PREFIX}TRACES_`;

const EXPORTERS = ['otlp', 'console', 'none'] as const;
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const ALL_SAMPLERS = [...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}` as const)];

const positive = setting.integer({ optional: true, min: 1 });
const text = setting.text({ optional: true });
const file = setting.custom(readablePath, 'must be the path of a file that can be read', {
  optional: true,
});
const readHeaders = setting.secret(readHeaderPairs);

/** The variables of each exporter of OTLP, without their prefix. */
const OTLP: Readonly<Record<string, Setting<unknown>>> = {
  ENDPOINT: setting.url({ optional: true }),
  PROTOCOL: readProtocol,
  HEADERS: readHeaders,
  TIMEOUT: positive,
  COMPRESSION: setting.oneOf(['gzip', 'none'], { optional: true }),
  CERTIFICATE: file,
  CLIENT_CERTIFICATE: file,
  CLIENT_KEY: file,
};

/** Each variable that has an effect while traces are exported, and how it is checked. */
const VARIABLES: Readonly<Record<string, Setting<unknown>>> = {
  ...Object.fromEntries(
    [PREFIX, TRACES_PREFIX].flatMap((prefix) =>
      Object.entries(OTLP).map(([name, read]) => [prefix + name, read]),
    ),
  ),
  [SERVICE_NAME]: text,
  [RESOURCE_ATTRIBUTES]: readPairs,
  OTEL_TRACES_SAMPLER: setting.oneOf(ALL_SAMPLERS, { optional: true }),
  OTEL_TRACES_SAMPLER_ARG: setting.custom(
    (raw) => (/^(0|1|0?\.\d+|1\.0+|0\.0*)$/.test(raw) ? Number(raw) : undefined),
    'must be a number from 0 to 1',
    { optional: true },
  ),
  OTEL_BSP_SCHEDULE_DELAY: positive,
  OTEL_BSP_EXPORT_TIMEOUT: positive,
  OTEL_BSP_MAX_QUEUE_SIZE: positive,
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: positive,
};

/**
 * Reads the standard variables of OpenTelemetry. Traces are exported if an exporter or an address is set, as many hosts set
 * others for all processes.
 * @returns undefined if traces are not exported
 * @throws SettingError
 */
function readVariables(_name: string, env: Environment): TracingSettings | undefined {
  const isDisabled = setting.oneOf(['true', 'false'], { default: 'false' })(DISABLED, env);
  const endpoints = [PREFIX, TRACES_PREFIX].map((prefix) => env[`${prefix}ENDPOINT`]);
  const exporter = setting.oneOf(EXPORTERS, {
    default: endpoints.some(Boolean) ? 'otlp' : 'none',
  })(EXPORTER, env);
  if (isDisabled === 'true' || exporter === 'none') return undefined;
  for (const [name, read] of Object.entries(VARIABLES)) read(name, env);
  const name = env[SERVICE_NAME] ?? '';
  return {
    exporter,
    protocol:
      readProtocol(`${TRACES_PREFIX}PROTOCOL`, env) ??
      readProtocol(`${PREFIX}PROTOCOL`, env) ??
      'http/protobuf',
    headers: {
      ...readHeaders(`${PREFIX}HEADERS`, env),
      ...readHeaders(`${TRACES_PREFIX}HEADERS`, env),
    },
    resource: {
      'service.name': 'latitude',
      ...readPairs(RESOURCE_ATTRIBUTES, env),
      ...(name !== '' && { 'service.name': name }),
    },
  };
}

/** The setting of the variable `OTEL_TRACES_EXPORTER`. */
export const readTracing: Setting<TracingSettings | undefined> = Object.assign(readVariables, {
  others: [
    DISABLED,
    ...Object.entries(VARIABLES).flatMap(([name, read]) => variablesOf(name, read)),
  ],
});

function readProtocol(name: string, env: Environment): TracingSettings['protocol'] | undefined {
  const protocol = setting.oneOf(['http/protobuf', 'http/json', 'grpc'], { optional: true })(
    name,
    env,
  );
  if (protocol !== 'grpc') return protocol;
  throw new SettingError(
    name,
    'is grpc, whose library would run a script at its installation: use http/protobuf, port 4318 of most collectors',
  );
}

/** Pairs such as `a=1,b=2`, whose names and values are percent-encoded. */
function readPairs(name: string, env: Environment): Readonly<Record<string, string>> {
  const raw = env[name] ?? '';
  const parts = raw.split(',').filter((part) => part.trim() !== '');
  try {
    const pairs = parts.map((part) => {
      const [, key = '', value = ''] = /^([^=]+)=(.*)$/.exec(part.trim()) ?? [];
      if (key === '') throw new URIError();
      return [decodeURIComponent(key.trim()), decodeURIComponent(value.trim())] as const;
    });
    return Object.fromEntries(pairs);
  } catch {
    throw new SettingError(name, 'must be pairs such as name=value, separated by commas');
  }
}

/** Pairs of names and values of headers. */
function readHeaderPairs(name: string, env: Environment): Readonly<Record<string, string>> {
  const headers = readPairs(name, env);
  try {
    for (const [header, value] of Object.entries(headers)) {
      validateHeaderName(header);
      validateHeaderValue(header, value);
    }
  } catch {
    throw new SettingError(name, 'must be headers of HTTP such as api-key=value');
  }
  return headers;
}

/** @returns undefined if this user cannot read the file */
function readablePath(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return path;
  } catch {
    return undefined;
  }
}
