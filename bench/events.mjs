// Measures the cost of events for writes: Latitude compared with the same build without events of leads. Run:
// node bench/events.mjs
import path from 'node:path';
import { CHANGES, NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { keyedRequest } from './lib/requests.mjs';
import { markdownTable } from './lib/tables.mjs';
import { comparisonHeader, compareVariants, startVariant } from './lib/variants.mjs';

const USAGE = `node bench/events.mjs [options]

  --rounds N   number of rounds, 1 to 20 (5)
  --help       show this
`;

const WITHOUT_EVENTS = path.join(import.meta.dirname, 'lib/without-events.mjs');

/** Requests concern as many organizations in turn. Those of many organizations form smaller batches. */
const ORGANIZATIONS = [1, 20];

function casesOf(variants) {
  const targets = (request) =>
    variants.map(({ latitude, targetOf }) => targetOf(latitude.name, latitude, request));
  return ORGANIZATIONS.flatMap((count) => {
    const create = { writes: 'created', operations: creations(count) };
    const update = { writes: 'updated', operations: updates(count, variants[0]) };
    const of = count === 1 ? '' : `, ${count} organizations`;
    return [
      { title: `create${of}`, ...create, targets: targets() },
      { title: `create with Idempotency-Key${of}`, ...create, targets: targets(keyedRequest) },
      { title: `update${of}`, ...update, targets: targets() },
    ];
  }).map((benchCase) => ({ ...benchCase, connections: [1, 32] }));
}

function creations(count) {
  return Array.from({ length: count }, (_, organizationIndex) => {
    return { type: 'create', record: NEW_LEAD, organizationIndex };
  });
}

/** The ids of leads are the same in each variant, those of organizations are not. */
function updates(count, { organizations, leads }) {
  const ids = organizations.slice(0, count).map((organization) => organization.id);
  return leads
    .map(({ id, organization_id }) => {
      const organizationIndex = ids.indexOf(organization_id);
      return { type: 'update', id, changes: CHANGES, organizationIndex };
    })
    .filter(({ organizationIndex }) => organizationIndex >= 0);
}

async function main(rounds, cleanups) {
  const organizations = Math.max(...ORGANIZATIONS);
  const variants = [
    await startVariant(cleanups, { organizations, nodeOptions: ['--import', WITHOUT_EVENTS] }),
    await startVariant(cleanups, { organizations }),
  ];
  const rows = await compareVariants(casesOf(variants), rounds);
  console.log(markdownTable(comparisonHeader('Without events', 'With events'), rows, 0));
}

const option = { name: 'rounds', min: 1, max: 20, fallback: 5 };
await runCommand({ name: 'bench/events', usage: USAGE, option }, main);
