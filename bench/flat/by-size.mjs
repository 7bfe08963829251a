import { fillLeads } from '../lib/data.mjs';
import { LeadsTable } from '../lib/database.mjs';
import { target } from '../lib/targets.mjs';
import { findLoadGenerator } from '../lib/load.mjs';
import { createOrganizations } from '../lib/organizations.mjs';
import { describeEnvironment, publish } from '../lib/report.mjs';
import { startLatitude } from '../lib/start-latitude.mjs';
import { FLAT_CASES as cases } from './cases.mjs';
import { measureLatency } from './latency.mjs';
import { chartOf, textChartOf } from './chart.mjs';
import { addRecords } from './records.mjs';
import { sample } from './samples.mjs';
import { latencyTable, loadTable } from './tables.mjs';
import { measureUnderLoad } from './throughput.mjs';

/** Sizes of the organizations over which creates are spread. */
const SPREAD = Array(20).fill(1_000);

const SCOPES = ['leads', 'appointments', 'tasks'].flatMap((resource) =>
  ['read', 'write'].map((right) => `${resource}:${right}`),
);

/** Measures the cost of a request to Latitude by the size of the organization. */
export async function measureBySize(options, { progress, cleanups, signal }) {
  const { sizes, rounds, seconds } = options;
  progress('starting Latitude and filling its database');
  const started = await startLatitude(cleanups);
  const { latitude, client, postmaster } = started;
  const load = await findLoadGenerator(started.folder, options.load);
  const { sized, spread } = await makeData(started, sizes, progress);

  progress('selecting the records, terms and windows of the requests');
  const samples = [];
  for (const organization of sized) samples.push(await sample(client, organization));
  const table = new LeadsTable(client, []);
  const onRound = (what) => (round) =>
    progress(`${what}, ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
  // Load comes first because it warms up the server.
  const underLoad = await measureUnderLoad({
    ...{ sized, spread, latitude, table, rounds, onRound: onRound('under load') },
    ...{ load, client, postmaster, seconds, signal },
  });
  const results = await measureLatency({
    ...{ cases, samples, client, rounds, onRound: onRound('one by one') },
    target: target(latitude.name, latitude, table),
  });
  await report({ results, underLoad }, { ...options, ...started, load });
}

async function makeData({ client, connect, connection }, sizes, progress) {
  const organizations = await createOrganizations(client, [...sizes, ...SPREAD], SCOPES);
  const [sized, spread] = [organizations.slice(0, sizes.length), organizations.slice(sizes.length)];
  await fillLeads(client, organizations);
  progress('giving each lead an appointment and a task');
  await addRecords(client, connect, connection, sized);
  return { sized, spread };
}

async function report({ results, underLoad }, { sizes, postgresVersion, load, ...options }) {
  const { command, printOnly } = options;
  const around = describeEnvironment({ postgresVersion, load: load.description, command });
  const tables = [latencyTable(results, sizes), loadTable(underLoad)];
  await publish('flat', {
    figures: [around, ...tables].join('\n\n'),
    chart: chartOf(results, sizes),
    textChart: textChartOf(results, sizes),
    printOnly,
  });
}
