// Measures an import of 100,000 lines, and the requests of another organization meanwhile. Run:
// node bench/import.mjs
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { runCommand } from './lib/command.mjs';
import { createOrganizations } from './lib/organizations.mjs';
import { startLatitude } from './lib/start-latitude.mjs';
import { formatNumber, markdownTable } from './lib/tables.mjs';

const USAGE = `node bench/import.mjs [options]

  --rounds N   thousands of lines, 1 to 200 (100)
  --help       show this
`;

const QUIET_MS = 5_000;

/** Lines of which one in a hundred is rejected. */
function csvOf(lines) {
  const rows = Array.from({ length: lines }, (_, n) => {
    const email = n % 100 === 0 ? 'nobody' : `lead-${n}@import.example`;
    return `Ada,Lovelace ${n},+1 212 ${5_000_000 + n},${email},Analytical Engines,London,crm-${n}`;
  });
  return ['First Name,Last Name,Phone,E-mail,Company,City,external_id', ...rows].join('\r\n');
}

/** Returns a function that sends a request over one connection. */
function sender({ url }, key) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  return (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': type }) };
      const request = http.request(url + path, { method, agent, headers }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode < 300) resolve(text);
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        });
      });
      request.once('error', reject);
      request.end(body);
    });
}

/** Sends requests of another organization until it is stopped. @returns their durations, by kind */
function watch(send) {
  const durations = { get: [], create: [] };
  let isRunning = true;
  const run = (async () => {
    const created = await send('POST', '/api/v1/leads', '{"first_name":"Grace"}');
    const path = `/api/v1/leads/${JSON.parse(created).data.id}`;
    while (isRunning) {
      for (const [kind, request] of [
        ['get', () => send('GET', path)],
        ['create', () => send('POST', '/api/v1/leads', '{"first_name":"Grace"}')],
      ]) {
        const started = performance.now();
        await request();
        durations[kind].push(performance.now() - started);
      }
      await wait(5);
    }
  })();
  return async () => {
    isRunning = false;
    await run;
    return durations;
  };
}

function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Resident memory in MiB. */
function memoryOf(pid) {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1_024;
}

async function main(thousands, cleanups) {
  const { latitude, client } = await startLatitude(cleanups);
  const [{ key }, other] = await createOrganizations(client, [0, 0]);
  const send = sender(latitude, key);
  const sendOther = sender(latitude, other.key);
  const { pid } = latitude;

  let stop = watch(sendOther);
  await wait(QUIET_MS);
  const quiet = await stop();

  const file = csvOf(thousands * 1_000);
  const before = memoryOf(pid);
  let peak = before;
  stop = watch(sendOther);
  const started = performance.now();
  const stored = JSON.parse(await send('POST', '/api/v1/leads/imports', file, 'text/csv')).data;
  const uploaded = performance.now();
  let progress;
  do {
    await wait(200);
    peak = Math.max(peak, memoryOf(pid));
    progress = JSON.parse(await send('GET', `/api/v1/leads/imports/${stored.id}`)).data;
  } while (['pending', 'running'].includes(progress.status));
  const ended = performance.now();
  const busy = await stop();

  const { status, lines, created, rejected } = progress;
  console.log(
    `${status}: ${formatNumber(lines)} lines, ${formatNumber(created)} leads, ${formatNumber(rejected)} rejected`,
  );
  console.log(
    `upload ${((uploaded - started) / 1_000).toFixed(1)} s, in total ${((ended - started) / 1_000).toFixed(1)} s; memory ${before.toFixed(0)} MiB before, at most ${peak.toFixed(0)} MiB`,
  );
  const rows = Object.keys(quiet).flatMap((kind) =>
    [0.5, 0.95, 0.99].map((share) => {
      const [one, two] = [quiet, busy].map((durations) => percentile(durations[kind], share));
      return [`${kind}, p${share * 100}`, one.toFixed(1), two.toFixed(1), (two / one).toFixed(1)];
    }),
  );
  console.log(markdownTable(['Another organization', 'ms alone', 'ms beside', '×'], rows, 0));
}

const option = { name: 'rounds', min: 1, max: 200, fallback: 100 };
await runCommand({ name: 'bench/import', usage: USAGE, option }, main);
