import http from 'node:http';
import path from 'node:path';
import { connectionThrough } from '../../../src/embedded-postgres/connection.js';
import { ApiClient } from '../../../src/testing/api-client.js';
import { createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { McpHttpClient } from '../../../src/testing/mcp-client.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { outcomeOf } from '../../support/outcome-of.js';
import { Product, type RunningServer, UNLIMITED, until } from '../../support/servers/product.js';
import { untilGone, workersOf } from '../../support/servers/workers.js';

const TWO = { WEB_CONCURRENCY: '2' };
const READY = /"msg":"The workers are (\d+, \d+)"/;
const KEY = /shown only now: (\S+)/;
const ME = '/api/v1/me';

/** Less than the time after which the parent kills a worker that does not end. */
const MAX_STOP_MS = 40_000;

interface Started {
  readonly product: Product;
  readonly server: RunningServer;
  readonly key: string;
  readonly pids: readonly number[];
}

async function start(env: Record<string, string> = {}): Promise<Started> {
  const product = new Product({ ...TWO, ...env });
  const server = await product.start();
  await server.untilPrinted(READY);
  return { product, server, key: server.printed(KEY) ?? '', pids: workersOf(server) };
}

/** Returns the ids of the processes that logged requests. */
function servingPids({ stdout }: RunningServer): number[] {
  return [...stdout.matchAll(/"pid":(\d+),"method"/g)].map(([, pid]) => Number(pid));
}

/** The number of finished requests to a route, by the metrics. */
async function requestsTo(route: string, { url }: RunningServer): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const line = new RegExp(`^http_request_duration_seconds_count.*route="${route}".* (\\d+)$`, 'gm');
  return [...page.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0);
}

function untilCount(server: RunningServer, pattern: RegExp, count: number): Promise<void> {
  return until(() => Promise.resolve([...server.stdout.matchAll(pattern)].length >= count));
}

