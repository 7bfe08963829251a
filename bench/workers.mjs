// Measures the throughput of two workers against one, of Latitude and of the bare server.
// Run: node bench/workers.mjs
import path from 'node:path';
import { Connection } from './flat/connection.mjs';
import { NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { waitUntilIdle } from './lib/database.mjs';
import { Latitude } from './lib/latitude.mjs';
import { findLoadGenerator } from './lib/load.mjs';
import { createOrganizations } from './lib/organizations.mjs';
import { numbered, restRequest } from './lib/requests.mjs';
import { quantile } from './lib/rounds.mjs';
import { Server } from './lib/server.mjs';
import { startLatitude } from './lib/start-latitude.mjs';
import { markdownTable } from './lib/tables.mjs';

const USAGE = `node bench/workers.mjs [options]

  --rounds N   number of rounds, 1 to 20 (5)
  --help       show this
`;

const CONNECTIONS = 32;
const SECONDS = 2;
const WORKERS = [1, 2];

/** Leads that the requests get. */
const LEADS = 500;

const CLUSTER = path.join(import.meta.dirname, 'lib/cluster.mjs');
const BARE_SERVER = path.join(import.meta.dirname, 'bare-server.mjs');

const KINDS = {
  'get by id': ({ organization, ids }) =>
    ids.map((id) => restRequest({ type: 'get', organization, id })),
  'list 50': ({ organization }) => [restRequest({ type: 'list', organization, limit: 50 })],
  create: ({ organization }) => [restRequest({ type: 'create', organization, lead: NEW_LEAD })],
};

/** Starts Latitude and the bare server on its tables, each with this number of processes. */
async function startServers(cleanups, workers) {
  const env = { WEB_CONCURRENCY: String(workers) };
  const { folder, latitude, client, connection } = await startLatitude(cleanups, [], env);
  const [organization] = await createOrganizations(client, [0]);
  const ids = await createLeads(latitude.url, organization);
  await client.query('analyze');
  const poolSize = Latitude.poolSize(connection) / workers;
  const organizations = { [organization.key]: organization.id };
  const bare = new Server('bare server', {
    args: [CLUSTER, workers, BARE_SERVER, JSON.stringify({ connection, poolSize, organizations })],
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    log: path.join(folder, 'bare.log'),
  });
  cleanups.push(() => bare.stop());
  await bare.waitUntilListening();
  const shared = { folder, client, organization, ids };
  return { latitude: { server: latitude, ...shared }, bare: { server: bare, ...shared } };
}

async function createLeads(url, organization) {
  const ids = [];
  const connection = new Connection(url);
  for (let n = 0; n < LEADS; n++) {
    const request = restRequest({ type: 'create', organization, lead: NEW_LEAD });
    const { status, text } = await connection.send({ ...request, body: numbered(request.body, n) });
    if (status !== 201) throw new Error(`Latitude answered ${status}: ${text}`);
    ids.push(JSON.parse(text).data.id);
  }
  connection.close();
  return ids;
}

/** @returns requests in a second */
async function measure(load, { server, client, ...target }, requestsOf) {
  await waitUntilIdle(client);
  const run = { url: server.url, requests: requestsOf(target), connections: CONNECTIONS };
  const { signal } = new AbortController();
  const { requests, seconds, failed } = await load.run({ ...run, seconds: SECONDS, signal });
  if (failed > 0) throw new Error(`${server.name}: ${failed} requests failed`);
  // Requests that were not answered at the end may still create leads.
  await waitUntilIdle(client);
  await client.query(`delete from leads where not id = any($1)`, [target.ids]);
  return requests / seconds;
}

/** @returns a row with the medians of the rounds, and the median of their ratios */
function rowOf(kind, name, rates) {
  const [one, two] = rates.map((all) => String(Math.round(quantile(all, 0.5))));
  const ratios = rates[1].map((rate, round) => rate / rates[0][round]);
  return [`${kind}, ${name}`, one, two, quantile(ratios, 0.5).toFixed(2)];
}

await runCommand(
  {
    name: 'bench/workers',
    usage: USAGE,
    option: { name: 'rounds', least: 1, most: 20, fallback: 5 },
  },
  async (rounds, cleanups) => {
    const started = [];
    for (const workers of WORKERS) started.push(await startServers(cleanups, workers));
    const load = await findLoadGenerator(started[0].latitude.folder);
    const rows = [];
    for (const [kind, requestsOf] of Object.entries(KINDS)) {
      for (const name of ['latitude', 'bare']) {
        const targets = started.map((servers) => servers[name]);
        const rates = targets.map(() => []);
        for (const target of targets) await measure(load, target, requestsOf);
        for (let round = 0; round < rounds; round++) {
          for (const [index, target] of targets.entries()) {
            rates[index].push(await measure(load, target, requestsOf));
          }
        }
        rows.push(rowOf(kind, targets[0].server.name, rates));
      }
    }
    const columns = [`requests a second, ${CONNECTIONS} connections`, '1 process', '2', 'ratio'];
    console.log(markdownTable(columns, rows));
  },
);
