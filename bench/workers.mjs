// Measures the throughput of two workers against one, of Latitude and of the bare server.
// Run: node bench/workers.mjs
import path from 'node:path';
import { NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { Latitude } from './lib/latitude.mjs';
import { Server } from './lib/server.mjs';
import { markdownTable } from './lib/tables.mjs';
import { BARE } from './lib/targets.mjs';
import { compareVariants, startVariant } from './lib/variants.mjs';

const USAGE = `node bench/workers.mjs [options]

  --rounds N   number of rounds, 1 to 20 (5)
  --help       show this
`;

const CONNECTIONS = 32;
const WORKERS = [1, 2];

const CLUSTER = path.join(import.meta.dirname, 'lib/cluster.mjs');
const BARE_SERVER = path.join(import.meta.dirname, 'bare-server.mjs');

/** Starts Latitude and the bare server on its tables, each with this number of processes. */
async function startServers(cleanups, workers) {
  const settings = { WEB_CONCURRENCY: String(workers) };
  const {
    folder,
    latitude,
    connection,
    organizations: [organization],
    leads,
    targetOf,
  } = await startVariant(cleanups, { settings });
  const poolSize = Latitude.poolSize(connection) / workers;
  const organizations = { [organization.key]: organization.id };
  const bare = new Server(BARE, {
    args: [CLUSTER, workers, BARE_SERVER, JSON.stringify({ connection, poolSize, organizations })],
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    log: path.join(folder, 'bare.log'),
  });
  cleanups.push(() => bare.stop());
  await bare.waitUntilListening();
  return { leads, targets: [latitude, bare].map((server) => targetOf(server.name, server)) };
}

function casesOf(started) {
  const [{ leads, targets }] = started;
  const kinds = [
    { title: 'get by id', operations: leads.map(({ id }) => ({ type: 'get', id })) },
    { title: 'list 50', operations: [{ type: 'list', limit: 50 }] },
    { title: 'create', writes: 'created', operations: [{ type: 'create', lead: NEW_LEAD }] },
  ];
  return kinds.flatMap(({ title, ...kind }) =>
    targets.map(({ name }, i) => ({
      ...{ ...kind, title: `${title}, ${name}`, connections: [CONNECTIONS] },
      targets: started.map((servers) => servers.targets[i]),
    })),
  );
}

async function main(rounds, cleanups) {
  const started = [];
  for (const workers of WORKERS) started.push(await startServers(cleanups, workers));
  const rows = await compareVariants(casesOf(started), rounds);
  const header = ['Requests a second', 'Connections', '1 process', '2 processes', 'Ratio'];
  console.log(markdownTable(header, rows, 0));
}

const option = { name: 'rounds', min: 1, max: 20, fallback: 5 };
await runCommand({ name: 'bench/workers', usage: USAGE, option }, main);
