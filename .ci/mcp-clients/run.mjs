// Connects third-party MCP clients and agent frameworks to the built server. Each client lists the tools,
// calls one, reports an error, continues after `kill -9` and a restart, and reports a wrong key. The tools
// that each framework converts for a model API are checked by the rules of that API. The clients are no
// dependencies of the project. They have a lock file of their own here.
import assert from 'node:assert/strict';
import { install, withServer } from '../server.mjs';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const CUSTOM_FIELDS = { roof: { material: 'slate', sides: [1, null] } };

/** Limits that these clients do not reach together. */
const LIMITS = { RATE_LIMIT_READS_PER_MINUTE: '10000', RATE_LIMIT_WRITES_PER_MINUTE: '10000' };

/** What a client shows for a wrong key, if it does not show the message of the server. */
const SHOWN_FOR_WRONG_KEY = {
  'client v2, negotiating': /requires authorization \(HTTP 401\)/,
  Inspector: /auth_required/,
  'OpenAI Agents': /requires authorization \(HTTP 401\)/,
  Mastra: /Could not connect/,
  'mcp-use': /Authentication required/,
};

await install(import.meta.dirname);
const { CLIENTS } = await import('./clients.mjs');
const { CONVERSIONS } = await import('./conversions.mjs');
const { withModels } = await import('./models.mjs');

await withServer(async (server) => {
  const url = new URL('/mcp', server.url);
  const { key } = server;
  const connected = [];
  for (const [name, connect] of Object.entries(CLIENTS)) {
    const client = await connect({ url, key });
    await exercise(client, name);
    connected.push([name, client]);
  }
  await server.restart();
  for (const [name, client] of connected) {
    await exercise(client, name);
    await client.close();
    console.log(`${name}: listed, called, failed, and continued after a restart`);
  }
  for (const [name, connect] of Object.entries(CLIENTS)) {
    const reason = await reasonOf(connect({ url, key: `lat_${'0'.repeat(36)}` }));
    assert.match(
      reason,
      SHOWN_FOR_WRONG_KEY[name] ?? /API key .*is missing, invalid or expired/,
      name,
    );
  }
  for (const [name, converse] of Object.entries(CONVERSIONS)) {
    await checkConversion(name, () => converse({ url, key }), apiOf(server));
    console.log(`${name}: converts every tool, keeps nested values and changes only named fields`);
  }
}, LIMITS);
// Some clients keep the process alive.
process.exit();

async function exercise(client, name) {
  assert.ok((await client.list()).includes('create_lead'), name);
  const created = await client.call('create_lead', {
    first_name: name,
    custom_fields: CUSTOM_FIELDS,
  });
  assert.match(created.replaceAll('\\', ''), /"material":"slate"/, name);
  assert.match(
    await reasonOf(client.call('get_lead', { id: UNKNOWN_ID })),
    /There is no such lead/,
    name,
  );
}

/** The text of a result or of an error. */
function reasonOf(outcome) {
  return outcome.then(
    (value) => (typeof value === 'string' ? value : 'succeeded'),
    ({ message }) => message,
  );
}

async function checkConversion(name, converse, api) {
  const lead = { first_name: name, custom_fields: CUSTOM_FIELDS };
  await withModels(() => ({ name: 'create_lead', args: lead }), converse);
  const [{ id }] = await api('GET', `leads?search=${encodeURIComponent(name)}&sort_by=created_at`);
  assert.deepEqual((await api('GET', `leads/${id}`)).custom_fields, CUSTOM_FIELDS, name);

  const details = {
    title: 'Call',
    description: 'Ask for the roof.',
    due_date: '2026-03-01',
    contact_id: id,
  };
  const { updated_at: _, ...task } = await api('POST', 'tasks', details);
  await withModels((tools) => {
    const required = requiredArguments(tools, 'update_task').map((field) => [field, null]);
    const args = { ...Object.fromEntries(required), id: task.id, status: 'completed' };
    return { name: 'update_task', args };
  }, converse);
  const { updated_at: __, ...updated } = await api('GET', `tasks/${task.id}`);
  assert.deepEqual(updated, { ...task, status: 'completed' }, name);
}

/** The arguments that a model must send: for strict tools, all of them. */
function requiredArguments(tools, name) {
  const declarations = tools.flatMap((tool) => tool.functionDeclarations ?? tool.function ?? tool);
  const { parameters, input_schema: schema = parameters } = declarations.find(
    (tool) => tool.name === name,
  );
  return schema.required ?? [];
}

function apiOf({ url, key }) {
  return async (method, path, body) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(new URL(`/api/v1/${path}`, url), request);
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return (await response.json()).data;
  };
}
