import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { initializeRequest, rpcRequest, sessionHeader } from '../../dist/src/testing/mcp-client.js';
import { ROOT, withServer } from '../server.mjs';

const LEADS = '/api/v1/leads';
const CALLERS = 12;

/** How long both versions serve, and each of them alone. */
const PHASE_MS = 2_000;

/** Maximum duration of a request, on a busy machine. */
const MAX_REQUEST_MS = 2_000;

/** Only `npm run verify` checks times, because they depend on what else the machine does. */
const CHECKS_TIMES = process.env.TEST_TIMES === '1';

/**
 * Migrates the database of the last release with this version, starts this version alongside it, and then stops the
 * release, under load; and goes back to the release in the same way (docs/operating/upgrades.md). No request may fail, and
 * keys, idempotency keys and sessions must be valid as promised.
 * @param release directory of the compiled last release
 */
export async function upgradeUnderLoad(release, databaseUrl) {
  const settings = {
    DATABASE_URL: databaseUrl,
    RATE_LIMIT_READS_PER_MINUTE: '1000000',
    RATE_LIMIT_WRITES_PER_MINUTE: '1000000',
    LOG_LEVEL: 'info',
  };
  const older = path.join(release, 'main.js');
  const current = path.join(ROOT, 'dist/src');
  await withServer(
    async (old) => {
      const { id } = await latitude(release, settings, 'organizations', 'create', '--name', 'o');
      const createKey = async (code) => {
        const options = ['--organization', id, '--name', 'k', '--scopes', 'all'];
        return (await latitude(code, settings, 'keys', 'create', ...options)).key;
      };
      const key = await createKey(release);
      const load = new Load(key, old.url);
      await sleep(PHASE_MS);
      const session = await openSession(old.url, key);
      await latitude(current, settings, 'migrate');
      await withServer(async ({ url, stop }) => {
        load.urls = [old.url, url];
        await sleep(PHASE_MS);
        await assertIdempotent(key, old.url, url);
        await assertIdempotent(key, url, old.url);
        await request(old.url, await createKey(current), 'GET', LEADS);
        await callTool(old.url, key, session);
        const newSession = await openSession(url, key);
        load.urls = [url];
        await old.stop();
        await callTool(url, key, newSession);
        await sleep(PHASE_MS);
        await goBack(release, settings, load, { url, stop });
      }, settings);
    },
    settings,
    older,
  );
}

/** Starts the release again alongside this version, stops this version, and checks what was served. */
async function goBack(release, settings, load, { url, stop }) {
  await withServer(
    async (old) => {
      load.urls = [url, old.url];
      await sleep(PHASE_MS);
      load.urls = [old.url];
      await stop();
      await sleep(PHASE_MS);
      await load.stop();
      await load.assertServed(old.url);
    },
    settings,
    path.join(release, 'main.js'),
  );
}

/** Runs a command of the command line. */
async function latitude(code, env, ...args) {
  const cli = [path.join(code, 'cli.js'), '--json', ...args];
  const { stdout } = await promisify(execFile)(process.execPath, cli, {
    env: { PATH: process.env.PATH, ...env },
  });
  return JSON.parse(stdout);
}

/** @throws Error if the status is not 2xx */
async function request(url, key, method, target, body, headers = {}) {
  const response = await fetch(url + target, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${url}${target} answered ${response.status}: ${text}`);
  return { headers: response.headers, body: text && !text.startsWith('event') && JSON.parse(text) };
}

/** A creation through one server is replayed by the other. */
async function assertIdempotent(key, first, second) {
  const headers = { 'idempotency-key': `${first}->${second}` };
  const send = (url) => request(url, key, 'POST', LEADS, { first_name: 'Once' }, headers);
  const created = await send(first);
  const replayed = await send(second);
  assert.deepEqual(replayed.body, created.body);
  assert.equal(replayed.headers.get('etag'), created.headers.get('etag'));
}

const ACCEPT = { accept: 'application/json, text/event-stream' };

async function openSession(url, key) {
  const { headers } = await request(url, key, 'POST', '/mcp', initializeRequest(), ACCEPT);
  return headers.get('mcp-session-id');
}

function callTool(url, key, session) {
  const call = rpcRequest('tools/call', { name: 'list_leads', arguments: {} });
  return request(url, key, 'POST', '/mcp', call, { ...ACCEPT, ...sessionHeader(session) });
}

/** Callers that create, read, change and list leads at each of some servers. */
class Load {
  durations = [];
  created = 0;
  failures = [];
  isStopped = false;

  constructor(key, url) {
    this.key = key;
    this.urls = [url];
    this.callers = Array.from({ length: CALLERS }, (_, n) => this.repeat(n));
  }

  async stop() {
    this.isStopped = true;
    await Promise.all(this.callers);
  }

  /** No request failed, and each lead that was created is there. */
  async assertServed(url) {
    const longest = Math.round(Math.max(...this.durations));
    console.log(
      `rolling upgrade: ${this.durations.length} requests, ${this.failures.length} failed, the longest took ${longest} ms`,
    );
    assert.deepEqual(this.failures, []);
    if (CHECKS_TIMES) assert.ok(longest < MAX_REQUEST_MS, `a request took ${longest} ms`);
    const { body } = await request(url, this.key, 'GET', `${LEADS}?search=Load&limit=1`);
    assert.equal(body.meta.total, this.created);
  }

  async repeat(caller) {
    for (let n = caller; !this.isStopped; n++) await this.useLead(n);
  }

  /** Each request of a lead may go to another server than the one before. */
  async useLead(n) {
    const lead = await this.send(n, 'POST', LEADS, { first_name: 'Load', status: 'new' });
    if (!lead) return;
    this.created++;
    const target = `${LEADS}/${lead.body.data.id}`;
    await this.send(n + 1, 'GET', target);
    await this.send(n + 2, 'PUT', target, { status: 'contacted' });
    await this.send(n + 3, 'GET', `${LEADS}?status=contacted&limit=5`);
  }

  async send(n, ...args) {
    const started = performance.now();
    const url = this.urls[n % this.urls.length];
    const answer = await request(url, this.key, ...args).catch((error) => {
      this.failures.push(error.message);
    });
    this.durations.push(performance.now() - started);
    return answer;
  }
}
