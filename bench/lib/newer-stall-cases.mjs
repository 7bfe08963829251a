// Large inputs of bookings, filters, custom fields, keys, merges and restores.

const BODY = 262_000;

const WEEKDAYS = 'monday tuesday wednesday thursday friday saturday sunday'.split(' ');

const LARGE_FIELDS = Object.fromEntries(
  Array.from({ length: 90 }, (_, n) => [`k${n}`, 'x'.repeat(300)]),
);

const CALL = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
};

function json(path, body, method = 'POST') {
  return { method, path, body: JSON.stringify(body) };
}

/** A call of a tool without a session. */
function toolCall(name, args) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name, arguments: args, _meta };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  return { ...json('/mcp', message), headers: { ...CALL, 'mcp-name': name } };
}

async function create(send, path, body) {
  const { status, text } = await send(json(path, body));
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text.slice(0, 300)}`);
  return JSON.parse(text).data.id;
}

/** Resources with hours of two shifts each day. */
async function openResources(send, count) {
  const shifts = [
    { start: '00:00', end: '12:00' },
    { start: '12:15', end: '23:45' },
  ];
  const hours = Object.fromEntries(WEEKDAYS.map((day) => [day, shifts]));
  const ids = [];
  while (ids.length < count) {
    const resource = { name: 'Crew', time_zone: 'America/New_York', hours };
    ids.push(await create(send, '/api/v1/resources', resource));
  }
  return ids;
}

function windowOf(days) {
  const from = new Date(Date.now() + 86_400_000);
  return {
    from: from.toISOString(),
    to: new Date(from.getTime() + days * 86_400_000).toISOString(),
  };
}

function availability(resources, days, step) {
  const query = new URLSearchParams({
    resource_id: resources.join(),
    ...windowOf(days),
    duration_minutes: '15',
    step_minutes: String(step),
  });
  return { method: 'GET', path: `/api/v1/availability?${query}` };
}

const largeLead = (n, more) => ({
  first_name: `Ada ${n}`,
  notes: 'x'.repeat(5_000),
  custom_fields: LARGE_FIELDS,
  ...more,
});

async function largeLeads(send, count) {
  const ids = [];
  while (ids.length < count) ids.push(await create(send, '/api/v1/leads', largeLead(ids.length)));
  return ids;
}

/** Leads and, for each, one with tasks that is to be merged into it. */
async function pairsOfLeads(send) {
  const pairs = [];
  while (pairs.length < 20) {
    const [kept, merged] = await largeLeads(send, 2);
    const task = { title: 'Call', notes: 'x'.repeat(2_000), contact_id: merged };
    const items = Array(100).fill({ action: 'create', data: task });
    await send(json('/api/v1/tasks/batch', { items }));
    pairs.push([kept, merged]);
  }
  return pairs;
}

async function deletedLeads(send) {
  const ids = await largeLeads(send, 100);
  for (const id of ids) await send({ method: 'DELETE', path: `/api/v1/leads/${id}` });
  return ids;
}

/** As many conditions as a filter can have, each with as many values as fit. */
function widestFilter() {
  const values = Array.from({ length: 22 }, (_, n) => `v${n}`);
  return JSON.stringify({ or: Array(25).fill({ city: { in: values } }) });
}

const deepestFilter = (levels) => '{"or":['.repeat(levels);

function filtered(filter) {
  return { method: 'GET', path: `/api/v1/leads?filter=${encodeURIComponent(filter)}` };
}

/** A field with as many options as there may be, whose definition is compared with all stored leads. */
const definition = (n) => ({
  key: `k${n}`,
  type: 'text',
  description: 'x'.repeat(500),
  filterable: true,
});

export const NEWER_CASES = [
  {
    title: '20 windows of 19,740 free times',
    prepare: (send) => openResources(send, 20),
    request: (_, resources) => availability(resources, 21, 30),
  },
  {
    title: '20 windows of 62 days of 20 resources',
    prepare: (send) => openResources(send, 20),
    request: (_, resources) => availability(resources, 62, 5),
  },
  {
    title: '20 calls of find_free_slots of 100 resources',
    prepare: (send) => openResources(send, 100),
    request: () =>
      toolCall('find_free_slots', { duration_minutes: 15, step_minutes: 5, ...windowOf(62) }),
  },
  {
    title: '20 calls of find_free_slots that find nothing',
    prepare: (send) => openResources(send, 100),
    request: () =>
      toolCall('find_free_slots', { duration_minutes: 1_440, step_minutes: 5, ...windowOf(62) }),
  },
  {
    title: '20 lists of 100 deleted leads',
    prepare: deletedLeads,
    request: () => ({ method: 'GET', path: '/api/v1/leads?deleted=true&limit=100' }),
  },
  {
    title: '20 restores of large leads',
    prepare: deletedLeads,
    request: (n, ids) => ({ path: `/api/v1/leads/${ids[n]}/restore` }),
  },
  {
    title: '20 merges of large leads with 100 tasks',
    prepare: pairsOfLeads,
    request: (n, pairs) => json(`/api/v1/leads/${pairs[n][0]}/merge`, { lead_id: pairs[n][1] }),
  },
  {
    title: '20 keys with a body of scopes',
    request: () =>
      json('/api/v1/keys', { name: 'k', scopes: Array(Math.floor(BODY / 4) - 20).fill('a') }),
  },
  {
    title: '20 keys with limits of 262,000 digits',
    request: () => ({
      path: '/api/v1/keys',
      body: `{"name":"k","scopes":["leads:read"],"reads_per_minute":${'1'.repeat(BODY - 100)}}`,
    }),
  },
  {
    title: '20 filters of 25 conditions and 550 values',
    prepare: (send) => largeLeads(send, 20),
    request: () => filtered(widestFilter()),
  },
  {
    title: '20 filters of 800 levels',
    request: () => filtered(deepestFilter(800)),
  },
  {
    title: '20 calls with a filter of 250 KB',
    request: () => {
      const or = Array(8_000).fill({ city: 'x', zip: { in: ['1'] } });
      return toolCall('list_leads', { filter: { or } });
    },
  },
  {
    title: '20 definitions of fields of 100 large leads',
    prepare: (send) => largeLeads(send, 100),
    request: (n) => json('/api/v1/custom-fields', definition(n)),
  },
  {
    title: '20 definitions with a body of options',
    request: (n) => {
      const options = Array(Math.floor(BODY / 14) - 20).fill({ value: 'a' });
      return json('/api/v1/custom-fields', { key: `k${n}`, type: 'select', options });
    },
  },
].map((item) => ({ count: 20, ...item }));
