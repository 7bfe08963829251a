import { randomUUID } from 'node:crypto';

const API = '/api/v1';
const LEADS = `${API}/leads`;
const MCP = '/mcp';
const MCP_REVISION = '2025-11-25';
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Placeholder for the number of the request in bodies and headers. It has 8 characters, like the numbers. */
export const NUMBER = '{number}';

let unused = 22_000_000;

/** The number of the next request. */
export function nextNumber() {
  return unused;
}

/**
 * Takes numbers from use. No two requests have the same number, because an abandoned request can still be
 * running.
 * @returns the first of the numbers
 */
export function useNumbers(count = 1) {
  unused += count;
  return unused - count;
}

/** The request of an operation by Latitude's contract. Lists and creations have the kind of their records as `resource`. */
export function restRequest(operation) {
  const { type, organization, id, record, changes, resource = 'leads', ...list } = operation;
  const headers = { Authorization: `Bearer ${organization.key}` };
  switch (type) {
    case 'get':
      return { method: 'GET', path: `${LEADS}/${id}`, headers };
    case 'list':
      return { method: 'GET', path: `${API}/${resource}?${new URLSearchParams(list)}`, headers };
    case 'create':
      return withBody({ method: 'POST', path: `${API}/${resource}`, headers }, record);
    case 'update':
      return withBody({ method: 'PUT', path: `${LEADS}/${id}`, headers }, changes);
  }
}

/** A creation with an `Idempotency-Key`, which no two requests share. */
export function keyedRequest(operation) {
  const request = restRequest(operation);
  const key = `${randomUUID()}-${NUMBER}`;
  return { ...request, headers: { ...request.headers, 'Idempotency-Key': key } };
}

/** An update that the bare server computes in a transaction. */
export function transactionRequest(operation) {
  const request = restRequest(operation);
  return { ...request, path: `${request.path}?transaction=yes` };
}

/** A list without `total` and `total_pages`; only the servers of this folder support it. */
export function restRequestWithoutTotal(operation) {
  return restRequest({ ...operation, total: 'no' });
}

export function withBody(request, body) {
  const headers = { ...request.headers, ...JSON_TYPE };
  return { ...request, headers, body: JSON.stringify(body) };
}

/**
 * Opens a session of /mcp for each organization.
 * @returns a function that makes the request of a `get`
 */
export async function openMcpSessions(url, organizations) {
  const sessions = new Map();
  for (const organization of organizations) {
    const request = mcpRequest(organization, 'initialize', {
      protocolVersion: MCP_REVISION,
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    const response = await fetch(url + request.path, numberedRequest(request));
    await response.body?.cancel();
    const id = response.headers.get('mcp-session-id');
    if (id === null) throw new Error(`/mcp opened no session and answered ${response.status}`);
    sessions.set(organization, { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': MCP_REVISION });
  }
  return ({ organization, id }) => {
    const call = { name: 'get_lead', arguments: { id } };
    const request = mcpRequest(organization, 'tools/call', call);
    return { ...request, headers: { ...request.headers, ...sessions.get(organization) } };
  };
}

function mcpRequest({ key }, method, params) {
  const accept = 'application/json, text/event-stream';
  const headers = { Authorization: `Bearer ${key}`, Accept: accept, ...JSON_TYPE };
  const id = `request ${NUMBER}`;
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
  return { method: 'POST', path: MCP, headers, body };
}

/** Replaces the placeholders of a request by its number. */
export function numberedRequest({ headers, body, ...request }, number = useNumbers()) {
  const replace = (text) => text?.replaceAll(NUMBER, number);
  const entries = Object.entries(headers).map(([name, value]) => [name, replace(value)]);
  return { ...request, headers: Object.fromEntries(entries), body: replace(body) };
}
