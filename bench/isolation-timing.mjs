// Measures whether the response time reveals that another organization has a record: the same requests with
// ids of another organization and with unknown ids. Run: node bench/isolation-timing.mjs
import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { Connection } from './flat/connection.mjs';
import { runCommand } from './lib/command.mjs';
import { fillLeads } from './lib/data.mjs';
import { waitUntilIdle } from './lib/database.mjs';
import { createOrganizations } from './lib/organizations.mjs';
import { seededRandom } from './lib/random.mjs';
import { openMcpSessions, withBody } from './lib/requests.mjs';
import { quantile } from './lib/rounds.mjs';
import { startLatitude } from './lib/start-latitude.mjs';
import { markdownTable } from './lib/tables.mjs';

const USAGE = `node bench/isolation-timing.mjs [options]

  --pairs N   number of requests with each kind of id, 100 to 100000 (5000)
  --help      show this
`;

const LEADS = '/api/v1/leads';
const SCOPES = ['leads:read', 'leads:write', 'appointments:write'];
const ORGANIZATION_SIZES = [5_000, 5_000];

/** Warm-up pairs, which are not measured. */
const WARM_UP = 500;
const RESAMPLES = 1_000;
const SEED = 20_261_121;

const TIMES = { start_time: '2026-03-02T17:00:00Z', end_time: '2026-03-02T18:00:00Z' };

/** Requests with an id, and the status expected for both kinds of id. */
function casesOf(caller, mcpGet) {
  const headers = { Authorization: `Bearer ${caller.key}` };
  const about = (method) => (id) => ({ method, path: `${LEADS}/${id}`, headers });
  const post = { method: 'POST', path: '/api/v1/appointments', headers };
  return [
    { name: 'GET /api/v1/leads/:id', status: 404, request: about('GET') },
    {
      name: 'PUT /api/v1/leads/:id',
      status: 404,
      request: (id) => withBody(about('PUT')(id), { company: 'Navy' }),
    },
    { name: 'DELETE /api/v1/leads/:id', status: 404, request: about('DELETE') },
    {
      name: 'POST /api/v1/appointments, lead_id',
      status: 404,
      request: (id) => withBody(post, { lead_id: id, ...TIMES }),
    },
    {
      name: 'get_lead over /mcp',
      status: 200,
      request: (id) => mcpGet({ organization: caller, id }),
    },
  ];
}

/** @returns an unknown id with the same timestamp */
function unknownId(id) {
  return uuidv7({ msecs: parseInt(id.replaceAll('-', '').slice(0, 12), 16) });
}

/** Sends each request with both kinds of id, in random order. */
async function measure(connection, { name, status, request }, foreignIds, pairs, random) {
  const times = { foreign: [], unknown: [] };
  for (let pair = -WARM_UP; pair < pairs; pair++) {
    const foreign = foreignIds[(pair + WARM_UP) % foreignIds.length];
    const requests = Object.entries({ foreign, unknown: unknownId(foreign) });
    if (random() < 0.5) requests.reverse();
    for (const [kind, id] of requests) {
      const answer = await connection.send(request(id));
      assert.equal(answer.status, status, `${name} answers ${answer.status}: ${answer.text}`);
      assert.match(answer.text, /not_found/);
      if (pair >= 0) times[kind].push(answer.milliseconds);
    }
  }
  return times;
}

/** @returns the medians, their ratio, and its 95 % interval over resamples of the pairs */
function compare({ foreign, unknown }, random) {
  const ratioOf = (indices) => {
    const [a, b] = [foreign, unknown].map((times) => median(indices.map((i) => times[i])));
    return a / b;
  };
  const all = foreign.map((_, i) => i);
  const resampled = Array.from({ length: RESAMPLES }, () =>
    ratioOf(all.map(() => Math.floor(random() * all.length))),
  );
  return {
    medians: [foreign, unknown].map(median),
    ratio: ratioOf(all),
    interval: [0.025, 0.975].map((share) => quantile(resampled, share)),
  };
}

const median = (times) => quantile(times, 0.5);

function rowOf({ name }, { medians, ratio, interval }) {
  const [low, high] = interval.map((value) => value.toFixed(3));
  return [name, ...medians.map((ms) => ms.toFixed(3)), ratio.toFixed(3), `${low}–${high}`];
}

async function main(pairs, cleanups) {
  const { latitude, client } = await startLatitude(cleanups);
  const organizations = await createOrganizations(client, ORGANIZATION_SIZES, SCOPES);
  const [caller, other] = organizations;
  const leads = await fillLeads(client, organizations);
  const foreignIds = leads
    .filter((lead) => lead.organization_id === other.id)
    .map((lead) => lead.id);
  const mcpGet = await openMcpSessions(latitude.url, organizations);
  const connection = new Connection(latitude.url);
  cleanups.push(() => Promise.resolve(connection.close()));
  const random = seededRandom(SEED);
  const rows = [];
  for (const benchCase of casesOf(caller, mcpGet)) {
    await waitUntilIdle(client);
    process.stderr.write(`${benchCase.name}\n`);
    rows.push(
      rowOf(
        benchCase,
        compare(await measure(connection, benchCase, foreignIds, pairs, random), random),
      ),
    );
  }
  const header = ['Request', 'Foreign id ms', 'Unknown id ms', 'Ratio', '95 % interval'];
  console.log(markdownTable(header, rows, 0));
}

const option = { name: 'pairs', min: 100, max: 100_000, fallback: 5_000 };
await runCommand({ name: 'isolation-timing', usage: USAGE, option }, main);
