// Measures the cost of events for writes: Latitude compared with the same build without events of leads. Run:
// node bench/events.mjs
import path from 'node:path';
import { CHANGES, NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { keyedRequest } from './lib/requests.mjs';
import { markdownTable } from './lib/tables.mjs';
import { compareVariants, startVariant } from './lib/variants.mjs';

const USAGE = `node bench/events.mjs [options]

  --rounds N   number of rounds, 1 to 20 (5)
  --help       show this
`;

const WITHOUT_EVENTS = path.join(import.meta.dirname, 'lib/without-events.mjs');

function casesOf(variants) {
  const [{ leads }] = variants;
  const targets = (request) =>
    variants.map(({ latitude, targetOf }) => targetOf(latitude.name, latitude, request));
  const create = { writes: 'created', operations: [{ type: 'create', lead: NEW_LEAD }] };
  const updates = leads.map(({ id }) => ({ type: 'update', id, changes: CHANGES }));
  return [
    { title: 'create', ...create, targets: targets() },
    { title: 'create with Idempotency-Key', ...create, targets: targets(keyedRequest) },
    { title: 'update', writes: 'updated', operations: updates, targets: targets() },
  ].map((benchCase) => ({ ...benchCase, connections: [1, 32] }));
}

async function main(rounds, cleanups) {
  const variants = [
    await startVariant(cleanups, { nodeOptions: ['--import', WITHOUT_EVENTS] }),
    await startVariant(cleanups, {}),
  ];
  const rows = await compareVariants(casesOf(variants), rounds);
  const header = ['Writes a second', 'Connections', 'Without events', 'With events', 'Ratio'];
  console.log(markdownTable(header, rows, 0));
}

const option = { name: 'rounds', min: 1, max: 20, fallback: 5 };
await runCommand({ name: 'bench/events', usage: USAGE, option }, main);
