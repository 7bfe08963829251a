// Compares two builds of Latitude in turn: their requests a second, and the processor time of a request. Run:
// BASELINE=../latitude-before node bench/builds.mjs
import path from 'node:path';
import { CHANGES, NEW_LEAD } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { NUMBER, restRequest } from './lib/requests.mjs';
import { markdownTable } from './lib/tables.mjs';
import { comparisonHeader, compareVariants, startVariant } from './lib/variants.mjs';

const USAGE = `BASELINE=FOLDER node bench/builds.mjs [options]

  BASELINE     folder of the other build: a checkout after npm ci and npm run build

  --rounds N   number of rounds, 1 to 20 (5)
  --help       show this
`;

const LIMIT = 50;

/** Updates of one field each: one that no index has, and one that searches find. */
const SINGLE_CHANGES = {
  notes: `Called, and call ${NUMBER} was answered.`,
  company: `Company ${NUMBER}`,
};

/** Records of a lead: an appointment that takes time of no resource, and a task. */
const OTHER_RECORDS = {
  appointments: (lead_id) => ({
    ...{ lead_id, start_time: '2030-01-15T09:00:00Z', end_time: '2030-01-15T10:00:00Z' },
    type: 'visit',
  }),
  tasks: (contact_id) => ({
    contact_id,
    title: `Call ${NUMBER}`,
    due_date: '2030-01-15T09:00:00Z',
  }),
};

function casesOf(variants) {
  const targets = variants.map(({ latitude, targetOf }) =>
    targetOf(latitude.name, latitude, restRequest),
  );
  // The ids of leads are the same in each variant.
  const ids = variants[0].leads.map(({ id }) => id);
  return [
    { title: 'get', operations: ids.map((id) => ({ type: 'get', id })) },
    { title: `list ${LIMIT}`, operations: [{ type: 'list', limit: LIMIT, page: 1 }] },
    { title: 'search', operations: [{ type: 'list', limit: LIMIT, page: 1, search: 'Lovelace' }] },
    { title: 'create', writes: 'created', operations: [{ type: 'create', record: NEW_LEAD }] },
    ...Object.entries(OTHER_RECORDS).map(([resource, recordOf]) => ({
      title: `create in ${resource}`,
      operations: ids.map((id) => ({ type: 'create', resource, record: recordOf(id) })),
    })),
    {
      title: 'update',
      writes: 'updated',
      operations: ids.map((id) => ({ type: 'update', id, changes: CHANGES })),
    },
    ...Object.entries(SINGLE_CHANGES).map(([field, value]) => ({
      title: `update of ${field}`,
      writes: 'updated',
      operations: ids.map((id) => ({ type: 'update', id, changes: { [field]: value } })),
    })),
  ].map((benchCase) => ({ ...benchCase, targets, connections: [1, 32] }));
}

async function main(rounds, cleanups) {
  const { BASELINE } = process.env;
  if (!BASELINE) throw new Error(`BASELINE is not set\n\n${USAGE}`);
  const variants = [
    await startVariant(cleanups, { build: path.resolve(BASELINE) }),
    await startVariant(cleanups, {}),
  ];
  const rows = await compareVariants(casesOf(variants), rounds);
  console.log(markdownTable(comparisonHeader('Baseline', 'This build'), rows, 0));
}

const option = { name: 'rounds', min: 1, max: 20, fallback: 5 };
await runCommand({ name: 'bench/builds', usage: USAGE, option }, main);
