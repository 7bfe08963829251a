import {
  keyedRequest,
  restRequest,
  restRequestWithoutTotal,
  transactionRequest,
} from './requests.mjs';

/** Names of the servers in charts and tables. */
export const LATITUDE = 'Latitude';
export const BARE = 'bare server';
export const TRANSACTION = `${BARE}, transaction`;
export const LIMIT = 'limit';
export const IDIOMATIC = 'idiomatic Nest';
export const WITHOUT_TOTAL = ', no total';
export const MCP = `${LATITUDE}, /mcp`;
export const KEYED = `${LATITUDE}, Idempotency-Key`;
export const PLATFORMATIC = 'Platformatic';

/**
 * A server and how it is called.
 * @param more.request makes the request of an operation
 * @param more.normalize converts its response, an operation and the headers to the form of Latitude
 * @param more.expected selects the part of Latitude's response that it must equal
 */
export function target(name, server, table, more = {}) {
  return {
    ...{ name, server, table },
    request: restRequest,
    statusOf: ({ type }) => (type === 'create' ? 201 : 200),
    normalize: (answer) => answer,
    expected: (answer) => answer,
    ...more,
  };
}

/** The same server with lists without a total, to show the cost of the total. */
export function withoutTotal({ name, server, table }) {
  const expected = ({ data, meta: { page, limit } }) => ({ data, meta: { page, limit } });
  const more = { request: restRequestWithoutTotal, expected };
  return target(name + WITHOUT_TOTAL, server, table, more);
}

/** The bare server with updates that read the lead, compute its score and write it in a transaction. */
export function inTransaction({ server, table }) {
  return target(TRANSACTION, server, table, { request: transactionRequest });
}

/** Latitude with creations that can be repeated safely. */
export function withKey({ server, table }) {
  return target(KEYED, server, table, { request: keyedRequest });
}

/** Latitude through its tool at /mcp. */
export function overMcp({ server, table }, request) {
  const normalize = ({ result }) => ({ data: result.structuredContent });
  return target(MCP, server, table, { request, normalize, statusOf: () => 200 });
}
