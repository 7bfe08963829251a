// What callers get who ask for four times as much as can be served, beside one who asks alone.
// Run: node bench/overload.mjs
import { Connection } from './flat/connection.mjs';
import { NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { fill } from './lib/data.mjs';
import { untilIdle } from './lib/database.mjs';
import { makeOrganizations } from './lib/organizations.mjs';
import { FIRST_NUMBER, numbered, restRequest } from './lib/requests.mjs';
import { quantile } from './lib/rounds.mjs';
import { startLatitude } from './lib/start.mjs';
import { markdownTable } from './lib/tables.mjs';

const USAGE = `node bench/overload.mjs [options]

  --seconds N   how long each load lasts, 2 to 60 (5)
  --help        show this
`;

const SIZES = [50_000];

/** With so many connections that are never idle, as much is served as can be. */
const ENOUGH = 32;
const TOO_MANY = 4 * ENOUGH;

/** What comes before the server has noticed is not what it is like under load. */
const TO_NOTICE_MS = 1_000;

let created = 0;

const CASES = [
  {
    title: 'get',
    request: ({ id, organization }) => restRequest({ does: 'get', organization, id }),
  },
  {
    title: 'list 20',
    request: ({ organization }) => restRequest({ does: 'list', organization, limit: 20 }),
  },
  {
    title: 'search',
    request: ({ organization }) =>
      restRequest({ does: 'list', organization, search: 'Lovelace', limit: 20 }),
  },
  {
    title: 'create',
    request: ({ organization }) => {
      const request = restRequest({ does: 'create', organization, lead: NEW_LEAD });
      return { ...request, body: numbered(request.body, FIRST_NUMBER + created++) };
    },
  },
];

/** Each connection asks again as soon as it is answered, whatever the answer was. */
async function load(url, connections, seconds, makeRequest) {
  const served = [];
  let refused = 0;
  const begun = performance.now();
  const end = begun + seconds * 1_000;
  const caller = async () => {
    const connection = new Connection(url);
    while (performance.now() < end) {
      const { status, milliseconds, text } = await connection.send(makeRequest());
      if (status === 503 && text.includes('"overloaded"')) refused++;
      else if (status >= 300) throw new Error(`answered ${status}: ${text}`);
      else if (performance.now() - begun > TO_NOTICE_MS) served.push(milliseconds);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, caller));
  const measured = seconds - TO_NOTICE_MS / 1_000;
  return {
    rate: served.length / measured,
    refusals: refused / seconds,
    p50: quantile(served, 0.5),
    p99: quantile(served, 0.99),
  };
}

async function rowOf({ title, request }, { url, client, target, seconds }) {
  const measure = async (connections) => {
    await untilIdle(client);
    return load(url, connections, seconds, () => request(target));
  };
  const alone = await measure(1);
  const full = await measure(ENOUGH);
  const over = await measure(TOO_MANY);
  const after = await load(url, 1, seconds, () => request(target));
  const inMs = (ms) => ms.toFixed(1);
  return [
    title,
    Math.round(full.rate),
    Math.round(over.rate),
    Math.round(over.refusals),
    ...[alone, full, over, after].map(({ p99 }) => inMs(p99)),
    (over.p99 / alone.p99).toFixed(1),
    Math.round(after.refusals),
  ];
}

async function main(seconds, undo) {
  const { latitude, client } = await startLatitude(undo);
  const [organization] = await makeOrganizations(client, SIZES);
  const [{ id }] = await fill(client, [organization]);
  const rows = [];
  for (const one of CASES) {
    process.stderr.write(`${one.title}\n`);
    const target = { organization, id };
    rows.push(await rowOf(one, { url: latitude.url, client, target, seconds }));
  }
  const header = [
    'Request',
    `Served/s by ${ENOUGH}`,
    `Served/s by ${TOO_MANY}`,
    'Refused/s',
    'p99 alone, ms',
    `p99 of ${ENOUGH}`,
    `p99 of ${TOO_MANY}`,
    'p99 right after',
    '× alone',
    'Refused after',
  ];
  console.log(markdownTable(header, rows, 0));
}

const option = { name: 'seconds', least: 2, most: 60, fallback: 5 };
await runCommand({ name: 'overload', usage: USAGE, option }, main);
