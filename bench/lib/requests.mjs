const API = '/api/v1';
const LEADS = `${API}/leads`;
const MCP = '/mcp';
const MCP_REVISION = '2025-11-25';
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** What a request's number stands for in its body; each request gets the next one. */
export const NUMBER = '{n}';
export const FIRST_NUMBER = 2_000_000;

/**
 * What is asked of a server, by the contract of Latitude.
 * @param resource what is listed
 */
export function restRequest(ask) {
  const { does, organization, id, lead, changes, resource = 'leads', ...list } = ask;
  const headers = { Authorization: `Bearer ${organization.key}` };
  switch (does) {
    case 'get':
      return { method: 'GET', path: `${LEADS}/${id}`, headers };
    case 'list':
      return { method: 'GET', path: `${API}/${resource}?${new URLSearchParams(list)}`, headers };
    case 'create':
      return withBody({ method: 'POST', path: LEADS, headers }, lead);
    case 'update':
      return withBody({ method: 'PUT', path: `${LEADS}/${id}`, headers }, changes);
  }
}

/** The same list without `total` and `total_pages`, which the servers of this folder know. */
export function restRequestWithoutTotal(ask) {
  return restRequest({ ...ask, total: 'no' });
}

export function withBody(request, body) {
  const headers = { ...request.headers, ...JSON_TYPE };
  return { ...request, headers, body: JSON.stringify(body) };
}

/**
 * Opens a session at /mcp for each organization.
 * @returns how a `get` is asked there
 */
export async function openMcpSessions(url, organizations) {
  const sessions = new Map();
  for (const organization of organizations) {
    const request = mcpRequest(organization, 'initialize', {
      protocolVersion: MCP_REVISION,
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    const response = await fetch(url + request.path, { ...request, body: numbered(request.body) });
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

/** A body as the request with this number sends it. */
export function numbered(body, number = FIRST_NUMBER) {
  return body?.replaceAll(NUMBER, number);
}
