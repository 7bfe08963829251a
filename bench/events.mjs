// Measures what the events of changes cost writes: Latitude against the same build without events of leads.
// Run: node bench/events.mjs
import path from 'node:path';
import { Connection } from './flat/connection.mjs';
import { NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { createOrganizations } from './lib/organizations.mjs';
import { FIRST_NUMBER, numbered, restRequest } from './lib/requests.mjs';
import { quantile } from './lib/rounds.mjs';
import { startLatitude } from './lib/start-latitude.mjs';
import { markdownTable } from './lib/tables.mjs';

const USAGE = `node bench/events.mjs [options]

  --rounds N   number of rounds, 1 to 20 (5)
  --help       show this
`;

const CONNECTIONS = [1, 32];
const SECONDS = 2;
const WITHOUT_EVENTS = path.join(import.meta.dirname, 'lib/without-events.mjs');

/** Leads of a server that updates change. */
const LEADS = 500;

let created = FIRST_NUMBER;

const KINDS = {
  create: ({ organization }) => creation(organization),
  'create with Idempotency-Key': ({ organization }) => {
    const request = creation(organization);
    return { ...request, headers: { ...request.headers, 'Idempotency-Key': `bench-${created}` } };
  },
  update: ({ organization, ids }) => {
    const id = ids[created % ids.length];
    const changes = { notes: `note ${created++}` };
    return restRequest({ type: 'update', organization, id, changes });
  },
};

function creation(organization) {
  const request = restRequest({ type: 'create', organization, lead: NEW_LEAD });
  return { ...request, body: numbered(request.body, created++) };
}

async function startServer(cleanups, name, preload) {
  const { latitude, client } = await startLatitude(cleanups, preload);
  const [organization] = await createOrganizations(client, [0]);
  const server = { name, url: latitude.url, organization, ids: [] };
  const connection = new Connection(server.url);
  for (let n = 0; n < LEADS; n++) {
    const { status, text } = await connection.send(creation(organization));
    if (status !== 201) throw new Error(`${name} answered ${status}: ${text}`);
    server.ids.push(JSON.parse(text).data.id);
  }
  connection.close();
  await client.query('analyze');
  return server;
}

/** @returns requests in a second */
async function measure(server, request, connections) {
  const end = performance.now() + SECONDS * 1_000;
  let count = 0;
  const caller = async () => {
    const connection = new Connection(server.url);
    while (performance.now() < end) {
      const { status, text } = await connection.send(request(server));
      if (status >= 300) throw new Error(`${server.name} answered ${status}: ${text}`);
      count++;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, caller));
  return count / SECONDS;
}

await runCommand(
  {
    name: 'bench/events',
    usage: USAGE,
    option: { name: 'rounds', least: 1, most: 20, fallback: 5 },
  },
  async (rounds, cleanups) => {
    const servers = [
      await startServer(cleanups, 'without events', ['--import', WITHOUT_EVENTS]),
      await startServer(cleanups, 'with events', []),
    ];
    const rows = [];
    for (const [kind, request] of Object.entries(KINDS)) {
      for (const connections of CONNECTIONS) {
        const rates = servers.map(() => []);
        for (const server of servers) await measure(server, request, connections);
        for (let round = 0; round < rounds; round++) {
          for (const [index, server] of servers.entries()) {
            rates[index].push(await measure(server, request, connections));
          }
        }
        const ratios = rates[1].map((rate, round) => rate / rates[0][round]);
        const [before, after] = rates.map((all) => Math.round(quantile(all, 0.5)));
        const ratio = quantile(ratios, 0.5).toFixed(2);
        rows.push([`${kind}, ${connections}`, String(before), String(after), ratio]);
      }
    }
    console.log(
      markdownTable(
        ['writes a second, connections', 'without events', 'with events', 'ratio'],
        rows,
      ),
    );
  },
);
