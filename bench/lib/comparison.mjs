import { startPeers } from '../peers/peers.mjs';
import { casesOf } from './cases.mjs';
import { fillLeads } from './data.mjs';
import { LeadsTable } from './database.mjs';
import { target, overMcp, withoutTotal } from './targets.mjs';
import { assertSameAnswers } from './response-equality.mjs';
import { findLoadGenerator } from './load.mjs';
import { measurer } from './measure.mjs';
import { comparedSizes, createOrganizations } from './organizations.mjs';
import { chartOf, textChartOf } from './chart.mjs';
import { describeEnvironment, publish } from './report.mjs';
import { openMcpSessions } from './requests.mjs';
import { alternate } from './rounds.mjs';
import { startReferences } from './servers.mjs';
import { startLatitude } from './start-latitude.mjs';
import { figuresTable, ratioTable } from './tables.mjs';

const CONNECTIONS = [1, 32];
const CHART_CONNECTIONS = 32;

/** Compares Latitude with other servers on the same leads. */
export async function compare(options, { progress, cleanups, signal }) {
  progress('starting Latitude and filling its database');
  const started = await startLatitude(cleanups);
  const { folder, latitude, connection, connect, client, postmaster } = started;
  const load = await findLoadGenerator(folder, options.load);
  const organizations = await createOrganizations(client, comparedSizes(options.full));
  const leads = await fillLeads(client, organizations);

  progress('starting the others');
  const setup = { connection, organizations, leads, folder, connect, progress, cleanups, signal };
  const { cases, peers, skipped } = await startOthers(setup, { ...options, latitude, client });
  progress('comparing their answers');
  for (const benchCase of cases) await assertSameAnswers(benchCase);

  const { rounds, seconds } = options;
  const results = await alternate({
    ...{ cases, connections: CONNECTIONS, rounds },
    measure: measurer({ load, client, postmaster, seconds, signal }),
    onRound: (round) => progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`),
  });
  await report(results, { ...options, ...started, load, peers, skipped });
}

/** Starts the other servers and makes the cases for all servers. */
async function startOthers(setup, { only, peers: wantsPeers, latitude, client }) {
  const { connection, organizations, leads, folder, cleanups } = setup;
  const references = startReferences(connection, organizations, folder);
  for (const server of references) cleanups.push(() => server.stop());
  for (const server of references) await server.waitUntilListening();
  const table = new LeadsTable(client, leads);
  const own = [latitude, ...references].map((server) => target(server.name, server, table));
  const { peers, skipped } = wantsPeers ? await startPeers(setup) : { peers: [], skipped: [] };
  const all = casesOf(organizations, leads).filter(({ name }) => only.includes(name));
  const mcp = await openMcpSessions(latitude.url, organizations);
  const cases = all.map((benchCase) => ({
    ...benchCase,
    targets: targetsOf(benchCase, own, peers, mcp),
  }));
  return { cases, peers, skipped };
}

function targetsOf({ name }, own, peers, mcp) {
  const [latitude, bare, limit] = own;
  if (name === 'mcp') return [latitude, overMcp(latitude, mcp)];
  if (name === 'list') return [...own, withoutTotal(bare), withoutTotal(limit), ...peers];
  return [...own, ...peers];
}

async function report(results, { postgresVersion, load, command, printOnly, peers, skipped }) {
  const names = peers.map(({ name }) => name);
  const { description } = load;
  const around = describeEnvironment({ postgresVersion, load: description, command, skipped });
  const tables = [ratioTable(results, names), 'All figures:', figuresTable(results)];
  await publish('figures', {
    figures: [around, ...tables].join('\n\n'),
    chart: chartOf(results, names, CHART_CONNECTIONS),
    textChart: textChartOf(results, names, CHART_CONNECTIONS),
    printOnly,
  });
}
