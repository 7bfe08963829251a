import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { json, text } from 'node:stream/consumers';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import {
  initializeRequest,
  rpcRequest,
  sessionHeader,
} from '../../../../src/testing/mcp-client.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { describeUnless } from '../../../faults/support/describe-unless.js';
import { freePort } from '../../../support/servers/free-port.js';
import {
  HAPROXY_PATH,
  instancesConfiguration,
  serverRows,
  statsSection,
} from '../../../support/servers/haproxy.mjs';
import { Nginx, NGINX_SKIP_REASON } from '../../../support/servers/nginx.js';
import { until } from '../../../support/servers/product.js';
import {
  type Certificate,
  createCertificate,
  OPENSSL_SKIP_REASON,
} from '../../../support/servers/tls.js';
import { HAPROXY_SKIP_REASON } from '../../../topology/support/haproxy.js';

const ACCEPT = { accept: 'application/json, text/event-stream' };

/** A proxy with TLS in front of two instances. */
interface Proxy {
  readonly port: number;
  stop(): Promise<void>;
}

let directory: string;
let tls: Certificate;
let instances: TestApp[] = [];
let tenant: Tenant;
let received: { instance: number; headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'latitude-proxies-'));
  tls = await createCertificate(directory);
  const settings = { trustProxy: 1 };
  const first = await TestApp.start({ settings });
  instances = [first, await TestApp.start({ settings, database: first.database })];
  for (const [instance, { app }] of instances.entries()) {
    app.getHttpServer().on('request', ({ url, headers }: IncomingMessage) => {
      if (url !== '/health/ready') received.push({ instance, headers });
    });
  }
  tenant = await first.organization();
});
afterAll(async () => {
  for (const app of instances.toReversed()) await app.stop();
  await rm(directory, { recursive: true });
});

async function startHaProxy(): Promise<Proxy> {
  const [port, statsPort] = [await freePort(), await freePort()];
  const file = path.join(directory, 'haproxy.cfg');
  const ports = instances.map(portOf);
  const text = instancesConfiguration(port, ports, { pem: tls.pem }) + statsSection(statsPort);
  await writeFile(file, text);
  const child: ChildProcess = spawn(HAPROXY_PATH, ['-db', '-q', '-f', file], { stdio: 'ignore' });
  await until(async () => {
    const rows = await serverRows(statsPort, 'latitude').catch(() => []);
    return rows.length === 2 && rows.every(({ status }) => status === 'UP');
  });
  const stop = async () => {
    if (child.kill('SIGKILL')) await once(child, 'exit');
  };
  return { port, stop };
}

const portOf = ({ url }: TestApp) => Number(new URL(url).port);

const PROXIES = [
  ['docker/haproxy.cfg', HAPROXY_SKIP_REASON, startHaProxy],
  ['docker/nginx.conf', NGINX_SKIP_REASON, () => Nginx.start(instances.map(portOf), tls)],
] as const;

describe.each(PROXIES)('%s with its lines for TLS', (_, missing, start) => {
  describeUnless(missing ?? OPENSSL_SKIP_REASON, 'in front of two instances', () => {
    let proxy: Proxy;

    beforeAll(async () => (proxy = await start()));
    afterAll(() => proxy.stop());
    beforeEach(() => {
      received = [];
    });

    async function send(method: string, target: string, body?: unknown, headers = {}) {
      const request = https.request(`https://127.0.0.1:${proxy.port}${target}`, {
        method,
        ca: await readFile(tls.certificate),
        agent: false,
        headers: {
          authorization: `Bearer ${tenant.key.key}`,
          'content-type': 'application/json',
          ...headers,
        },
      });
      request.end(typeof body === 'string' ? body : body && JSON.stringify(body));
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return response;
    }

    it('sends requests to both, with the address of the client and the scheme', async () => {
      for (let n = 0; n < 4; n++) {
        const forged = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'http' };
        const { statusCode } = await send('GET', LEADS, undefined, forged);
        expect(statusCode).toBe(200);
      }
      expect(received.map(({ instance }) => instance).sort()).toEqual([0, 0, 1, 1]);
      for (const { headers } of received) {
        expect(headers).toMatchObject({
          'x-forwarded-for': '192.0.2.1, 127.0.0.1',
          'x-forwarded-proto': 'https',
        });
      }
      const document = await json(await send('GET', '/openapi.json'));
      expect(document).toMatchObject({ servers: [{ url: `https://127.0.0.1:${proxy.port}` }] });
    });

    it('does not pass /metrics on', async () => {
      expect((await send('GET', '/metrics')).statusCode).toBe(404);
      expect(received).toEqual([]);
    });

    it('passes a file of an import on that is larger than its buffers', async () => {
      const file = `first_name,last_name\n${`Ada,${'x'.repeat(1_000)}\n`.repeat(2_000)}`;
      const target = `${LEADS}/imports?mode=create_only&dry_run=true`;
      const response = await send('POST', target, file, { 'content-type': 'text/csv' });
      const record = await json(response);
      expect([response.statusCode, record]).toMatchObject([
        202,
        { data: { status: expect.any(String) } },
      ]);
    });

    it('passes an event of /mcp on when it is sent', async () => {
      const opened = await send('POST', '/mcp', initializeRequest(), ACCEPT);
      const headers = { ...ACCEPT, ...sessionHeader(String(opened.headers['mcp-session-id'])) };
      const stream = await send('GET', '/mcp', undefined, headers);
      let events = '';
      stream.on('data', (chunk: Buffer) => (events += chunk.toString()));
      const { id } = await createLead(tenant.api);
      const uri = `lead://${id}`;
      await text(await send('POST', '/mcp', rpcRequest('resources/subscribe', { uri }), headers));
      await text(await send('PUT', `${LEADS}/${id}`, { first_name: 'Grace' }));
      await until(() => Promise.resolve(events.includes(`"uri":"${uri}"`)));
      stream.destroy();
    });
  });
});
