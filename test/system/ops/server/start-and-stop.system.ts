import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { VERSION } from '../../../../src/platform/config/version.js';
import { ApiClient } from '../../../../src/testing/api-client.js';
import { dataOf, LEADS } from '../../../../src/testing/factories.js';
import { Subscriber, resourceUpdated } from '../../../support/mcp/resource-subscriber.js';
import { McpHttpClient } from '../../../../src/testing/mcp-client.js';
import { createKey, latitude } from '../../../support/command-line.js';
import { outcomeOf } from '../../../support/outcome-of.js';
import {
  CONSOLE_LINK,
  FIRST_KEY,
  Product,
  SCRIPT,
  UNLIMITED,
  until,
} from '../../../support/servers/product.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';

// Broken on purpose for docs/operating/runbook.md#an-instance-does-not-start

/** The socket does not exist, so that the start fails at once. */
const NO_DATABASE = 'postgres://nobody:secret@localhost/none?host=/nowhere';

const STARTING = `Starting Latitude ${VERSION}`;

/** The messages of a first start, after which it prints the key. */
const FIRST_START = [
  STARTING,
  expect.stringMatching(/^The new database was set up in \d+\.\d s$/),
  expect.stringContaining('Latitude listens on http://'),
  expect.stringContaining('Reference: http://'),
] as string[];

function messagesOf(log: string): string[] {
  const lines = log.trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
}

describe('startup', () => {
  const product = new Product();
  afterAll(() => product.remove());

  it('logs one line about a new database, and begins with a line that it starts', async () => {
    const other = new Product();
    const server = await other.start();
    const [log = ''] = server.stdout.split('\nYour organization');
    expect(messagesOf(log)).toEqual(FIRST_START);
    await server.stop();
    await other.remove();
  });

  const inTerminal = existsSync(SCRIPT) ? it : it.skip;
  inTerminal('prints each message of a first start on one line in a terminal', async () => {
    const other = new Product();
    const server = await other.startInTerminal();
    const [log = ''] = server.stdout.split('Your organization');
    const lines = stripVTControlCharacters(log).trim().split(/\s*\n/);
    expect(lines.map((line) => /^\[[\d:.]+\] INFO: (.*)$/.exec(line)?.[1])).toEqual(FIRST_START);
    server.signalGroup('SIGTERM');
    await server.ended;
    await other.remove();
  });

  it('creates an organization and two keys on the first start, and prints a curl command and a link to the console once, after the log', async () => {
    const first = await product.start();
    expect(first.stdout).toMatch(
      /^(\{.*\}\n)+\nYour organization: \S+\nYour API key, .*\n\nCreate .*:\n\ncurl .*\n\nOr .*:\n\nhttp.*\n\n$/,
    );
    const line = first.printed(/\n(curl .*)\n/) ?? '';
    const [, url, key, body] = /POST (\S+) .*Bearer (\S+)" .*-d '(.*)'/.exec(line) ?? [];
    const answer = await fetch(url!, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: body!,
    });
    expect(answer.status).toBe(201);
    const limitsOf = async (api: ApiClient) =>
      dataOf<{ limits: object; scopes: string[] }>(await api.get('/api/v1/me'));
    const ordinary = await limitsOf(new ApiClient(first.url, key));
    expect(ordinary.limits).toEqual({ reads_per_minute: 60, writes_per_minute: 30 });
    const [link, consoleKey] = CONSOLE_LINK.exec(first.stdout)!.slice(1);
    expect((await fetch(link!)).status).toBe(200);
    const { limits, scopes } = await limitsOf(new ApiClient(first.url, consoleKey));
    expect(limits).toEqual({ reads_per_minute: 600, writes_per_minute: 300 });
    expect(scopes).toEqual(expect.arrayContaining(['keys:write', 'organization:write']));
    expect(scopes).not.toContain('leads:erase');
    expect(await first.stop()).toBe(0);

    const second = await product.start();
    expect(second.printed(FIRST_KEY)).toBeUndefined();
    expect(second.printed(CONSOLE_LINK)).toBeUndefined();
    const leads = await new ApiClient(second.url, key).get(LEADS);
    expect(leads.body.meta.total).toBe(1);
    expect(await second.stop()).toBe(0);
  });

  it('prints no link to a console that is not served, and creates no key for it', async () => {
    const other = new Product({ CONSOLE: 'off' });
    const server = await other.start();
    expect(server.stdout).not.toContain('console');
    const keys = await other.sql<{ name: string }>('select name from api_keys');
    expect(keys).toEqual([{ name: 'First key' }]);
    await server.stop();
    await other.remove();
  });

  it('fails with one line if another server uses the same data directory', async () => {
    const server = await product.start();
    const { code, stderr } = await product.run('main.js');
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('in use');
    await server.stop();
  });

  it('logs one warning for each variable that looks like a setting but is not one', async () => {
    const { stdout } = await product.run('main.js', [], {
      DATABASE_POOL: 'secret',
      CORS_ORIGIN: 'https://secret.example',
      WEB_CONCURRENCY: '2',
      DATABASE_URL: NO_DATABASE,
    });
    expect(messagesOf(stdout)).toEqual([
      STARTING,
      expect.stringContaining('CORS_ORIGIN is set, but') as string,
      expect.stringContaining('DATABASE_POOL is set, but') as string,
      expect.stringContaining('WEB_CONCURRENCY is set, but') as string,
    ]);
    expect(stdout).not.toContain('secret');
  });

  it.each([
    ['PORT', 'http'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['RATE_LIMIT_READS_PER_MINUTE', '-1'],
    ['LOG_LEVEL', 'loud'],
  ])('fails with one line that names %s if its value is invalid', async (name, value) => {
    const { code, stderr, stdout } = await product.run('main.js', [], { [name]: value });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(name);
  });

  it.each([
    ['DATABASE_URL', { DATABASE_URL: NO_DATABASE }],
    ['HOST', { HOST: '999.1.1.1' }],
  ])('fails with one line that names %s if the address is not reachable', async (name, env) => {
    const { code, stdout, stderr } = await product.run('main.js', [], env);
    expect(code).toBe(1);
    expect(messagesOf(stdout)).toEqual([STARTING]);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(name);
    expect(stderr).not.toContain('secret');
  });

  it('reads the URL of the database from a file, and does not print it', async () => {
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'latitude-secret-')), 'url');
    await writeFile(file, `${NO_DATABASE}\n`);
    const [server, command, both] = await Promise.all([
      product.run('main.js', [], { DATABASE_URL_FILE: file }),
      product.run('cli.js', ['organizations', 'list'], { DATABASE_URL_FILE: file }),
      product.run('main.js', [], { DATABASE_URL_FILE: file, DATABASE_URL: NO_DATABASE }),
    ]);
    await rm(path.dirname(file), { recursive: true });
    for (const { code, stdout, stderr } of [server, command, both]) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/^latitude: DATABASE_URL .*\n$/);
      expect(stdout + stderr).not.toContain('secret@');
    }
    expect(both.stderr).toContain('DATABASE_URL and DATABASE_URL_FILE are both set');
  });

  it('fails with one line that names HOST before it migrates a new database', async () => {
    const other = new Product({ HOST: '999.1.1.1' });
    const { code, stdout, stderr } = await other.run('main.js');
    expect([code, messagesOf(stdout)]).toEqual([1, [STARTING]]);
    expect(stderr).toMatch(/^latitude: HOST, PORT cannot be used: .*\n$/);
    await other.remove();
  });
});

