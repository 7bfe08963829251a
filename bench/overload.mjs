// Measures the throughput and the latencies of clients under overload, compared with a single client. Run:
// node bench/overload.mjs
import { setTimeout as after } from 'node:timers/promises';
import { Connection } from './flat/connection.mjs';
import { NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { fillLeads } from './lib/data.mjs';
import { waitUntilIdle } from './lib/database.mjs';
import { createOrganizations } from './lib/organizations.mjs';
import { numberedRequest, restRequest } from './lib/requests.mjs';
import { quantile } from './lib/rounds.mjs';
import { startLatitude } from './lib/start-latitude.mjs';
import { markdownTable } from './lib/tables.mjs';

const USAGE = `node bench/overload.mjs [options]

  --rounds N   number of rounds, 1 to 9 (3)
  --help       show this
`;

const SIZES = [50_000];

const SECONDS = 10;

/** The first part of a load, in which earlier requests are still being served. `p99Later` leaves it out. */
const WARM_UP_MS = 1_000;

/** The time in which each request should be answered. */
const LONGEST_MS = 1_500;

/** Number of requests of a burst. */
const BURST = 200;

/** Number of busy connections that reaches the highest throughput. */
const SATURATING = 32;
const EXCESSIVE = 4 * SATURATING;

const CASES = [
  {
    title: 'get',
    request: ({ id, organization }) => restRequest({ type: 'get', organization, id }),
  },
  {
    title: 'list 20',
    request: ({ organization }) => restRequest({ type: 'list', organization, limit: 20 }),
  },
  {
    title: 'search',
    isSlow: true,
    request: ({ organization }) =>
      restRequest({ type: 'list', organization, search: 'Lovelace', limit: 20 }),
  },
  {
    title: 'create',
    request: ({ organization }) => {
      return numberedRequest(restRequest({ type: 'create', organization, record: NEW_LEAD }));
    },
  },
];

/** Counts and times responses. */
class Responses {
  #started = performance.now();
  #served = [];
  #servedLater = [];
  #refused = 0;

  add({ status, milliseconds, text }) {
    if (status === 503 && text.includes('"overloaded"')) this.#refused++;
    else if (status >= 300) throw new Error(`answered ${status}: ${text}`);
    else this.#served.push(milliseconds);
    const isLater = performance.now() - this.#started > WARM_UP_MS;
    if (status < 300 && isLater) this.#servedLater.push(milliseconds);
  }

  summary() {
    return {
      served: this.#served.length / SECONDS,
      refused: this.#refused / SECONDS,
      p99: quantile(this.#served, 0.99),
      p99Later: quantile(this.#servedLater, 0.99),
    };
  }
}

/** Each connection sends its next request as soon as it has received a response. */
async function runClosedLoop(url, connections, makeRequest) {
  const responses = new Responses();
  const end = performance.now() + SECONDS * 1_000;
  const client = async () => {
    const connection = new Connection(url);
    while (performance.now() < end) responses.add(await connection.send(makeRequest()));
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, client));
  return responses.summary();
}

/**
 * Opens connections that the server has accepted. Node accepts one connection in each turn of its event loop, so that
 * thousands of new connections a second would be a load of their own.
 */
async function openConnections(url, count) {
  const connections = [];
  while (connections.length < count) {
    const some = Array.from({ length: 100 }, () => new Connection(url));
    await Promise.all(some.map((connection) => connection.send({ path: '/health/live' })));
    connections.push(...some);
  }
  return connections;
}

/** Sends requests at a fixed rate, over as many connections as that needs. */
async function runOpenLoop(url, rate, makeRequest) {
  const idle = await openConnections(url, (rate * LONGEST_MS) / 1_000);
  const responses = new Responses();
  const sent = [];
  let failure;
  const send = async () => {
    const connection = idle.pop() ?? new Connection(url);
    responses.add(await connection.send(makeRequest()));
    idle.push(connection);
  };
  const started = performance.now();
  for (let now = started; now < started + SECONDS * 1_000; now = performance.now()) {
    while (sent.length < ((now - started) / 1_000) * rate) {
      sent.push(send().catch((error) => (failure ??= error)));
    }
    await after(1);
  }
  await Promise.all(sent);
  if (failure) throw failure;
  for (const connection of idle) connection.close();
  return responses.summary();
}

/** Sends one request over each of many connections at the same time, and again when all have been answered. */
async function runBursts(url, makeRequest) {
  const connections = await openConnections(url, BURST);
  const responses = new Responses();
  const end = performance.now() + SECONDS * 1_000;
  while (performance.now() < end) {
    const burst = connections.map((connection) => connection.send(makeRequest()));
    for (const response of await Promise.all(burst)) responses.add(response);
  }
  for (const connection of connections) connection.close();
  return responses.summary();
}

const closedLoop = (connections) => (url, send) => runClosedLoop(url, connections, send);

/** The loads in their order. Each receives the results of the loads before it. */
const LOADS = {
  alone: closedLoop(1),
  [`${SATURATING} connections`]: closedLoop(SATURATING),
  [`${EXCESSIVE} connections`]: closedLoop(EXCESSIVE),
  [`bursts of ${BURST}`]: runBursts,
  'alone, right after': closedLoop(1),
};

/** Four times the rate that was served, for cases that one client process can send at that rate. */
const FOUR_TIMES = {
  'four times as often': (url, send, before) => {
    return runOpenLoop(url, 4 * before[`${SATURATING} connections`].served, send);
  },
  'alone, right after that': closedLoop(1),
};

/** One row for each load, with the medians of the rounds. */
async function rowsOf({ title, isSlow, request }, { url, client, sample, rounds }) {
  const send = () => request(sample);
  const loads = Object.entries({ ...LOADS, ...(isSlow ? FOUR_TIMES : {}) });
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`${title}, round ${round + 1} of ${rounds}\n`);
    const results = {};
    for (const [name, load] of loads) {
      if (!name.includes('right after')) await waitUntilIdle(client);
      results[name] = await load(url, send, results);
    }
    measured.push(results);
  }
  return loads.map(([name]) => {
    const medianOf = (value) => quantile(measured.map(value), 0.5);
    return [
      `${title}, ${name}`,
      Math.round(medianOf((results) => results[name].served)),
      Math.round(medianOf((results) => results[name].refused)),
      ...['p99', 'p99Later'].flatMap((p99) => [
        medianOf((results) => results[name][p99]).toFixed(1),
        medianOf((results) => results[name][p99] / results.alone[p99]).toFixed(1),
      ]),
    ];
  });
}

async function main(rounds, cleanups) {
  const { latitude, client } = await startLatitude(cleanups);
  const [organization] = await createOrganizations(client, SIZES);
  const [{ id }] = await fillLeads(client, [organization]);
  const sample = { organization, id };
  const rows = [];
  for (const benchCase of CASES) {
    rows.push(...(await rowsOf(benchCase, { url: latitude.url, client, sample, rounds })));
  }
  const header = [
    ...['Request', 'Served/s', 'Refused/s', 'p99, ms', '× alone'],
    ...['p99 after 1 s, ms', '× alone'],
  ];
  console.log(markdownTable(header, rows, 0));
}

const option = { name: 'rounds', min: 1, max: 9, fallback: 3 };
await runCommand({ name: 'overload', usage: USAGE, option }, main);
