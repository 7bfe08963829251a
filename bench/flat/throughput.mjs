import { NEW_LEAD } from '../lib/cases.mjs';
import { target } from '../lib/targets.mjs';
import { measurer } from '../lib/measure.mjs';
import { restRequest } from '../lib/requests.mjs';
import { alternate } from '../lib/rounds.mjs';
import { LIMIT } from './cases.mjs';
import { shortSize } from './sizes.mjs';

export const CONNECTIONS = 32;

/**
 * The cases under load, each in the largest organization and in its reference.
 */
function casesUnderLoad(sized, spread, latitude, table) {
  const [smallest, largest] = [sized[0], sized.at(-1)];
  const within = (name, organization) => {
    const request = (operation) =>
      restRequest({ ...operation, organization: organization ?? operation.organization });
    return target(name, latitude, table, { request });
  };
  const inLargest = within(`one of ${shortSize(largest.size)}`, largest);
  const { length, 0: first } = spread;
  return [
    {
      title: 'create',
      goal: 0.7,
      connections: [CONNECTIONS],
      writes: 'created',
      operations: spread.map((organization) => ({
        type: 'create',
        organization,
        record: NEW_LEAD,
      })),
      targets: [inLargest, within(`${length} of ${shortSize(first.size)}`)],
    },
    {
      title: `list ${LIMIT} + exact total`,
      goal: 0.8,
      connections: [CONNECTIONS],
      operations: [{ type: 'list', page: 1, limit: LIMIT }],
      targets: [inLargest, within(`one of ${shortSize(smallest.size)}`, smallest)],
    },
  ];
}

/** Measures both targets in alternating rounds. */
export function measureUnderLoad({ sized, spread, latitude, table, rounds, onRound, ...how }) {
  return alternate({
    cases: casesUnderLoad(sized, spread, latitude, table),
    ...{ rounds, onRound },
    measure: measurer(how),
  });
}
