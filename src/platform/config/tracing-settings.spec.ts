import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readSettings } from './settings.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };

const tracingOf = (env: Record<string, string>) => readSettings(env).tracing;

describe('the settings of traces', () => {
  it.each<[string, Record<string, string>]>([
    ['nothing is set', {}],
    ['only a service is named', { OTEL_SERVICE_NAME: 'crm' }],
    ['the exporter is none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
    ['the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
    ['variables are empty', { OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    // Other programs on the host may support it.
    ['traces are off', { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
  ])('are undefined if %s', (_, env) => {
    expect(tracingOf(env)).toBeUndefined();
  });

  it.each<[string, Record<string, string>, object]>([
    ['an endpoint', ENDPOINT, { exporter: 'otlp', protocol: 'http/protobuf', headers: {} }],
    [
      'an endpoint of traces, with a protocol of their own',
      {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/v1/traces',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      },
      { exporter: 'otlp', protocol: 'http/json' },
    ],
    ['an exporter', { OTEL_TRACES_EXPORTER: 'console' }, { exporter: 'console' }],
    [
      'headers',
      {
        ...ENDPOINT,
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b,x=1',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x=2',
      },
      { headers: { 'api-key': 'a b', x: '2' } },
    ],
    ['no name', ENDPOINT, { resource: { 'service.name': 'latitude' } }],
    [
      'a name and attributes',
      {
        ...ENDPOINT,
        OTEL_SERVICE_NAME: 'crm',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=other, deployment.environment.name=test%2C1',
      },
      { resource: { 'service.name': 'crm', 'deployment.environment.name': 'test,1' } },
    ],
  ])('are read with %s', (_, env, expected) => {
    expect(tracingOf(env)).toMatchObject(expected);
  });

  it('take headers from a file', () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'latitude-headers-')), 'headers');
    writeFileSync(file, 'api-key=secret\n');
    const env = { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS_FILE: file };
    expect(tracingOf(env)).toMatchObject({ headers: { 'api-key': 'secret' } });
    rmSync(path.dirname(file), { recursive: true });
  });

  it.each<[name: string, value: string]>([
    ['OTEL_TRACES_EXPORTER', 'jaeger'],
    ['OTEL_SDK_DISABLED', 'yes'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'my%20key=secret'],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'key=secret%0Ab'],
    ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/nowhere/ca.pem'],
    ['OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY', '/nowhere/key.pem'],
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', '1s'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zip'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_BSP_SCHEDULE_DELAY', '0'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', 'many'],
  ])('%s=%s is refused, without the value', (name, value) => {
    const read = () => tracingOf({ OTEL_TRACES_EXPORTER: 'otlp', [name]: value });
    expect(read).toThrow(new RegExp(`^${name} must be `));
    expect(read).not.toThrow(new RegExp(`\\b${value}\\b(?!/)`));
  });

  it.each(['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'])(
    '%s=grpc is refused with what to set instead',
    (name) => {
      expect(() => tracingOf({ ...ENDPOINT, [name]: 'grpc' })).toThrow(
        /^.* is grpc, whose library .*: use http\/protobuf, port 4318/,
      );
    },
  );
});
