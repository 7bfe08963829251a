// Measures how long the worst inputs of one organization stall the requests of another one. Run: node bench/stalls.mjs
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { runCommand } from './lib/command.mjs';
import { createOrganizations } from './lib/organizations.mjs';
import { startLatitude } from './lib/start-latitude.mjs';
import { CASES } from './lib/stall-cases.mjs';
import { markdownTable } from './lib/tables.mjs';

const USAGE = `node bench/stalls.mjs [options]

  --rounds N   how often each input is sent, 1 to 9 (1)
  --help       show this
`;

const IDLE_MS = 2_000;

/** An import that has not been carried out by then is cancelled. */
const IMPORT_MS = 3_000;

/** @returns a function that sends a request, and returns the status and the body of the response */
function sender(url, key) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
  return ({ method = 'POST', path, body, headers }) =>
    new Promise((resolve, reject) => {
      const all = { authorization: `Bearer ${key}`, ...headers };
      if (body) all['content-type'] ??= 'application/json';
      if (body) all['content-length'] = Buffer.byteLength(body);
      const request = http.request(url + path, { method, agent, headers: all }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.once('end', () => {
          const { statusCode: status, headers } = response;
          resolve({ status, headers, text: Buffer.concat(chunks).toString() });
        });
      });
      request.once('error', reject);
      request.end(body);
    });
}

/** @returns the longest stall of another organization during some work */
async function watch(workerData, work) {
  const worker = new Worker(new URL('./lib/stall-watch.mjs', import.meta.url), { workerData });
  await once(worker, 'message');
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error));
  const statuses = await Promise.race([work(), failed]);
  worker.postMessage('stop');
  const [longest] = await once(worker, 'message');
  return { ...longest, statuses };
}

/** Sends the requests of a case at once, and lets imports that it has begun run for a moment. */
async function attack(send, { count, request, prepare }) {
  const prepared = await prepare?.(send);
  const responses = await Promise.all(
    Array.from({ length: count }, (_, index) => send(request(index, prepared))),
  );
  for (const { text } of responses.filter(({ status }) => status === 202)) {
    await wait(IMPORT_MS);
    await send({ path: `/api/v1/leads/imports/${JSON.parse(text).data.id}/cancel` });
  }
  return [...new Set(responses.map(({ status }) => status))].join(', ');
}

async function main(rounds, cleanups) {
  const { latitude, client } = await startLatitude(cleanups);
  const scopes = [
    ...['leads:read', 'leads:write', 'tasks:write', 'tasks:read', 'appointments:read'],
    ...['resources:write', 'keys:write', 'fields:write'],
  ];
  const sizes = Array(CASES.length * rounds + 1).fill(0);
  const organizations = await createOrganizations(client, sizes, scopes);
  const [{ key }, ...attackers] = organizations;
  const target = { url: latitude.url, key, pid: latitude.pid };
  const idle = () => watch(target, () => wait(IDLE_MS, ''));
  // The first requests compile the code.
  await idle();
  const rows = [['nothing', await idle()]];
  for (const item of CASES) {
    for (let round = 0; round < rounds; round++) {
      const { key: own } = attackers.pop();
      process.stderr.write(`${item.title}, round ${round + 1} of ${rounds}\n`);
      rows.push([item.title, await watch(target, () => attack(sender(latitude.url, own), item))]);
    }
  }
  rows.push(['nothing, at the end', await idle()]);
  const header = ['Input', 'Responses', 'Stall, ms', 'CPU in it, ms', 'Memory, MiB'];
  const cells = rows.map(([title, { statuses, wall, cpu, memory }]) => {
    return [title, statuses, ...[wall, cpu, memory].map((value) => value.toFixed(0))];
  });
  console.log(markdownTable(header, cells, 1));
}

const option = { name: 'rounds', min: 1, max: 9, fallback: 1 };
await runCommand({ name: 'stalls', usage: USAGE, option }, main);
