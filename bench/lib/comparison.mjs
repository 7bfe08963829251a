import { startPeers } from '../peers/peers.mjs';
import { casesOf } from './cases.mjs';
import { fillLeads } from './data.mjs';
import { LeadsTable, REMOVE_STORED_RESPONSES } from './database.mjs';
import { goalsReport } from './goals.mjs';
import { inTransaction, overMcp, target, withKey, withoutTotal } from './targets.mjs';
import { assertSameAnswers } from './response-equality.mjs';
import { findLoadGenerator } from './load.mjs';
import { measurer } from './measure.mjs';
import { comparedSizes, createOrganizations } from './organizations.mjs';
import { chartOf, textChartOf } from './chart.mjs';
import { describeEnvironment, publish } from './report.mjs';
import { openMcpSessions } from './requests.mjs';
import { createReferenceDatabase } from './reference-database.mjs';
import { alternate } from './rounds.mjs';
import { startReferences } from './servers.mjs';
import { startLatitude } from './start-latitude.mjs';
import { figuresTable, ratioTable } from './tables.mjs';

/** Compares Latitude with other servers on the same leads. */
export async function compare(options, { progress, cleanups, signal }) {
  progress('starting Latitude and filling its database');
  const started = await startLatitude(cleanups);
  const { folder, latitude, connection, connect, client, postmaster } = started;
  const load = await findLoadGenerator(folder, options.load);
  const organizations = await createOrganizations(client, comparedSizes(options.leads));
  const leads = await fillLeads(client, organizations);

  progress('starting the others');
  const setup = { connection, organizations, leads, folder, connect, progress, cleanups, signal };
  const { cases, peers, skipped } = await startOthers(setup, { ...options, latitude, client });
  progress('comparing their answers');
  for (const benchCase of cases) await assertSameAnswers(benchCase);

  const { rounds, seconds } = options;
  const notes = skipped.map(({ name, reason }) => `${name} was skipped: ${reason}.`);
  const results = await alternate({
    ...{ cases, rounds },
    measure: measurer({ load, client, postmaster, seconds, signal }),
    onRound: (round) => progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`),
    async onTargetFailure(failed, error) {
      if (signal.aborted || !peers.includes(failed)) return false;
      progress(error.message);
      notes.push(`${failed.name} was left out, because a measurement failed.`);
      await failed.server.stop();
      return true;
    },
    onFailure(error, complete) {
      progress(`bench: ${signal.aborted ? 'interrupted' : error.message}`);
      process.exitCode = 1;
      notes.push(`The run ended early, after ${complete} of ${rounds} rounds.`);
    },
  });
  await report(results, { ...options, ...started, load, peers, notes });
}

/** Starts the other servers and creates the cases for all servers. */
async function startOthers(setup, { latitude, client, ...options }) {
  const { organizations, leads, folder, cleanups } = setup;
  const reference = await createReferenceDatabase({ ...setup, client });
  const references = startReferences(reference.connection, organizations, folder);
  for (const server of references) cleanups.push(() => server.stop());
  for (const server of references) await server.waitUntilListening();
  const table = new LeadsTable(client, leads, { cleanUp: REMOVE_STORED_RESPONSES });
  const own = [
    target(latitude.name, latitude, table),
    ...references.map((server) => target(server.name, server, reference.table)),
  ];
  const { peers, skipped } = await startPeers(setup, options.peers);
  const mcp = await openMcpSessions(latitude.url, organizations);
  const { only, isNeeded = () => true } = options;
  const all = casesOf(organizations, leads, options).filter(({ name }) => only.includes(name));
  const cases = all.map((benchCase) => ({
    ...benchCase,
    targets: targetsOf(benchCase, own, peers, mcp).filter((one) => isNeeded(benchCase, one)),
  }));
  return { cases, peers, skipped };
}

function targetsOf({ name }, own, peers, mcp) {
  const [latitude, bare, limit] = own;
  const all = [...own, ...peers];
  switch (name) {
    case 'create':
      return [...all, withKey(latitude)];
    case 'update':
      return [...all, inTransaction(bare)];
    case 'list':
      return [...all, withoutTotal(bare), withoutTotal(limit)];
    case 'mcp':
      return [latitude, overMcp(latitude, mcp)];
    default:
      return all;
  }
}

async function report(results, { mode, load, peers, notes, ...options }) {
  const { postgresVersion, command, printOnly } = options;
  const { description } = load;
  const around = describeEnvironment({ postgresVersion, load: description, command, notes });
  if (mode === 'goals') {
    const figures = [around, goalsReport(results)].join('\n\n');
    return publish('goals', { figures, details: figuresTable(results), printOnly });
  }
  const names = peers.map(({ name }) => name);
  return publish('figures', {
    figures: [around, ratioTable(results, names)].join('\n\n'),
    details: figuresTable(results),
    chart: chartOf(results, names),
    textChart: textChartOf(results, names),
    printOnly,
  });
}
