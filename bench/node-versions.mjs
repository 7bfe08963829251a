// Compares this build on several versions of Node.js, and with options of V8, in turn: the requests a second, the processor
// time of a request, and the first seconds after a start. It downloads the versions from npm once. Run:
// node bench/node-versions.mjs
import path from 'node:path';
import { CHANGES, NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { findLoadGenerator } from './lib/load.mjs';
import { usageOfProcessTree } from './lib/processes.mjs';
import { restRequest } from './lib/requests.mjs';
import { ratioOf, spreadOf } from './lib/rounds.mjs';
import { startLatitudeIn } from './lib/start-latitude.mjs';
import { formatNumber, markdownTable } from './lib/tables.mjs';
import { measureVariants, startVariant } from './lib/variants.mjs';
import { install } from './peers/install.mjs';

const USAGE = `node bench/node-versions.mjs [options]

  --rounds N   number of rounds, 1 to 20 (3)
  --help       show this
`;

/** Each variant is compared with the one that it names as its base. */
const VARIANTS = [
  { title: 'Node 20', version: '20.20.2' },
  { title: 'Node 22', version: '22.23.3', base: 'Node 20' },
  { title: 'Node 24', version: '24.21.0', base: 'Node 20' },
  {
    ...{ title: 'Node 24, sparkplug', version: '24.21.0', base: 'Node 24' },
    nodeOptions: ['--always-sparkplug'],
  },
  {
    ...{ title: 'Node 24, compile cache', version: '24.21.0', base: 'Node 24' },
    hasCompileCache: true,
  },
];

/** The compile cache has an effect on starts alone. */
const UNDER_LOAD = VARIANTS.filter(({ hasCompileCache }) => !hasCompileCache);

const LIMIT = 50;

/** The load after a start, which is the same for each variant. */
const AFTER_START = { connections: 8, seconds: 10, requestsPerSecond: 200 };

/** Installs the package with the program of a version for this platform. @returns the file of the program */
async function programOf(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = await install('node', { [name]: version });
  return path.join(folder, 'node_modules', name, 'bin', 'node');
}

async function start({ version, nodeOptions, hasCompileCache, ...variant }, cleanups) {
  const options = { node: await programOf(version), nodeOptions };
  const started = await startVariant(cleanups, options);
  const settings = hasCompileCache && {
    NODE_COMPILE_CACHE: path.join(started.folder, 'compile-cache'),
  };
  return { ...variant, ...started, options: { ...options, settings } };
}

function operationsOf({ leads }) {
  return {
    get: leads.map(({ id }) => ({ type: 'get', id })),
    [`list ${LIMIT}`]: [{ type: 'list', limit: LIMIT, page: 1 }],
    create: [{ type: 'create', record: NEW_LEAD }],
    update: leads.map(({ id }) => ({ type: 'update', id, changes: CHANGES })),
  };
}

const WRITES = { create: 'created', update: 'updated' };

function casesOf(variants) {
  const targets = UNDER_LOAD.map(({ title }) => {
    const { latitude, targetOf } = variants.find((variant) => variant.title === title);
    return targetOf(title, latitude);
  });
  // The ids of leads are the same in each variant.
  return Object.entries(operationsOf(variants[0])).map(([title, operations]) => {
    return { title, operations, writes: WRITES[title], targets, connections: [1, 32] };
  });
}

/** The first variant's figures, and those of the others as multiples of their bases. */
function requestsTable(results, figure) {
  const rows = results.map(({ benchCase, connections, byTarget }) => {
    const named = new Map([...byTarget].map(([{ name }, measured]) => [name, measured]));
    const [first, ...others] = UNDER_LOAD.map(({ title, base }) => [named.get(title), base]);
    return [
      ...[benchCase.title, connections, medianOf(first[0], figure)],
      ...others.map(([measured, base]) => ratio(measured, named.get(base), figure)),
    ];
  });
  const [{ title: first }, ...others] = UNDER_LOAD;
  return markdownTable(
    ['', 'Connections', first, ...others.map(({ title, base }) => `${title}, × ${base}`)],
    ...[rows, 0],
  );
}

/** Starts a stopped variant again, and sends it requests from the first moment on. */
async function measureStart({ title, folder, options, leads, organizations }, load) {
  const stops = [];
  try {
    const begin = performance.now();
    const { latitude, postmaster } = await startLatitudeIn(folder, stops, options);
    const ready = performance.now() - begin;
    const usage = async () => (await usageOfProcessTree(latitude.pid, postmaster)) ?? {};
    const { cpu: readyCpu = NaN } = await usage();
    const requests = requestsOf(leads, organizations[0]);
    const { signal } = new AbortController();
    const done = await load.run({ ...AFTER_START, url: latitude.url, requests, signal });
    if (done.refused + done.broken > 0) throw new Error(`${title}: ${await latitude.logTail()}`);
    const { cpu = NaN, memory = NaN } = await usage();
    const requestCpu = (cpu - readyCpu) / done.requests;
    return { ready, readyCpu: readyCpu / 1_000, requestCpu, memory };
  } finally {
    for (const step of stops.reverse()) await step();
  }
}

/** The requests of all cases in turn. */
function requestsOf(leads, organization) {
  const byCase = Object.values(operationsOf({ leads }));
  return leads.flatMap((_, i) =>
    byCase.map((operations) => restRequest({ ...operations[i % operations.length], organization })),
  );
}

/** What a table of starts has of each variant. */
const START_FIGURES = {
  ready: 'Ready, ms',
  readyCpu: 'CPU until ready, ms',
  requestCpu: 'CPU of a request, first ten seconds, µs',
  memory: 'Memory after them, MiB',
};

async function measureStarts(variants, rounds) {
  const [{ folder }] = variants;
  const load = await findLoadGenerator(folder, 'autocannon');
  const starts = new Map(variants.map(({ title }) => [title, []]));
  // The first start fills the compile cache.
  for (let round = 0; round <= rounds; round++) {
    process.stderr.write(`starts, round ${round} of ${rounds}\n`);
    for (let i = 0; i < variants.length; i++) {
      const variant = variants[(i + round) % variants.length];
      const measured = await measureStart(variant, load);
      if (round > 0) starts.get(variant.title).push(measured);
    }
  }
  const rows = VARIANTS.map(({ title, base }) => [
    title,
    ...Object.keys(START_FIGURES).flatMap((figure) => [
      medianOf(starts.get(title), figure),
      base ? ratio(starts.get(title), starts.get(base), figure) : '',
    ]),
  ]);
  const header = Object.values(START_FIGURES).flatMap((title) => [title, '× base']);
  return markdownTable(['', ...header], rows, 0);
}

const medianOf = (measured, figure) =>
  formatNumber(spreadOf(measured.map((each) => each[figure])).median);

const ratio = (measured, reference, figure) =>
  ratioOf(measured, reference, figure).median.toFixed(2);

async function main(rounds, cleanups) {
  const variants = [];
  for (const variant of VARIANTS) variants.push(await start(variant, cleanups));
  const results = await measureVariants(casesOf(variants), rounds);
  for (const [title, figure] of [
    ['Requests a second', 'rate'],
    ['CPU of a request, µs', 'serverCpu'],
  ]) {
    console.log(`${title}\n\n${requestsTable(results, figure)}\n`);
  }
  for (const { client, latitude } of variants) {
    await client.end();
    await latitude.stop();
  }
  console.log(`Starts\n\n${await measureStarts(variants, rounds)}`);
}

const option = { name: 'rounds', min: 1, max: 20, fallback: 3 };
await runCommand({ name: 'bench/node-versions', usage: USAGE, option }, main);
