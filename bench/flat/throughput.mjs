import { NEW_LEAD } from '../lib/cases.mjs';
import { entrant } from '../lib/entrants.mjs';
import { measurer } from '../lib/measure.mjs';
import { restRequest } from '../lib/requests.mjs';
import { alternate } from '../lib/rounds.mjs';
import { LIMIT } from './cases.mjs';
import { shortSize } from './sizes.mjs';

export const CONNECTIONS = 32;

/**
 * What is measured under load: each in the largest organization and in what it is compared with.
 * @param spread small organizations, over which creates are spread
 */
function casesUnderLoad(sized, spread, latitude, table) {
  const [smallest, largest] = [sized[0], sized.at(-1)];
  const within = (name, organization) => {
    const request = (ask) =>
      restRequest({ ...ask, organization: organization ?? ask.organization });
    return entrant(name, latitude, table, { request });
  };
  const one = within(`one of ${shortSize(largest.size)}`, largest);
  const { length, 0: first } = spread;
  return [
    {
      title: 'create',
      goal: 0.7,
      writes: 'created',
      asks: spread.map((organization) => ({ does: 'create', organization, lead: NEW_LEAD })),
      entrants: [one, within(`${length} of ${shortSize(first.size)}`)],
    },
    {
      title: `list ${LIMIT} + exact total`,
      goal: 0.8,
      asks: [{ does: 'list', page: 1, limit: LIMIT }],
      entrants: [one, within(`one of ${shortSize(smallest.size)}`, smallest)],
    },
  ];
}

/** Requests a second of both, in alternating rounds. */
export function measureUnderLoad({ sized, spread, latitude, table, rounds, onRound, ...how }) {
  return alternate({
    cases: casesUnderLoad(sized, spread, latitude, table),
    connections: [CONNECTIONS],
    ...{ rounds, onRound },
    measure: measurer(how),
  });
}
