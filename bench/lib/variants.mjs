import { LeadsTable, REMOVE_STORED_RESPONSES } from './database.mjs';
import { fillLeads } from './data.mjs';
import { findLoadGenerator } from './load.mjs';
import { measurer } from './measure.mjs';
import { createOrganizations } from './organizations.mjs';
import { restRequest } from './requests.mjs';
import { alternate, ratioOf, summarize } from './rounds.mjs';
import { startLatitude } from './start-latitude.mjs';
import { formatNumber } from './tables.mjs';
import { target } from './targets.mjs';

const SECONDS = 2;

/** Leads of each organization of a variant. */
const LEADS = 500;

/**
 * Starts a variant of Latitude with a database of its own. The leads are the same in each variant.
 * @param nodeOptions additional options of node
 * @param build the folder of another build
 * @param count number of organizations. An operation is for the one at its `organizationIndex`, by default the
 *   first.
 * @returns Latitude, its connection, organizations and leads, and `targetOf`, which makes a target of a server
 *   on its database
 */
export async function startVariant(cleanups, { nodeOptions, build, organizations: count = 1 }) {
  const started = await startLatitude(cleanups, { nodeOptions, build });
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
    return { ...target(name, server, table, { request: ofVariant }), measure };
  };
  return { ...started, organizations, leads, targetOf };
}

/**
 * Measures cases with two targets each, in turn.
 * @returns for each case and number of connections, the title, the connections, the requests a second of
 *   both targets, and the ratio of the second to the first
 */
export async function compareVariants(cases, rounds) {
  const results = await alternate({
    ...{ cases, rounds },
    measure: (one, benchCase, connections) => one.measure(one, benchCase, connections),
    onRound: (round) => process.stderr.write(`round ${round} of ${rounds}\n`),
  });
  return results.map(({ benchCase, connections, byTarget }) => {
    const both = [...byTarget.values()];
    const rates = both.map((measurements) => formatNumber(summarize(measurements).rate));
    const ratio = ratioOf(both[1], both[0]).median.toFixed(2);
    return [benchCase.title, connections, ...rates, ratio];
  });
}
