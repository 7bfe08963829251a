// Measures how many leads a second batches write over one connection, compared with single requests. Run:
// node bench/batches.mjs
import http from 'node:http';
import { NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { createOrganizations } from './lib/organizations.mjs';
import { spreadOf } from './lib/rounds.mjs';
import { startLatitude } from './lib/start-latitude.mjs';
import { formatNumber, markdownTable } from './lib/tables.mjs';

const USAGE = `node bench/batches.mjs [options]

  --rounds N   number of rounds, 1 to 20 (5)
  --help       show this
`;

/** Leads of a round. */
const LEADS = 500;
const BATCH = 100;

/** Sends requests one after another over one connection. */
function sender({ url }, key) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return (path, body) =>
    new Promise((resolve, reject) => {
      const request = http.request(url + path, { method: 'POST', agent, headers }, (response) => {
        response.resume();
        response.once('end', () =>
          response.statusCode < 207
            ? resolve()
            : reject(new Error(`${path}: ${response.statusCode}`)),
        );
      });
      request.once('error', reject);
      request.end(JSON.stringify(body));
    });
}

let created = 0;

/** Leads with unique values. */
function newLeads() {
  return Array.from({ length: LEADS }, () => {
    const number = ++created;
    return {
      ...NEW_LEAD,
      email: `batch-${number}@created.example`,
      phone: `+1212${5_550_000 + number}`,
      external_id: `crm-${number}`,
    };
  });
}

async function sendBatches(send, items) {
  for (let at = 0; at < items.length; at += BATCH) {
    await send('/api/v1/leads/batch', { items: items.slice(at, at + BATCH) });
  }
}

const upsertOf = (data) => ({ action: 'upsert', match_on: ['external_id'], data });

/** Each sends the leads of a round. The last two send leads that exist. */
const CASES = {
  create: async (send, leads) => {
    for (const lead of leads) await send('/api/v1/leads', lead);
  },
  'batches of creates': (send, leads) =>
    sendBatches(
      send,
      leads.map((data) => ({ action: 'create', data })),
    ),
  'batches of upserts that create': (send, leads) => sendBatches(send, leads.map(upsertOf)),
  'batches of upserts that update': (send, leads) =>
    sendBatches(
      send,
      leads.map((lead) => upsertOf({ ...lead, city: 'Arlington' })),
    ),
  'batches of upserts that change nothing': (send, leads) =>
    sendBatches(
      send,
      leads.map((lead) => upsertOf({ ...lead, city: 'Arlington' })),
    ),
};

async function main(rounds, cleanups) {
  const { latitude, client } = await startLatitude(cleanups);
  const [{ key }] = await createOrganizations(client, [0]);
  const send = sender(latitude, key);
  await CASES.create(send, newLeads());
  const rates = new Map(Object.keys(CASES).map((title) => [title, []]));
  for (let round = 0; round < rounds; round++) {
    let leads;
    for (const [title, run] of Object.entries(CASES)) {
      if (!/update|nothing/.test(title)) leads = newLeads();
      const started = performance.now();
      await run(send, leads);
      rates.get(title).push(LEADS / ((performance.now() - started) / 1_000));
    }
  }
  const single = spreadOf(rates.get('create')).median;
  const rows = [...rates].map(([title, values]) => {
    const { median } = spreadOf(values);
    return [title, formatNumber(median), (median / single).toFixed(1)];
  });
  console.log(markdownTable(['Over one connection', 'Leads a second', '× create'], rows, 0));
}

const option = { name: 'rounds', min: 1, max: 20, fallback: 5 };
await runCommand({ name: 'bench/batches', usage: USAGE, option }, main);
