// Latitude as `npm start` runs it beside a bare server on the same rows: bench/README.md.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { fill, makeOrganizations } from './lib/data.mjs';
import { removeCreated, untilIdle } from './lib/database.mjs';
import { assertSameAnswers } from './lib/equality.mjs';
import { Latitude } from './lib/latitude.mjs';
import { findLoadGenerator } from './lib/load.mjs';
import { readOptions } from './lib/options.mjs';
import { circumstances, format, save, tableOf } from './lib/report.mjs';
import { alternate } from './lib/rounds.mjs';
import { scenariosOf } from './lib/scenarios.mjs';
import { Server } from './lib/server.mjs';

const CONNECTIONS = [1, 32];
const BARE_SERVER = path.join(import.meta.dirname, 'bare-server.mjs');

const note = (line) => process.stderr.write(`${line}\n`);

/** What has to be undone at the end, the last first. */
const undo = [];

async function main({ rounds, seconds, load: wanted, printOnly }, signal) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'latitude-bench-'));
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const load = await findLoadGenerator(folder, wanted);

  note('starting Latitude and filling its database');
  const latitude = new Latitude(path.join(folder, 'data'), path.join(folder, 'latitude.log'));
  undo.push(() => latitude.stop());
  await latitude.untilListening();
  const organizations = await makeOrganizations(latitude);
  const connection = await latitude.connection();
  const client = new pg.Client(connection);
  // A lost connection fails the statement that asks for it, and not the process.
  client.on('error', () => undefined);
  await client.connect();
  undo.push(() => client.end());
  const leads = await fill(client, organizations);

  const bare = startBareServer(connection, organizations, folder);
  undo.push(() => bare.stop());
  await bare.untilListening();

  const servers = [latitude, bare];
  const scenarios = scenariosOf(organizations, leads);
  note('comparing their answers');
  for (const scenario of scenarios) {
    await assertSameAnswers(servers, scenario, () => removeCreated(client));
  }

  const measure = async (server, { scenario, connections }) => {
    await untilIdle(client);
    const { requests } = scenario;
    const measured = await underLoad(server, load, { requests, connections, seconds, signal });
    if (scenario.writes) await checkAndRemoveCreated(client, server, measured.requests);
    return measured;
  };
  const results = await alternate({
    cases: scenarios.flatMap((scenario) =>
      CONNECTIONS.map((connections) => ({ scenario, connections })),
    ),
    servers,
    rounds,
    measure,
    onRound: (round) => note(round === 0 ? 'warming up' : `round ${round} of ${rounds}`),
  });

  const { rows } = await client.query('show server_version');
  const figures = await format(
    `${tableOf(results, servers)}\n\n${circumstances({
      postgresVersion: rows[0].server_version,
      load: load.description,
      command: `npm run bench -- --rounds ${rounds} --seconds ${seconds}`,
    })}`,
  );
  console.log(`\n${figures}`);
  if (!printOnly) await save(figures);
}

function startBareServer(connection, organizations, folder) {
  const configuration = {
    connection,
    poolSize: Latitude.poolSize(connection),
    organizations: Object.fromEntries(organizations.map(({ id, key }) => [key, id])),
  };
  return new Server('bare server', {
    args: [BARE_SERVER, JSON.stringify(configuration)],
    env: {},
    log: path.join(folder, 'bare-server.log'),
  });
}

async function underLoad(server, load, { requests, connections, seconds, signal }) {
  const before = await server.cpuMicroseconds();
  const { url } = server;
  const done = await load.run({ url, requests, connections, seconds, signal });
  const after = await server.cpuMicroseconds();
  if (done.failed > 0 || done.requests === 0) {
    const counts = `${done.failed} requests failed and ${done.requests} were answered`;
    throw new Error(`${server.name}: ${counts}; its log ends with\n${await server.lastWords()}`);
  }
  return {
    ...done,
    rate: done.requests / done.seconds,
    cpu: before === undefined ? undefined : (after - before) / done.requests,
  };
}

async function checkAndRemoveCreated(client, server, answered) {
  await untilIdle(client);
  const created = await removeCreated(client);
  if (created < answered) {
    throw new Error(`${server.name} answered ${answered} creates and stored ${created}`);
  }
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
