// The inputs that stalled a server most.
import { NEWER_CASES } from './newer-stall-cases.mjs';

const MEBIBYTE = 1_048_576;

/** As much as a body may have. */
const BODY = 262_000;

/** As much as a query may have. */
const QUERY = 15_500;

/** Repeats a text up to a size. */
function filled(text, size = BODY) {
  return text.repeat(Math.floor(size / text.length));
}

function file(title, type, body, query = '') {
  const path = `/api/v1/leads/imports?match_on=email${query}`;
  // Made when it is sent, because the files of all cases together are large.
  return {
    title,
    count: 1,
    request: () => ({ path, body: body(), headers: { 'content-type': type } }),
  };
}

function csv(title, body, query) {
  return file(title, 'text/csv', () => `email,first_name\n${body()}`, query);
}

/** Twenty requests at once. */
function lead(title, body) {
  const text = `{"first_name":"Ada",${body}}`;
  return { title, count: 20, request: () => ({ path: '/api/v1/leads', body: text }) };
}

function list(title, query) {
  return { title, count: 20, request: () => ({ method: 'GET', path: `/api/v1/leads?${query}` }) };
}

const unknown = Array.from({ length: 200 }, (_, n) => `"k${n}":1`).join(',');
const customFields = Array.from({ length: 90 }, (_, n) => `"k${n}":"${'x'.repeat(300)}"`).join(',');
const customColumns = Array.from({ length: 990 }, (_, n) => `custom_fields.k${n}`).join(',');

function batch(items) {
  return { path: '/api/v1/leads/batch', body: JSON.stringify({ items }) };
}

const MCP = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
/** The only version with batches. */
const MCP_VERSION = '2025-03-26';

async function openSession(send) {
  const params = {
    protocolVersion: MCP_VERSION,
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const { headers } = await send({ path: '/mcp', headers: MCP, body });
  return { ...MCP, 'mcp-session-id': headers['mcp-session-id'] };
}

/** @returns a batch of as many messages as fit */
function messages(method, params) {
  const meta = `"_meta":{"a":[${filled('1,', 9_000)}1]}`;
  const all = Array.from({ length: 28 }, (_, id) => {
    return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}${meta}}}`;
  });
  return `[${all.join(',')}]`;
}

function batchesOfMessages(title, method, params = '') {
  const body = messages(method, params);
  const request = (_, headers) => ({ path: '/mcp', headers, body });
  return { title, count: 20, prepare: openSession, request };
}

const largeLeads = `{"items":[${Array(8).fill(`{"action":"create","data":{"first_name":"Ada","custom_fields":{${customFields}}}}`).join(',')}]}`;

export const CASES = [
  csv('49 MiB of commas', () => ','.repeat(49 * MEBIBYTE)),
  csv('10 MiB of lines without a value', () => filled(',\n', 10 * MEBIBYTE)),
  csv('10 MiB of short lines', () => filled('a\n', 10 * MEBIBYTE)),
  csv('10 MiB of quotes', () => filled('"""",""\n', 10 * MEBIBYTE)),
  file('NDJSON with lines of 1 MiB', 'application/x-ndjson', () =>
    `{"email":"a@b.example","first_name":"Ada","custom_fields":{"a":[${filled('1,', MEBIBYTE - 200)}1]}}\n`.repeat(
      20,
    ),
  ),
  file(
    'CSV with 990 custom fields',
    'text/csv',
    () => `email,${customColumns}\n${`a@b.example,${'1,'.repeat(989)}1\n`.repeat(5_000)}`,
  ),
  {
    title: '20 bodies of [',
    count: 20,
    request: () => ({ path: '/api/v1/leads', body: filled('[') }),
  },
  lead('20 bodies of numbers', `"custom_fields":{"a":[${filled('1,')}1]}`),
  lead('20 bodies of repeated keys', `${filled('"a":1,')}"a":1`),
  lead('20 bodies of tags', `"tags":[${filled('"a",')}"a"]`),
  list('20 queries of one parameter', filled('a=1&', QUERY)),
  list('20 queries that are not UTF-8', filled('%ff=%ff&', QUERY)),
  {
    title: '20 batches of unknown fields',
    count: 20,
    request: () => ({
      path: '/api/v1/leads/batch',
      body: `{"items":[${Array(100).fill(`{"action":"create","data":{${unknown}}}`).join(',')}]}`,
    }),
  },
  {
    title: '20 batches of upserts',
    count: 20,
    request: (n) =>
      batch(
        Array.from({ length: 100 }, (_, item) => ({
          action: 'upsert',
          match_on: ['phone'],
          data: {
            first_name: 'Ada',
            phone: `+1 212 55${String(n).padStart(2, '0')} ${String(item).padStart(3, '0')}`,
            notes: 'x'.repeat(2_000),
          },
        })),
      ),
  },
  batchesOfMessages('20 batches to /mcp that list tools', 'tools/list'),
  batchesOfMessages(
    '20 batches to /mcp that list leads',
    'tools/call',
    '"name":"list_leads","arguments":{},',
  ),
  {
    title: '20 exports of large leads',
    count: 20,
    prepare: async (send) => {
      for (let n = 0; n < 50; n++) await send({ path: '/api/v1/leads/batch', body: largeLeads });
    },
    request: () => ({ method: 'GET', path: '/api/v1/leads/export?format=csv' }),
  },
  ...NEWER_CASES,
];
