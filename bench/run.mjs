// Latitude as `npm start` runs it beside other servers with the same leads: bench/README.md.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { casesOf } from './lib/cases.mjs';
import { fill } from './lib/data.mjs';
import { LeadsTable } from './lib/database.mjs';
import { entrant, overMcp, withoutTotal } from './lib/entrants.mjs';
import { assertSameAnswers } from './lib/equality.mjs';
import { Latitude } from './lib/latitude.mjs';
import { findLoadGenerator } from './lib/load.mjs';
import { measurer } from './lib/measure.mjs';
import { readOptions } from './lib/options.mjs';
import { makeOrganizations } from './lib/organizations.mjs';
import { pictureOf, printedPictureOf } from './lib/picture.mjs';
import { circumstances, format, save } from './lib/report.mjs';
import { openMcpSessions } from './lib/requests.mjs';
import { alternate } from './lib/rounds.mjs';
import { startReferences } from './lib/servers.mjs';
import { figuresTable, ratioTable } from './lib/tables.mjs';
import { startPeers } from './peers/peers.mjs';

const CONNECTIONS = [1, 32];
const PICTURED = 32;

const started = performance.now();
const note = (line) => {
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stderr.write(`${String(seconds).padStart(4)} s  ${line}\n`);
};

/** What has to be undone at the end, the last first. */
const undo = [];

async function main(options, signal) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'latitude-bench-'));
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const load = await findLoadGenerator(folder, options.load);

  note('starting Latitude and filling its database');
  const latitude = new Latitude(path.join(folder, 'data'), path.join(folder, 'latitude.log'));
  undo.push(() => latitude.stop());
  await latitude.untilListening();
  const connection = await latitude.connection();
  const client = await connect(connection);
  const organizations = await makeOrganizations(client, options.full);
  const leads = await fill(client, organizations);

  note('starting the others');
  const references = startReferences(connection, organizations, folder);
  for (const server of references) undo.push(() => server.stop());
  for (const server of references) await server.untilListening();
  const table = new LeadsTable(client, leads);
  const own = [latitude, ...references].map((server) => entrant(server.name, server, table));
  const asked = { connection, organizations, leads, folder, connect, note, undo, signal };
  const { peers, skipped } = options.peers ? await startPeers(asked) : { peers: [], skipped: [] };

  const all = casesOf(organizations, leads).filter(({ name }) => options.only.includes(name));
  const mcp = await openMcpSessions(latitude.url, organizations);
  const cases = all.map((one) => ({ ...one, entrants: entrantsOf(one, own, peers, mcp) }));
  note('comparing their answers');
  for (const one of cases) await assertSameAnswers(one);

  const { rows } = await client.query(
    `select current_setting('server_version') as version, pg_read_file('postmaster.pid') as pid`,
  );
  const [{ version, pid }] = rows;
  const postmaster = parseInt(pid, 10);
  const { rounds, seconds } = options;
  const results = await alternate({
    ...{ cases, connections: CONNECTIONS, rounds },
    measure: measurer({ load, client, postmaster, seconds, signal }),
    onRound: (round) => note(round === 0 ? 'warming up' : `round ${round} of ${rounds}`),
  });

  const names = peers.map(({ name }) => name);
  const { description } = load;
  const around = circumstances({
    ...{ postgresVersion: version, load: description, command: options.command, skipped },
  });
  const picture = pictureOf(results, names, PICTURED);
  const figures = await format(
    [around, ratioTable(results, names), 'All figures:', figuresTable(results)].join('\n\n'),
  );
  console.log(`\n${printedPictureOf(results, names, PICTURED)}\n\n${figures}`);
  if (!options.printOnly) await save(figures, picture);
  note('done');
}

function entrantsOf({ name }, own, peers, mcp) {
  const [latitude, bare, limit] = own;
  if (name === 'mcp') return [latitude, overMcp(latitude, mcp)];
  if (name === 'list') return [...own, withoutTotal(bare), withoutTotal(limit), ...peers];
  return [...own, ...peers];
}

async function connect(connection) {
  const client = new pg.Client(connection);
  // A lost connection fails the statement that asks for it, and not the process.
  client.on('error', () => undefined);
  await client.connect();
  undo.push(() => client.end());
  return client;
}

const interrupted = new AbortController();
const interruption = new Promise((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      reject(new Error(`ended by ${signal}`));
      interrupted.abort();
    });
  }
});

try {
  const options = readOptions(process.argv.slice(2));
  if (options) await Promise.race([main(options, interrupted.signal), interruption]);
} catch (error) {
  note(`bench: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const step of undo.reverse()) await step().catch((error) => note(error.message));
}
process.exit();