describe('WEB_CONCURRENCY=2', () => {
  let started: Started;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(() => started.product.remove());

  it('prints one key and one address, and logs the id of the process in each line', () => {
    const { server, pids } = started;
    expect(pids).toHaveLength(2);
    expect(server.printed(READY)?.split(', ').map(Number).sort()).toEqual([...pids].sort());
    expect(server.stdout.match(/shown only now/g)).toHaveLength(1);
    expect(server.stdout.match(/listens on/g)).toHaveLength(1);
    expect(server.stdout.match(/"InitialSchema/g)).toHaveLength(1);
    const lines = server.stdout.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.filter((line) => !/"pid":\d+/.test(line))).toEqual([]);
  });

  it('allows exactly 60 of 100 parallel reads of a key, which both workers serve', async () => {
    const { server, key } = started;
    const api = new ApiClient(server.url, key);
    const answers = await Promise.all(Array.from({ length: 100 }, () => api.get(ME)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(60).fill(200), ...Array<number>(40).fill(429)]);
    await until(() => Promise.resolve(servingPids(server).length >= 100));
    expect(new Set(servingPids(server)).size).toBe(2);
  });

  it('allows exactly 60 requests with wrong keys of an address', async () => {
    const stranger = new ApiClient(started.server.url, 'lat_wrong');
    const answers = await Promise.all(Array.from({ length: 100 }, () => stranger.get(ME)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
  });

  it('is one instance to readiness, until there is an instance of another parent', async () => {
    const { product, server } = started;
    const ready = async () => (await new ApiClient(server.url).get('/health/ready')).body as object;
    expect(await ready()).toEqual({ status: 'ok' });
    const database = connectionThrough(path.join(product.dataDir, 'data/run'));
    const other = await TestApp.start({ database });
    const warnings = [expect.stringMatching(/^2 instances use this database/)];
    await until(async () => 'warnings' in (await ready()));
    expect(await ready()).toEqual({ status: 'ok', warnings });
    await other.stop();
  });

  it('shows the metrics of both workers on one page, and keeps the counts of one that dies', async () => {
    const { server } = started;
    const counted = async (name: string) => {
      const page = await (await fetch(`${server.url}/metrics`)).text();
      return Number(
        page
          .split('\n')
          .find((line) => line.startsWith(name))
          ?.slice(name.length),
      );
    };
    const refusals = 'latitude_rate_limit_refusals_total{limit="reads"} ';
    const requests = `http_request_duration_seconds_count{method="GET",route="${ME}",status="200"} `;
    const build = `latitude_build_info{version="`;
    await until(async () => (await counted(requests)) === 60);
    expect(await counted(refusals)).toBe(40);
    expect((await (await fetch(`${server.url}/metrics`)).text()).split(build)).toHaveLength(2);

    const [victim = 0] = started.pids;
    process.kill(victim, 'SIGKILL');
    await server.untilPrinted(new RegExp(`worker ${victim} ended \\(SIGKILL\\): starting another`));
    expect(await counted(requests)).toBe(60);
    expect(await counted(refusals)).toBe(40);
    await untilCount(server, /worker \d+ is ready/g, 1);
    expect(workersOf(server)).toHaveLength(2);
    expect(workersOf(server)).not.toContain(victim);
  });

  it('stops all processes on SIGTERM, also one that starts, and exits with 0', async () => {
    const { server } = started;
    server.signal('SIGUSR2');
    await until(() => Promise.resolve(workersOf(server).length === 3));
    const pids = workersOf(server);
    const since = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - since).toBeLessThan(MAX_STOP_MS);
    await untilGone(pids);
    expect(server.stderr).toBe('');
  });

  it('prints one line if it cannot listen, also on a migrated database', async () => {
    const { code, stderr } = await started.product.run('main.js', [], { HOST: '999.1.1.1' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^latitude: HOST, PORT cannot be used: .*\n$/);
  });
});

describe('WEB_CONCURRENCY=2 under load', () => {
  let started: Started;
  beforeAll(async () => {
    started = await start(UNLIMITED);
  });
  afterAll(() => started.product.remove());

  it('replaces a worker that dies while it accepts connections, and fails no later request', async () => {
    const { server, key } = started;
    const ready = /worker \d+ is ready/g;
    const readyBefore = [...server.stdout.matchAll(ready)].length;
    let isReplaced = false;
    let killedAt = Infinity;
    const later = new Set<string>();
    const caller = async () => {
      while (!isReplaced) {
        const sentAt = performance.now();
        const outcome = await outcomeOf(server.url + ME, { key, agent: false });
        if (sentAt > killedAt) later.add(outcome);
      }
    };
    const callers = Array.from({ length: 48 }, caller);
    await until(() => Promise.resolve(servingPids(server).length >= 200));
    const [, victim = 0] = workersOf(server);
    process.kill(victim, 'SIGKILL');
    await untilGone([victim]);
    killedAt = performance.now();
    await untilCount(server, ready, readyBefore + 1);
    isReplaced = true;
    await Promise.all(callers);
    expect([...later]).toEqual(['200']);
    expect(workersOf(server)).toHaveLength(2);
    expect(server.stderr).toBe('');
  });

  it('on SIGUSR2 replaces all workers, fails no request, and keeps their counts and sessions of /mcp', async () => {
    const { server, key } = started;
    const pids = workersOf(server);
    const mcp = new McpHttpClient(server.url, key);
    const session = await mcp.openSession('2025-06-18');
    const stream = await mcp.openStream(session);
    const outcomes = new Set<string>();
    let sent = 0;
    let isRestarted = false;
    const caller = async (index: number, path: string) => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      const request = {
        key,
        agent: index < 4 && agent,
        body: path === LEADS && index % 2 === 0 ? { first_name: 'Ada' } : undefined,
      };
      while (!isRestarted) {
        if (path === LEADS) sent++;
        outcomes.add(await outcomeOf(server.url + path, request));
      }
      agent.destroy();
    };
    const callers = Array.from({ length: 8 }, (_, index) => caller(index, LEADS));
    // Waits for an event that does not come.
    callers.push(caller(0, '/api/v1/events?wait=5&types=task.deleted'));
    server.signal('SIGUSR2');
    await server.untilPrinted(/all workers are restarted/);
    isRestarted = true;
    await Promise.all(callers);
    expect([...outcomes].sort()).toEqual(['200', '201']);
    await until(async () => (await requestsTo(LEADS, server)) >= sent);
    expect(await requestsTo(LEADS, server)).toBe(sent);
    expect(workersOf(server)).toHaveLength(2);
    expect(workersOf(server).filter((pid) => pids.includes(pid))).toEqual([]);
    expect(await stream.next()).toBeUndefined();
    expect(await mcp.rpc(session, 'tools/list')).toMatchObject({ status: 200 });
  });

  it('on SIGUSR2 leaves the workers running if a new one cannot start, and logs it', async () => {
    const { server, key } = started;
    const pids = workersOf(server);
    server.signal('SIGUSR2');
    let successor: number | undefined;
    await until(() => {
      successor = workersOf(server).find((pid) => !pids.includes(pid));
      return Promise.resolve(successor !== undefined);
    });
    process.kill(successor!, 'SIGKILL');
    await server.untilPrinted(/could not start: it ended before it was ready \(SIGKILL\)/);
    await server.untilPrinted(/the restart failed/);
    expect(workersOf(server).sort()).toEqual(pids.sort());
    const api = new ApiClient(server.url, key);
    const { id } = await createLead(api);
    expect(dataOf(await api.get(`${LEADS}/${id}`))).toMatchObject({ id });
  });

  it('ends the workers of a parent that was killed', async () => {
    const { server } = started;
    const pids = workersOf(server);
    server.signal('SIGKILL');
    await untilGone(pids);
    await expect(fetch(`${server.url}/health/live`)).rejects.toThrow('fetch failed');
  });
});

describe('a failed startup with workers', () => {
  const product = new Product(TWO);
  afterAll(() => product.remove());

  it('prints one line and ends all processes', async () => {
    const { code, stdout, stderr } = await product.run('main.js', [], { HOST: '999.1.1.1' });
    expect(code).toBe(1);
    expect(stdout).not.toContain('listens on');
    expect(stderr).toMatch(
      /^latitude: HOST, PORT cannot be used: no server can listen on 999\.1\.1\.1:0 .*\n$/,
    );
  });
});

describe('SIGUSR2 without workers', () => {
  const product = new Product();
  afterAll(() => product.remove());

  it('is logged and leaves the process running', async () => {
    const server = await product.start();
    server.signal('SIGUSR2');
    await server.untilPrinted(/SIGUSR2 restarts workers, and there are none: WEB_CONCURRENCY is 1/);
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});
