// Lists the files of src that `POST /api/v1/leads` enters, as V8 counts calls of functions. Run:
// npm run build && node scripts/request-files.mjs
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createOrganizations } from '../bench/lib/organizations.mjs';
import { startLatitude } from '../bench/lib/start-latitude.mjs';

/** Requests that fill caches, such as that of keys. */
const FIRST = 10;
const TRACED = 10;

/** The pause before a request, so that the background work of the previous one has ended. */
const PAUSE_MS = 100;

const TRACER = path.resolve(import.meta.dirname, '../bench/lib/trace-files.mjs');

async function main(cleanups) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'latitude-files-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const report = path.join(folder, 'requests.jsonl');
  const tracer = pathToFileURL(TRACER);
  tracer.searchParams.set('report', report);
  const { latitude, client } = await startLatitude(cleanups, {
    nodeOptions: ['--import', tracer.href],
  });
  const [{ key }] = await createOrganizations(client, [0]);
  for (let n = 0; n < FIRST + TRACED; n++) await create(latitude.url, key, n);
  const lines = (await readFile(report, 'utf8')).trim().split('\n').slice(-TRACED);
  const requests = lines.map((line) => JSON.parse(line));
  const whole = inEach(
    requests.map(({ before, service, after }) => [before, service, after].flat()),
  );
  const service = inEach(requests.map((request) => request.service));
  console.log(`A create enters ${whole.length} files:\n${whole.join('\n')}\n`);
  console.log(`${service.length} of them from the service to the driver of PostgreSQL:`);
  console.log(service.join('\n'));
}

async function create(url, key, n) {
  await wait(PAUSE_MS);
  const response = await fetch(`${url}/api/v1/leads`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ first_name: 'Ada', last_name: 'Traced Lead', email: `ada-${n}@files.example` },
      ...{ phone: `+1 212 555 ${String(n).padStart(4, '0')}`, custom_fields: { plan: 'pro' } },
    }),
  });
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

/** Returns the files that each request entered, without those of other work that happened to run beside some. */
function inEach(lists) {
  const sets = lists.map((files) => new Set(files));
  return [...sets[0]].filter((file) => sets.every((set) => set.has(file))).sort();
}

const cleanups = [];
try {
  await main(cleanups);
} finally {
  for (const step of cleanups.reverse()) await step();
}
