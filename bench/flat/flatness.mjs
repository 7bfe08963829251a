import { fill } from '../lib/data.mjs';
import { LeadsTable } from '../lib/database.mjs';
import { entrant } from '../lib/entrants.mjs';
import { findLoadGenerator } from '../lib/load.mjs';
import { makeOrganizations } from '../lib/organizations.mjs';
import { circumstances, publish } from '../lib/report.mjs';
import { startLatitude } from '../lib/start.mjs';
import { FLAT_CASES as cases } from './cases.mjs';
import { measureLatency } from './latency.mjs';
import { pictureOf, printedPictureOf } from './picture.mjs';
import { addRecords } from './records.mjs';
import { sample } from './samples.mjs';
import { latencyTable, loadTable } from './tables.mjs';
import { measureUnderLoad } from './throughput.mjs';

/** Organizations over which creates are spread. */
const SPREAD = Array(20).fill(1_000);

const SCOPES = ['leads', 'appointments', 'tasks'].flatMap((resource) =>
  ['read', 'write'].map((right) => `${resource}:${right}`),
);

/** The cost of a request to Latitude against the size of the organization. */
export async function measureFlatness(options, { note, undo, signal }) {
  const { sizes, rounds, seconds } = options;
  note('starting Latitude and filling its database');
  const started = await startLatitude(undo);
  const { latitude, client, postmaster } = started;
  const load = await findLoadGenerator(started.folder, options.load);
  const { sized, spread } = await makeData(started, sizes, note);

  note('looking for what to ask');
  const samples = [];
  for (const organization of sized) samples.push(await sample(client, organization));
  const table = new LeadsTable(client, []);
  const onRound = (what) => (round) =>
    note(`${what}, ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
  // The load comes first because it warms the server up.
  const underLoad = await measureUnderLoad({
    ...{ sized, spread, latitude, table, rounds, onRound: onRound('under load') },
    ...{ load, client, postmaster, seconds, signal },
  });
  const results = await measureLatency({
    ...{ cases, samples, client, rounds, onRound: onRound('one by one') },
    entrant: entrant(latitude.name, latitude, table),
  });
  await report({ results, underLoad }, { ...options, ...started, load });
}

async function makeData({ client, connect, connection }, sizes, note) {
  const organizations = await makeOrganizations(client, [...sizes, ...SPREAD], SCOPES);
  const [sized, spread] = [organizations.slice(0, sizes.length), organizations.slice(sizes.length)];
  await fill(client, organizations);
  note('giving each lead an appointment and a task');
  await addRecords(client, connect, connection, sized);
  return { sized, spread };
}

async function report({ results, underLoad }, { sizes, postgresVersion, load, ...options }) {
  const { command, printOnly } = options;
  const around = circumstances({ postgresVersion, load: load.description, command });
  const tables = [latencyTable(results, sizes), loadTable(underLoad)];
  await publish('flat', {
    figures: [around, ...tables].join('\n\n'),
    picture: pictureOf(results, sizes),
    printedPicture: printedPictureOf(results, sizes),
    printOnly,
  });
}
