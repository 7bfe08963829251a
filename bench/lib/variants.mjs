import { LeadsTable, REMOVE_STORED_RESPONSES, waitForHandlers } from './database.mjs';
import { fillLeads } from './data.mjs';
import { findLoadGenerator } from './load.mjs';
import { measurer } from './measure.mjs';
import { createOrganizations } from './organizations.mjs';
import { restRequest } from './requests.mjs';
import { alternate, ratioOf, spreadOf } from './rounds.mjs';
import { startLatitude } from './start-latitude.mjs';
import { formatNumber } from './tables.mjs';
import { target } from './targets.mjs';

const SECONDS = 2;

/** Leads of each organization of a variant. */
const LEADS = 500;

/**
 * Starts a variant of Latitude with a database of its own. The leads are the same in each variant.
 * @param options of `Latitude`
 * @param options.organizations number of organizations. An operation is for the one at its `organizationIndex`, by default
 *   the first.
 * @returns Latitude, its connection, organizations and leads, and `targetOf`, which makes a target of a server
 *   on its database
 */
export async function startVariant(cleanups, { organizations: count = 1, ...options }) {
  const started = await startLatitude(cleanups, options);
  const { client, postmaster, folder } = started;
  const organizations = await createOrganizations(client, Array(count).fill(LEADS));
  const leads = await fillLeads(client, organizations);
  const table = new LeadsTable(client, leads, { cleanUp: REMOVE_STORED_RESPONSES });
  const load = await findLoadGenerator(folder);
  const { signal } = new AbortController();
  const measure = measurer({ load, client, postmaster, seconds: SECONDS, signal });
  const targetOf = (name, server, request = restRequest) => {
    const ofVariant = ({ organizationIndex = 0, ...operation }) =>
      request({ ...operation, organization: organizations[organizationIndex] });
    const settle = () => waitForHandlers(client);
    return { ...target(name, server, table, { request: ofVariant }), measure, settle };
  };
  return { ...started, organizations, leads, targetOf };
}

/** The header of the rows of `compareVariants`. */
export const comparisonHeader = (first, second) => [
  ...['', 'Connections', `${first}, requests/s`, `${second}, requests/s`, 'Ratio'],
  ...[`${first}, µs`, `${second}, µs`, 'Ratio'],
];

/**
 * Measures cases with two targets each, in turn.
 * @returns for each case and number of connections, the title, the connections, and of two figures those of both targets and the
 *   ratio of the second to the first: the requests a second, and the processor time of the server and PostgreSQL for a request
 */
export async function compareVariants(cases, rounds) {
  const results = await measureVariants(cases, rounds);
  return results.map(({ benchCase, connections, byTarget }) => {
    const both = [...byTarget.values()].map((measurements) => measurements.map(withCpu));
    const figures = ['rate', 'cpu'].flatMap((name) => [
      ...both.map((measurements) =>
        formatNumber(spreadOf(measurements.map((each) => each[name])).median),
      ),
      ratioOf(both[1], both[0], name).median.toFixed(2),
    ]);
    return [benchCase.title, connections, ...figures];
  });
}

/**
 * Measures cases in turn, with targets of variants.
 * @returns the results of `alternate`
 */
export function measureVariants(cases, rounds) {
  return alternate({
    ...{ cases, rounds },
    measure: async (one, benchCase, connections) => {
      await Promise.all(benchCase.targets.map(({ settle }) => settle()));
      return one.measure(one, benchCase, connections);
    },
    onRound: (round) => process.stderr.write(`round ${round} of ${rounds}\n`),
  });
}

/** Adds the processor time of both programs for a request. Without /proc, it is unknown. */
const withCpu = ({ serverCpu = NaN, databaseCpu = NaN, ...measurement }) => ({
  ...measurement,
  cpu: serverCpu + databaseCpu,
});
