import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ApiClient } from '../../../src/testing/api-client.js';
import { dataOf, LEADS } from '../../../src/testing/factories.js';
import { McpHttpClient } from '../../../src/testing/mcp-client.js';
import { importFile } from '../../support/lead-imports.js';
import { type CollectedSpan, Collector } from '../../support/servers/collector.js';
import {
  FIRST_KEY,
  Product,
  type RunningServer,
  UNLIMITED,
  until,
} from '../../support/servers/product.js';
import { PROXY_PATHS, TracedProxy } from '../../support/servers/traced-proxies.js';
import { WebhookReceiver } from '../../support/servers/webhook-receiver.js';

const SPAN = '00f067aa0ba902b7';

/** Writes the paths of the packages that a process has loaded, when it exits. */
const LIST_PACKAGES = `import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
process.once('exit', () => writeFileSync(process.env.PACKAGES + process.pid,
  Object.keys(createRequire('/').cache).join('\\n')));`;

const folder = mkdtempSync(path.join(os.tmpdir(), 'latitude-packages-'));
const product = new Product({
  ...UNLIMITED,
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LIST_PACKAGES)}`,
  PACKAGES: `${folder}/`,
  WEBHOOKS_ALLOW_PRIVATE_TARGETS: 'on',
  WEBHOOKS_TRACEPARENT: 'on',
});
let collector: Collector;
let receiver: WebhookReceiver;
let key: string;
let url: string;

beforeAll(async () => {
  [collector, receiver] = await Promise.all([Collector.start(), WebhookReceiver.start()]);
  url = receiver.url('localhost');
});
afterAll(async () => {
  await product.remove();
  await Promise.all([collector.stop(), receiver.stop()]);
  rmSync(folder, { recursive: true });
});

/** A number that no other trace of this file has, and the header of a request in it. */
function newTrace(traceId = crypto.randomUUID().replaceAll('-', '')) {
  return { traceId, headers: { traceparent: `00-${traceId}-${SPAN}-01` } };
}

const newLead = () => ({ first_name: 'Ada', email: `${crypto.randomUUID()}@example.com` });

/** Waits for a span, with an attribute if one is given. */
async function untilSpan(
  name: string,
  spans: () => readonly CollectedSpan[],
  attributes: object = {},
): Promise<CollectedSpan> {
  const isIt = (span: CollectedSpan) =>
    span.name === name &&
    Object.entries(attributes).every(([key, value]) => span.attributes[key] === value);
  await until(() => Promise.resolve(spans().some(isIt)));
  return spans().find(isIt)!;
}

const deliveryIn = async (traceId: string) => {
  const isIt = ({ headers }: { headers: Record<string, string> }) =>
    headers.traceparent?.includes(traceId);
  await until(() => Promise.resolve(receiver.at(url).some(isIt)));
  return receiver.at(url).find(isIt)!;
};

const lineOf = (server: RunningServer, text: string) => {
  const line = server.stdout.split('\n').find((each) => each.includes(text));
  return JSON.parse(line ?? '{}') as Record<string, unknown>;
};

const packagesOf = ({ pid }: RunningServer) =>
  readFileSync(`${folder}/${pid}`, 'utf8').match(/@opentelemetry\/[a-z-]+/g) ?? [];

describe('with a collector', () => {
  let server: RunningServer;
  let api: ApiClient;

  beforeAll(async () => {
    server = await product.start({
      ...collector.environment,
      OTEL_SERVICE_NAME: 'crm',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    key = server.printed(FIRST_KEY)!;
    api = new ApiClient(server.url, key);
    dataOf(await api.post('/api/v1/webhooks', { url, types: ['lead.created'] }), 201);
  });

  it('a request, its statements, its event and the delivery are one trace', async () => {
    const { traceId, headers } = newTrace();
    const spans = () => collector.of(traceId);
    dataOf(await api.post(LEADS, newLead(), { headers }), 201);
    const delivery = await deliveryIn(traceId);

    const request = await untilSpan('POST /api/v1/leads', spans);
    expect(request).toMatchObject({ kind: 'SERVER', parentSpanId: SPAN, status: { code: 0 } });
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'http.route': '/api/v1/leads',
      'http.response.status_code': 201,
    });
    const call = await untilSpan('INSERT leads', spans);
    expect(call).toMatchObject({ kind: 'CLIENT', parentSpanId: request.spanId });
    expect(call.attributes).toEqual({
      'db.system.name': 'postgresql',
      'db.operation.name': 'INSERT',
      'db.collection.name': 'leads',
      'db.query.summary': 'INSERT leads',
    });
    const batch = await untilSpan('BATCH', spans);
    expect(batch).toMatchObject({ kind: 'INTERNAL', parentSpanId: call.spanId });
    expect(batch.links).toMatchObject([{ traceId, spanId: call.spanId }]);
    const handler = await untilSpan('process webhooks', spans);
    expect(handler).toMatchObject({ kind: 'CONSUMER', parentSpanId: request.spanId });
    const job = await untilSpan('process webhooks.deliver', spans);
    expect(job.parentSpanId).toBe(handler.spanId);
    const sent = await untilSpan('POST', spans);
    expect(sent).toMatchObject({ kind: 'CLIENT', parentSpanId: request.spanId });
    expect(sent.links).toMatchObject([{ traceId, spanId: job.spanId }]);
    expect(sent.attributes).toEqual({
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'server.address': 'localhost',
      'server.port': receiver.port,
      'http.response.status_code': 200,
    });
    expect(delivery.headers.traceparent).toBe(`00-${traceId}-${sent.spanId}-01`);
    expect(lineOf(server, traceId)).toMatchObject({
      route: '/api/v1/leads',
      trace_id: traceId,
      span_id: request.spanId,
    });
    expect(collector.resources[0]).toMatchObject({
      'service.name': 'crm',
      'deployment.environment.name': 'test',
    });
    expect(collector.requests[0]!.url).toBe('/v1/traces');
  });

  it('a batch is linked to the calls of all its requests, and they to it', async () => {
    const isShared = ({ name, links }: CollectedSpan) =>
      name === 'BATCH' && new Set(links.map(({ traceId }) => traceId)).size > 1;
    await until(async () => {
      await Promise.all(
        Array.from({ length: 30 }, () => api.get(`${LEADS}/${crypto.randomUUID()}`)),
      );
      return collector.spans.some(isShared);
    });
    const batch = collector.spans.find(isShared)!;
    expect(batch.attributes['db.operation.batch.size']).toBe(batch.links.length);
    const linked = batch.links.map(({ spanId }) => spanId);
    const callers = () => collector.spans.filter(({ spanId }) => linked.includes(spanId));
    await until(() => Promise.resolve(callers().length === linked.length));
    const others = callers().filter(({ spanId }) => spanId !== batch.parentSpanId);
    expect(others).toHaveLength(linked.length - 1);
    for (const { links } of others) expect(links).toMatchObject([{ spanId: batch.spanId }]);
  });

  it('a job and the deliveries of its changes are in the trace of the request', async () => {
    const { traceId, headers } = newTrace();
    const file = `first_name,email\nAda,${crypto.randomUUID()}@example.com\n`;
    await importFile(api, file, {}, headers);
    const job = await untilSpan('process leads.import', () => collector.of(traceId));
    expect(job.kind).toBe('CONSUMER');
    expect(job.attributes).toEqual({
      'messaging.system': 'latitude',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'leads.import',
    });
    await deliveryIn(traceId);
    const sent = await untilSpan('POST', () => collector.of(traceId));
    expect(sent.parentSpanId).toBe(job.spanId);
  });

  it('a tool call has a span, in the trace that its _meta names', async () => {
    const { traceId, headers } = newTrace();
    const mcp = new McpHttpClient(server.url, key);
    const session = await mcp.openSession();
    const params = { name: 'create_lead', arguments: newLead(), _meta: headers };
    await mcp.rpc(session, 'tools/call', params);
    const tool = await untilSpan('tools/call create_lead', () => collector.of(traceId));
    expect(tool).toMatchObject({ kind: 'SERVER', parentSpanId: SPAN, status: { code: 0 } });
    expect(tool.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'create_lead',
    });
    // Its request of HTTP is in another trace.
    const [link] = tool.links;
    await untilSpan('POST /mcp', () => collector.of(link!.traceId));
    expect((await deliveryIn(traceId)).headers.traceparent).toContain(traceId);

    await mcp.rpc(session, 'tools/call', { name: 'get_lead', arguments: { id: 'none' } });
    const failed = await untilSpan('tools/call get_lead', () => collector.spans);
    expect(failed).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': 'tool_error' },
    });
    const request = await untilSpan('POST /mcp', () => collector.of(failed.traceId));
    expect(failed.parentSpanId).toBe(request.spanId);
  });

  it('errors are recorded by their code, without a message', async () => {
    receiver.answer = () => ({ status: 500, body: 'Ada' });
    const { traceId, headers } = newTrace();
    await api.post(LEADS, newLead(), { headers });
    const sent = await untilSpan('POST', () => collector.of(traceId), { 'error.type': '500' });
    expect(sent.status).toEqual({ code: 2 });
    receiver.answer = () => ({ status: 200 });

    const missing = newTrace();
    await api.get(`${LEADS}/${crypto.randomUUID()}`, { headers: missing.headers });
    const request = await untilSpan('GET /api/v1/leads/:id', () => collector.of(missing.traceId));
    // An error of the client is none of the server.
    expect(request.status).toEqual({ code: 0 });

    const failed = newTrace();
    await product.sql('alter table tasks rename to lost_tasks');
    await api.get('/api/v1/tasks', { headers: failed.headers });
    await product.sql('alter table lost_tasks rename to tasks');
    const broken = await untilSpan('GET /api/v1/tasks', () => collector.of(failed.traceId));
    expect(broken).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': 'query_failed' },
    });
  });

  it('a trace that is not sampled is not sent, and is named to the receiver', async () => {
    const { traceId } = newTrace();
    await api.post(LEADS, newLead(), { headers: { traceparent: `00-${traceId}-${SPAN}-00` } });
    expect((await deliveryIn(traceId)).headers.traceparent).toMatch(/-00$/);
    const sampled = newTrace();
    await api.post(LEADS, newLead(), sampled);
    await untilSpan('POST', () => collector.of(sampled.traceId));
    expect(collector.of(traceId)).toEqual([]);
  });

  it('probes and scrapes have no spans', async () => {
    const probed = ['/health/live', '/health/ready', '/metrics'];
    await Promise.all(probed.map((path) => fetch(server.url + path)));
    const { traceId, headers } = newTrace();
    await api.get('/api/v1/me', { headers });
    await untilSpan('GET /api/v1/me', () => collector.of(traceId));
    const routes = collector.spans.map(({ attributes }) => attributes['http.route']);
    expect(routes.filter((route) => /health|metrics/.test(String(route)))).toEqual([]);
  });

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(packagesOf(server)).toContain('@opentelemetry/sdk-trace-node');
  });
});

describe('a stop', () => {
  it('sends the last spans, by protobuf with the headers of the setting', async () => {
    const server = await product.start({
      ...collector.environment,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=of%20the%20collector',
    });
    await new ApiClient(server.url, key).get('/api/v1/me');
    expect(collector.binary).toEqual([]);
    expect(await server.stop()).toBe(0);
    expect(Buffer.concat(collector.binary).toString('latin1')).toContain('GET /api/v1/me');
    expect(collector.requests.at(-1)!.headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      'api-key': 'of the collector',
    });
  });
});

describe('a collector that is down', () => {
  it('is reported once, and fails nothing', async () => {
    const server = await product.start({
      ...collector.environment,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
    });
    const api = new ApiClient(server.url, key);
    const isReported = () => server.stdout.includes('spans could not be sent');
    await until(async () => {
      expect((await api.get('/api/v1/me')).status).toBe(200);
      return isReported();
    });
    const { traceId, headers } = newTrace();
    for (let i = 0; i < 20; i++) {
      expect((await api.get('/api/v1/me', { headers })).status).toBe(200);
    }
    expect(await server.stop()).toBe(0);
    expect(server.stdout.match(/spans could not be sent/g)).toHaveLength(1);
    expect(lineOf(server, 'spans could not be sent')).toMatchObject({
      err: { code: 'ECONNREFUSED' },
    });
    expect(lineOf(server, traceId)).toMatchObject({ trace_id: traceId });
  });
});

describe('without an exporter', () => {
  const behindProxies = PROXY_PATHS.every((each) => existsSync(each)) ? it : it.skip;

  behindProxies(
    'one number is in the logs of nginx or HAProxy, of Latitude and of the receiver',
    async () => {
      const server = await product.start();
      const port = Number(new URL(server.url).port);
      const traces: string[] = [];
      for (const proxy of await Promise.all([TracedProxy.nginx(port), TracedProxy.haproxy(port)])) {
        const headers = { ...newTrace().headers, tracestate: 'vendor=value' };
        dataOf(await new ApiClient(proxy.url, key).post(LEADS, newLead(), { headers }), 201);
        const trace = await proxy.lastTrace();
        traces.push(trace);
        expect(headers.traceparent).not.toContain(trace);
        expect((await deliveryIn(trace)).headers.traceparent).toMatch(
          /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/,
        );
        await proxy.stop();
      }
      await server.stop();
      for (const trace of traces) expect(lineOf(server, trace)).toMatchObject({ trace_id: trace });
    },
  );

  it('loads no SDK, and passes the trace of a request to the log and the receiver', async () => {
    const server = await product.start();
    const api = new ApiClient(server.url, key);
    const { traceId, headers } = newTrace();
    await api.post(LEADS, newLead(), { headers });
    expect((await deliveryIn(traceId)).headers.traceparent).toBe(headers.traceparent);
    const { body } = await api.post(LEADS, newLead(), {
      headers: { traceparent: `${headers.traceparent}-more`, 'X-Request-Id': 'malformed' },
    });
    await until(() =>
      Promise.resolve(receiver.at(url).some((each) => each.body.includes(body.data.id))),
    );
    const { headers: received } = receiver
      .at(url)
      .find((each) => each.body.includes(body.data.id))!;
    expect(received).not.toHaveProperty('traceparent');
    expect(await server.stop()).toBe(0);
    expect(lineOf(server, traceId)).toMatchObject({ trace_id: traceId, span_id: SPAN });
    expect(lineOf(server, '"malformed"')).not.toHaveProperty('trace_id');
    expect(new Set(packagesOf(server))).toEqual(new Set(['@opentelemetry/api']));
  });

  it('names no trace to receivers, unless WEBHOOKS_TRACEPARENT is on', async () => {
    const server = await product.start({ WEBHOOKS_TRACEPARENT: 'off' });
    const { traceId, headers } = newTrace();
    const { body } = await new ApiClient(server.url, key).post(LEADS, newLead(), { headers });
    await until(() =>
      Promise.resolve(receiver.at(url).some((each) => each.body.includes(body.data.id))),
    );
    expect(JSON.stringify(receiver.received)).not.toContain(traceId);
    await server.stop();
  });
});
