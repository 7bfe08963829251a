import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { type Answer, ApiClient } from './support/api-client.js';
import { LEADS } from './support/factories.js';
import { Product, type RunningServer, until } from './support/product.js';

const KEY = /shown only now: (\S+)/;

const UNLIMITED = {
  RATE_LIMIT_WRITES_PER_MINUTE: '1000000',
  RATE_LIMIT_READS_PER_MINUTE: '1000000',
};

describe('starting (decisions 7)', () => {
  const product = new Product();
  afterAll(() => product.remove());

  it('makes an organization and a key on the first start, shows it once, and its line works', async () => {
    const first = await product.start();
    const line = first.printed(/\n(curl .*)\n/) ?? '';
    const [, url, key, body] = /POST (\S+) .*Bearer (\S+)" .*-d '(.*)'/.exec(line) ?? [];
    const answer = await fetch(url!, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: body!,
    });
    expect(answer.status).toBe(201);
    expect(await first.stop()).toBe(0);

    const second = await product.start();
    expect(second.printed(KEY)).toBeUndefined();
    const leads = await new ApiClient(second.url, key).get(LEADS);
    expect(leads.body.meta.total).toBe(1);
    expect(await second.stop()).toBe(0);
  });

  it('refuses a second server on the same data in one clear sentence', async () => {
    const server = await product.start();
    const { code, stderr } = await product.run('main.js');
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('in use');
    await server.stop();
  });

  it.each([
    ['PORT', 'http'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['RATE_LIMIT_READS_PER_MINUTE', '-1'],
    ['LOG_LEVEL', 'loud'],
  ])('ends with one line that names %s when it cannot be used', async (name, value) => {
    const { code, stderr, stdout } = await product.run('main.js', [], { [name]: value });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(name);
  });

  it.each([
    ['DATABASE_URL', { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' }],
    ['HOST', { HOST: '999.1.1.1' }],
  ])('ends in one line that names %s when nothing is there', async (name, env) => {
    const { code, stdout, stderr } = await product.run('main.js', [], env);
    expect(code).toBe(1);
    expect((stdout + stderr).trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(name);
    expect(stderr).not.toContain('secret');
  });
});

describe('stopping', () => {
  const product = new Product();
  afterAll(() => product.remove());

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'answers what is under way on %s, then ends with 0',
    async (signal) => {
      const server = await product.start();
      const key = server.printed(KEY) ?? (await newKey(product));
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

  it('fails no request of clients who keep their connections and go on', async () => {
    const server = await product.start(UNLIMITED);
    const key = server.printed(KEY) ?? (await newKey(product));
    const outcomes = new Set<string>();
    let answered = 0;
    const caller = async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      let outcome: string;
      do {
        outcome = await get(`${server.url}/api/v1/me`, key, agent);
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

/** The status of an answer, or how there came to be none. */
function get(url: string, key: string, agent: http.Agent): Promise<string> {
  return new Promise((resolve) => {
    const sending = http.get(url, { agent, headers: { Authorization: `Bearer ${key}` } });
    sending.once('response', (response) => {
      response.resume().once('close', () => {
        resolve(response.complete ? String(response.statusCode) : 'broken off');
      });
    });
    sending.once('error', () => {
      resolve(sending.reusedSocket ? 'kept connection lost' : 'refused');
    });
  });
}

describe('kill -9 of the whole process group under write load', () => {
  const product = new Product();
  afterAll(() => product.remove());

  it('loses no acknowledged create, doubles none by a retry, and the next start works', async () => {
    let server = await product.start(UNLIMITED);
    const key = server.printed(KEY)!;
    const retries: string[] = [];
    for (let round = 0; round < 3; round++) {
      const { acknowledged, idempotent } = await createUntilKilled(server, key);
      expect(acknowledged.length).toBeGreaterThan(20);
      server = await product.start(UNLIMITED);
      const api = new ApiClient(server.url, key);
      const kept = await Promise.all(acknowledged.map((id) => api.get(`${LEADS}/${id}`)));
      expect(kept.filter(({ status }) => status !== 200)).toEqual([]);
      const retried = await Promise.all(idempotent.map((once) => createOnce(api, once)));
      expect(retried.filter(({ status }) => status !== 201)).toEqual([]);
      retries.push(...idempotent);
      const all = await api.get(`${LEADS}?status=once&limit=1`);
      expect(all.body).toMatchObject({ meta: { total: retries.length } });
    }
    await server.stop();
  }, 60_000);
});

async function newKey(product: Product): Promise<string> {
  const [organization] = await product.latitude<{ id: string }[]>('organizations', 'list');
  const { key } = await product.latitude<{ key: string }>(
    ...['keys', 'create', '--organization', organization!.id, '--name', 'k', '--scopes', 'all'],
  );
  return key;
}

function createOnce(api: ApiClient, once: string): Promise<Answer> {
  const lead = { first_name: 'kept', status: 'once' };
  return api.post(LEADS, lead, { headers: { 'Idempotency-Key': once } });
}

/**
 * Ten writers until the process group dies in the middle of it; the ids that were answered, and the
 * idempotency keys that were sent.
 */
async function createUntilKilled(server: RunningServer, key: string) {
  const api = new ApiClient(server.url, key);
  const acknowledged: string[] = [];
  const idempotent: string[] = [];
  let alive = true;
  const create = (isOnce: boolean) => {
    if (!isOnce) return api.post(LEADS, { first_name: 'kept' });
    const once = randomUUID();
    idempotent.push(once);
    return createOnce(api, once);
  };
  const writer = async (_: unknown, n: number) => {
    while (alive) {
      const answer = await create(n % 2 === 0).catch(() => undefined);
      if (answer?.status === 201) acknowledged.push(answer.body.data.id as string);
    }
  };
  const writers = Array.from({ length: 10 }, writer);
  await until(() => Promise.resolve(acknowledged.length > 200));
  server.signalGroup('SIGKILL');
  await server.ended;
  alive = false;
  await Promise.all(writers);
  return { acknowledged, idempotent };
}