describe('shutdown', () => {
  const product = new Product();
  afterAll(() => product.remove());

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'completes pending requests on %s and exits with 0',
    async (signal) => {
      const server = await product.start();
      const key = server.printed(FIRST_KEY) ?? (await newKey(product));
      const api = new ApiClient(server.url, key);
      await api.post(LEADS, { first_name: 'warm' });
      const requests = Array.from({ length: 10 }, (_, n) =>
        api.post(LEADS, { first_name: `n${n}` }),
      );
      await requests[0];
      server.signal(signal);
      const settled = await Promise.allSettled(requests);
      const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(answers.every(({ status }) => status === 201)).toBe(true);
      expect(await server.ended).toBe(0);
    },
  );

  it('ends the event streams of /mcp cleanly and exits with 0', async () => {
    const server = await product.start();
    const key = server.printed(FIRST_KEY) ?? (await newKey(product));
    const mcp = new McpHttpClient(server.url, key);
    const streams = await Promise.all(
      [1, 2, 3].map(async () => mcp.openStream(await mcp.openSession())),
    );
    // The retry time tells the client when to reconnect, possibly to another instance.
    for (const stream of streams) expect(await stream.next()).toMatchObject({ retry: '1000' });
    server.signal('SIGTERM');
    // A connection that is cut off at the deadline would be an error.
    for (const stream of streams) expect(await stream.next()).toBeUndefined();
    expect(await server.ended).toBe(0);
  });

  it('ends the subscriptions of both protocol modes and exits with 0', async () => {
    const server = await product.start();
    const key = server.printed(FIRST_KEY) ?? (await newKey(product));
    const api = new ApiClient(server.url, key);
    const { id } = dataOf(await api.post(LEADS, { first_name: 'Ada' }), 201);
    const caller = new McpHttpClient(server.url, key);
    const subscribers = await Promise.all(
      PROTOCOL_MODES.map((mode) => Subscriber.of(mode, caller, [`lead://${id}`])),
    );
    dataOf(await api.put(`${LEADS}/${id}`, { first_name: 'Grace' }));
    server.signal('SIGTERM');
    for (const subscriber of subscribers) {
      expect(await subscriber.next()).toEqual(resourceUpdated(`lead://${id}`));
      expect(await subscriber.next()).toBeUndefined();
    }
    expect(await server.ended).toBe(0);
  });

  it('fails no request on keep-alive connections', async () => {
    const server = await product.start(UNLIMITED);
    const key = server.printed(FIRST_KEY) ?? (await newKey(product));
    const outcomes = new Set<string>();
    let answered = 0;
    const caller = async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      let outcome: string;
      do {
        outcome = await outcomeOf(`${server.url}/api/v1/me`, { key, agent });
        outcomes.add(outcome);
        answered++;
      } while (outcome === '200');
    };
    const callers = Array.from({ length: 16 }, caller);
    await until(() => Promise.resolve(answered > 500));
    server.signal('SIGTERM');
    await Promise.all(callers);
    expect(outcomes).not.toContain('kept connection lost');
    expect([...outcomes].filter((outcome) => /^[45]/.test(outcome))).toEqual([]);
    expect(await server.ended).toBe(0);
  });
});

async function newKey({ environment }: Product): Promise<string> {
  const [organization] = await latitude<{ id: string }[]>(environment, 'organizations', 'list');
  return createKey(environment, organization!.id);
}
