import { startPeers } from '../peers/peers.mjs';
import { casesOf } from './cases.mjs';
import { fill } from './data.mjs';
import { LeadsTable } from './database.mjs';
import { entrant, overMcp, withoutTotal } from './entrants.mjs';
import { assertSameAnswers } from './equality.mjs';
import { findLoadGenerator } from './load.mjs';
import { measurer } from './measure.mjs';
import { comparedSizes, makeOrganizations } from './organizations.mjs';
import { pictureOf, printedPictureOf } from './picture.mjs';
import { circumstances, publish } from './report.mjs';
import { openMcpSessions } from './requests.mjs';
import { alternate } from './rounds.mjs';
import { startReferences } from './servers.mjs';
import { startLatitude } from './start.mjs';
import { figuresTable, ratioTable } from './tables.mjs';

const CONNECTIONS = [1, 32];
const PICTURED = 32;

/** Latitude beside other servers with the same leads. */
export async function compare(options, { note, undo, signal }) {
  note('starting Latitude and filling its database');
  const started = await startLatitude(undo);
  const { folder, latitude, connection, connect, client, postmaster } = started;
  const load = await findLoadGenerator(folder, options.load);
  const organizations = await makeOrganizations(client, comparedSizes(options.full));
  const leads = await fill(client, organizations);

  note('starting the others');
  const asked = { connection, organizations, leads, folder, connect, note, undo, signal };
  const { cases, peers, skipped } = await startOthers(asked, { ...options, latitude, client });
  note('comparing their answers');
  for (const one of cases) await assertSameAnswers(one);

  const { rounds, seconds } = options;
  const results = await alternate({
    ...{ cases, connections: CONNECTIONS, rounds },
    measure: measurer({ load, client, postmaster, seconds, signal }),
    onRound: (round) => note(round === 0 ? 'warming up' : `round ${round} of ${rounds}`),
  });
  await report(results, { ...options, ...started, load, peers, skipped });
}

/** The servers beside Latitude, and what all of them are asked. */
async function startOthers(asked, { only, peers: wantsPeers, latitude, client }) {
  const { connection, organizations, leads, folder, undo } = asked;
  const references = startReferences(connection, organizations, folder);
  for (const server of references) undo.push(() => server.stop());
  for (const server of references) await server.untilListening();
  const table = new LeadsTable(client, leads);
  const own = [latitude, ...references].map((server) => entrant(server.name, server, table));
  const { peers, skipped } = wantsPeers ? await startPeers(asked) : { peers: [], skipped: [] };
  const all = casesOf(organizations, leads).filter(({ name }) => only.includes(name));
  const mcp = await openMcpSessions(latitude.url, organizations);
  const cases = all.map((one) => ({ ...one, entrants: entrantsOf(one, own, peers, mcp) }));
  return { cases, peers, skipped };
}

function entrantsOf({ name }, own, peers, mcp) {
  const [latitude, bare, limit] = own;
  if (name === 'mcp') return [latitude, overMcp(latitude, mcp)];
  if (name === 'list') return [...own, withoutTotal(bare), withoutTotal(limit), ...peers];
  return [...own, ...peers];
}

async function report(results, { postgresVersion, load, command, printOnly, peers, skipped }) {
  const names = peers.map(({ name }) => name);
  const { description } = load;
  const around = circumstances({ postgresVersion, load: description, command, skipped });
  const tables = [ratioTable(results, names), 'All figures:', figuresTable(results)];
  await publish('figures', {
    figures: [around, ...tables].join('\n\n'),
    picture: pictureOf(results, names, PICTURED),
    printedPicture: printedPictureOf(results, names, PICTURED),
    printOnly,
  });
}
