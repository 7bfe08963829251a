import { restRequest, restRequestWithoutTotal } from './requests.mjs';

/** What stands beside Latitude in every picture and table. */
export const LATITUDE = 'Latitude';
export const BARE = 'bare server';
export const LIMIT = 'limit';
export const IDIOMATIC = 'idiomatic Nest';
export const WITHOUT_TOTAL = ', no total';
export const MCP = `${LATITUDE}, /mcp`;

/**
 * A way to ask a server.
 * @param request what is asked of it for an ask of a case
 * @param read its answer as far as it can be compared
 * @param share that part of Latitude's answer which it has to be equal to
 */
export function entrant(name, server, table, more = {}) {
  return {
    ...{ name, server, table },
    request: restRequest,
    statusOf: ({ does }) => (does === 'create' ? 201 : 200),
    read: (answer) => answer,
    share: (answer) => answer,
    ...more,
  };
}

/** The same server asked for lists without a total: what the total costs the other ones. */
export function withoutTotal({ name, server, table }) {
  const share = ({ data, meta: { page, limit } }) => ({ data, meta: { page, limit } });
  const more = { request: restRequestWithoutTotal, share };
  return entrant(name + WITHOUT_TOTAL, server, table, more);
}

/** Latitude's own tool beside its REST. */
export function overMcp({ server, table }, request) {
  const read = ({ result }) => ({ data: result.structuredContent });
  return entrant(MCP, server, table, { request, read, statusOf: () => 200 });
}
