// What callers get who ask for more than can be served, beside one who asks alone.
// Run: node bench/overload.mjs
import { setTimeout as after } from 'node:timers/promises';
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

  --rounds N   how often each load is measured, in turn, 1 to 9 (3)
  --help       show this
`;

const SIZES = [50_000];

const SECONDS = 10;

/** In the first moment, what has come before is still to be served. */
const FIRST_MS = 1_000;

/** With so many connections that are never idle, as much is served as can be. */
const ENOUGH = 32;
const TOO_MANY = 4 * ENOUGH;

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
    isSlow: true,
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

/** What came back. */
class Answers {
  #begun = performance.now();
  #served = [];
  #servedLater = [];
  #refused = 0;

  add({ status, milliseconds, text }) {
    if (status === 503 && text.includes('"overloaded"')) this.#refused++;
    else if (status >= 300) throw new Error(`answered ${status}: ${text}`);
    else this.#served.push(milliseconds);
    const isLater = performance.now() - this.#begun > FIRST_MS;
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

/** Each connection asks again as soon as it is answered, whatever the answer was. */
async function keepBusy(url, connections, makeRequest) {
  const answers = new Answers();
  const end = performance.now() + SECONDS * 1_000;
  const caller = async () => {
    const connection = new Connection(url);
    while (performance.now() < end) answers.add(await connection.send(makeRequest()));
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, caller));
  return answers.summary();
}

/** Asks so many times a second, over a connection that waits for no answer. */
async function keepPace(url, rate, makeRequest) {
  const answers = new Answers();
  const idle = [];
  const asked = [];
  const ask = async () => {
    const connection = idle.pop() ?? new Connection(url);
    answers.add(await connection.send(makeRequest()));
    idle.push(connection);
  };
  const begun = performance.now();
  for (let now = begun; now < begun + SECONDS * 1_000; now = performance.now()) {
    while (asked.length < ((now - begun) / 1_000) * rate) asked.push(ask());
    await after(1);
  }
  await Promise.all(asked);
  for (const connection of idle) connection.close();
  return answers.summary();
}

const busy = (connections) => (url, ask) => keepBusy(url, connections, ask);

/** What is asked for, in turn; each is given what the loads before it came to. */
const LOADS = {
  alone: busy(1),
  [`${ENOUGH} connections`]: busy(ENOUGH),
  [`${TOO_MANY} connections`]: busy(TOO_MANY),
  'alone, right after': busy(1),
};

/** Where one process can ask as often: four times what was served. */
const FOUR_TIMES = {
  'four times as often': (url, ask, before) => {
    return keepPace(url, 4 * before[`${ENOUGH} connections`].served, ask);
  },
  'alone, right after that': busy(1),
};

/** The medians over the rounds, one row for each load. */
async function rowsOf({ title, isSlow, request }, { url, client, target, rounds }) {
  const ask = () => request(target);
  const loads = Object.entries({ ...LOADS, ...(isSlow ? FOUR_TIMES : {}) });
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`${title}, round ${round + 1} of ${rounds}\n`);
    const results = {};
    for (const [name, load] of loads) {
      if (!name.includes('right after')) await untilIdle(client);
      results[name] = await load(url, ask, results);
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

async function main(rounds, undo) {
  const { latitude, client } = await startLatitude(undo);
  const [organization] = await makeOrganizations(client, SIZES);
  const [{ id }] = await fill(client, [organization]);
  const target = { organization, id };
  const rows = [];
  for (const one of CASES) {
    rows.push(...(await rowsOf(one, { url: latitude.url, client, target, rounds })));
  }
  const header = [
    ...['Request', 'Served/s', 'Refused/s', 'p99, ms', '× alone'],
    ...['p99 after 1 s, ms', '× alone'],
  ];
  console.log(markdownTable(header, rows, 0));
}

const option = { name: 'rounds', least: 1, most: 9, fallback: 3 };
await runCommand({ name: 'overload', usage: USAGE, option }, main);
