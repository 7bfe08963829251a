// Lets Debian's Prometheus read a server under traffic of every kind, and runs each query of the dashboard and of the alerts.
// A query must succeed and find something. Usage: node .ci/prometheus/run.mjs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { ROOT, withServer } from '../server.mjs';
import { makeTraffic } from './traffic.mjs';

const FILES = path.join(ROOT, 'docker/prometheus');
const SCRAPE_SECONDS = 1;
const WAIT_SECONDS = 120;

/** The embedded PostgreSQL has no replicas. test/documentation/metrics.spec.ts compares these queries with their metrics. */
const MAY_BE_EMPTY = 'latitude_replica_';

const receiver = http.createServer((request, response) => {
  request.resume().once('end', () => response.end());
});
await once(receiver.listen(0, '127.0.0.1'), 'listening');
const metricsPort = await freePort();
const backups = mkdtempSync(path.join(os.tmpdir(), 'latitude-backups-'));
try {
  await withServer(run, {
    METRICS_PORT: String(metricsPort),
    BACKUP_DIR: backups,
    WEBHOOKS_ALLOW_PRIVATE_TARGETS: 'on',
    OAUTH: 'on',
    PUBLIC_URL: 'http://127.0.0.1:3000',
  });
} finally {
  rmSync(backups, { recursive: true });
  receiver.close();
}

async function run({ url, key, directory }) {
  const address = await freePort().then((port) => `127.0.0.1:${port}`);
  const prometheus = spawn('prometheus', [
    `--config.file=${writeConfig(directory)}`,
    `--storage.tsdb.path=${path.join(directory, 'prometheus')}`,
    `--web.listen-address=${address}`,
    '--log.level=error',
  ]);
  prometheus.stderr.pipe(process.stderr);
  const ended = once(prometheus, 'close');
  const traffic = new AbortController();
  const { port } = receiver.address();
  const sending = makeTraffic({
    url,
    key,
    receiver: `http://127.0.0.1:${port}/`,
    signal: traffic.signal,
  });
  try {
    const queries = [...dashboardQueries(), ...alertSelectors()];
    const problems = await untilAllFound(`http://${address}`, queries);
    problems.push(...(await unhealthyRules(`http://${address}`)));
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) throw new Error(`${problems.length} problems with Prometheus`);
    console.log(
      `prometheus: ${queries.length} queries found something, and all rules are evaluated`,
    );
  } finally {
    traffic.abort();
    await sending;
    prometheus.kill();
    await ended;
  }
}

/** The configuration for operators, with the address of this server. */
function writeConfig(directory) {
  const text = readFileSync(path.join(FILES, 'prometheus.yml'), 'utf8')
    .replace("'127.0.0.1:3000'", `'127.0.0.1:${metricsPort}'`)
    .replaceAll('15s', `${SCRAPE_SECONDS}s`)
    .replace('- alerts.yml', `- ${path.join(FILES, 'alerts.yml')}`);
  const file = path.join(directory, 'prometheus.yml');
  writeFileSync(file, text);
  return file;
}

/** The queries of the panels, with values for the variables of Grafana. */
function dashboardQueries() {
  const { panels } = JSON.parse(
    readFileSync(path.join(ROOT, 'docker/grafana/latitude.json'), 'utf8'),
  );
  return panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) =>
      expr
        .replaceAll('$job', 'latitude')
        .replaceAll('$instance', '.+')
        .replaceAll('$__rate_interval', '1m'),
    ),
  );
}

/** What the alerts select. Their conditions are not met, so that the whole queries find nothing. */
function alertSelectors() {
  const rules = readFileSync(path.join(FILES, 'alerts.yml'), 'utf8').replace(/#.*$/gm, '');
  const selectors = rules.match(
    /\b(latitude|http|process|nodejs)_\w+(\{[^{}]*\})?|\bup\{[^{}]*\}/g,
  );
  return [...new Set(selectors)];
}

/** @returns the problems that are left when all queries find something, or time is over */
async function untilAllFound(prometheus, queries) {
  const deadline = Date.now() + WAIT_SECONDS * 1_000;
  for (;;) {
    const found = await Promise.all(queries.map((query) => problemOf(prometheus, query)));
    const problems = found.filter((problem) => problem !== undefined);
    if (problems.length === 0 || Date.now() > deadline) return problems;
    await after(1_000);
  }
}

async function problemOf(prometheus, query) {
  const now = Date.now() / 1_000;
  const range = new URLSearchParams({ query, start: now - 30, end: now, step: 5 });
  try {
    const response = await fetch(`${prometheus}/api/v1/query_range?${range}`);
    const { status, error, warnings = [], data } = await response.json();
    if (status !== 'success') return `${query}: ${error}`;
    if (warnings.length > 0) return `${query}: ${warnings.join(', ')}`;
    if (data.result.length > 0 || query.includes(MAY_BE_EMPTY)) return undefined;
    return `${query}: found nothing`;
  } catch (error) {
    return `${query}: ${error.message}`;
  }
}

async function unhealthyRules(prometheus) {
  const { data } = await (await fetch(`${prometheus}/api/v1/rules`)).json();
  const rules = data.groups.flatMap((group) => group.rules);
  if (rules.length === 0) return ['there are no rules'];
  return rules
    .filter(({ health }) => health !== 'ok')
    .map(({ name, health, lastError }) => `${name}: ${health} ${lastError ?? ''}`);
}

async function freePort() {
  const server = net.createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}
