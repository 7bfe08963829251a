import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { LeadsTable } from '../lib/database.mjs';
import { target } from '../lib/targets.mjs';
import { freePort } from '../lib/free-port.mjs';
import { withBody } from '../lib/requests.mjs';
import { Server } from '../lib/server.mjs';
import { copyLeads, LISTED, SEARCHED, comparableFields } from './leads.mjs';

const run = promisify(execFile);
const ITEMS = '/items/leads';
const TOKEN = 'token-of-the-benchmark';
const BOOTSTRAP_TIMEOUT_MS = 180_000;

const TABLE = `
  create table leads (
    id uuid primary key default gen_random_uuid(),
    organization_id uuid not null,
    first_name text not null, last_name text, phone text, email text, company text,
    address_street text, city text, state text, zip text, status text, temperature text,
    source text not null default 'api', notes text, external_id text, tags json, custom_fields json default '{}',
    lead_score integer not null default 70, sms_opted_out boolean not null default false,
    on_dnc_list boolean not null default false, created_at timestamptz, updated_at timestamptz
  );
  create index on leads (organization_id, created_at, id);
  insert into directus_collections (collection) values ('leads');
  insert into directus_fields (collection, field, special) values
    ('leads', 'tags', 'cast-json'), ('leads', 'custom_fields', 'cast-json'),
    ('leads', 'created_at', 'date-created'), ('leads', 'updated_at', 'date-created,date-updated')`;

/** Directus with a token of its administrator, for which it checks no permissions. */
export const directus = {
  name: 'Directus',
  packages: { directus: '12.4.0' },

  async start({ owner, client, connection, leads, installed, home, cleanups, signal }) {
    const env = {
      ...{ PATH: process.env.PATH, HOME: home, TZ: 'UTC', NODE_ENV: 'production' },
      ...{ DB_CLIENT: 'pg', DB_HOST: connection.host, DB_PORT: String(connection.port) },
      ...{ DB_USER: connection.user, DB_DATABASE: connection.database },
      ...{ SECRET: 'secret-of-the-benchmark-secret-of-it', ADMIN_EMAIL: 'bench@example.com' },
      ...{ ADMIN_PASSWORD: 'password-of-the-benchmark', ADMIN_TOKEN: TOKEN },
      ...{ HOST: '127.0.0.1', LOG_LEVEL: 'info', TELEMETRY: 'false' },
      ...{ STORAGE_LOCAL_ROOT: home, EXTENSIONS_PATH: home, SERVE_APP: 'false' },
    };
    const cli = path.join(installed, 'node_modules', 'directus', 'cli.js');
    const options = { env, cwd: home, signal, timeout: BOOTSTRAP_TIMEOUT_MS };
    await run(process.execPath, [cli, 'bootstrap'], options);
    await client.query(TABLE);
    await copyLeads(
      owner,
      client,
      `insert into leads select * from json_populate_recordset(null::leads, $1)`,
    );
    const port = String(await freePort());
    const server = new Server('Directus', {
      ...{ args: [cli, 'start'], env: { ...env, PORT: port }, cwd: home },
      log: path.join(home, 'directus.log'),
    });
    cleanups.push(() => server.stop());
    await server.waitUntilReady(`http://127.0.0.1:${port}`, '/server/ping');
    const table = new LeadsTable(client, leads);
    return target('Directus', server, table, {
      request,
      statusOf: () => 200,
      normalize,
      expected: comparableFields,
    });
  },
};

function request({ type, organization, id, record: lead, changes, page, limit, search }) {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  switch (type) {
    case 'get':
      return { method: 'GET', path: `${ITEMS}/${id}`, headers };
    case 'create':
      return withBody(
        { method: 'POST', path: ITEMS, headers },
        { ...lead, organization_id: organization.id },
      );
    case 'update':
      return withBody({ method: 'PATCH', path: `${ITEMS}/${id}`, headers }, changes);
    case 'list': {
      const found = search && {
        _or: SEARCHED.map((field) => ({ [field]: { _icontains: search } })),
      };
      const filter = { organization_id: { _eq: organization.id }, ...found };
      const query = new URLSearchParams({
        ...{ fields: LISTED, filter: JSON.stringify(filter), sort: '-created_at,-id' },
        ...{ page, limit, meta: 'filter_count' },
      });
      return { method: 'GET', path: `${ITEMS}?${query}`, headers };
    }
  }
}

function normalize({ data, meta }, operation) {
  if (operation.type === 'list')
    return comparableFields({ data, meta: { total: meta.filter_count } }, operation);
  const { organization_id: _, ...lead } = data;
  return comparableFields({ data: lead }, operation);
}
