import path from 'node:path';
import { Latitude } from '../lib/latitude.mjs';
import { COLUMNS, LeadsTable } from '../lib/database.mjs';
import { freePort } from '../lib/free-port.mjs';
import { withBody } from '../lib/requests.mjs';
import { Server } from '../lib/server.mjs';
import { PLATFORMATIC, target } from '../lib/targets.mjs';
import { copyLeads, comparableFields, LISTED, SEARCHED } from './leads.mjs';

const LEADS = '/leads';
const SERVER = path.join(import.meta.dirname, 'platformatic-server.mjs');

/** Every column may be null, because its updates require those that may not be. */
const TABLE = `
  create table leads (
    id uuid primary key default gen_random_uuid(),
    organization_id uuid, first_name text, last_name text, phone text, email text, company text,
    address_street text, city text, state text, zip text, status text, temperature text,
    source text default 'api', notes text, external_id text, tags text[], custom_fields jsonb default '{}',
    lead_score integer default 70, sms_opted_out boolean default false,
    on_dnc_list boolean default false, created_at timestamptz, updated_at timestamptz
  );
  create index on leads (organization_id, created_at, id)`;

/** Its filters would read the name of a column that starts with `or` as a disjunction. */
const OWNER = 'owner_id';
const RENAME = `alter table leads rename organization_id to ${OWNER}`;

/** Platformatic's SQL mapper and REST API on Fastify, without authentication. */
export const platformatic = {
  name: PLATFORMATIC,
  packages: {
    '@platformatic/sql-mapper': '2.61.0',
    '@platformatic/sql-openapi': '2.61.0',
    fastify: '5.6.1',
  },

  async start({ owner, client, connection, leads, installed, home, cleanups }) {
    await client.query(TABLE);
    await copyLeads(
      owner,
      client,
      `insert into leads select * from json_populate_recordset(null::leads, $1)`,
    );
    await client.query(RENAME);
    const port = await freePort();
    const configuration = { installed, port, poolSize: Latitude.poolSize(connection) };
    const connectionString = urlOf(connection);
    const server = new Server(PLATFORMATIC, {
      args: [SERVER, JSON.stringify({ ...configuration, connectionString })],
      env: { PATH: process.env.PATH, TZ: 'UTC', NODE_ENV: 'production' },
      log: path.join(home, 'platformatic.log'),
    });
    cleanups.push(() => server.stop());
    await server.waitUntilReady(`http://127.0.0.1:${port}`, `${LEADS}/?limit=1`);
    const table = new LeadsTable(client, leads, { columns: { ...COLUMNS, organization: OWNER } });
    const statusOf = () => 200;
    return target(PLATFORMATIC, server, table, {
      request,
      statusOf,
      normalize,
      expected: comparableFields,
    });
  },
};

/** @returns the URL of a database over its socket */
function urlOf({ host, port, user, database }) {
  const query = new URLSearchParams({ host, port });
  return `postgresql://${user}@localhost/${database}?${query}`;
}

function request({ type, organization, id, record: lead, changes, page, limit, search }) {
  const headers = {};
  switch (type) {
    case 'get':
      return { method: 'GET', path: `${LEADS}/${id}`, headers };
    case 'create': {
      const body = camelCased({ ...lead, [OWNER]: organization.id });
      return withBody({ method: 'POST', path: `${LEADS}/`, headers }, body);
    }
    case 'update':
      return withBody({ method: 'PUT', path: `${LEADS}/${id}`, headers }, camelCased(changes));
    case 'list': {
      const query = new URLSearchParams({
        [`where.${camelCase(OWNER)}.eq`]: organization.id,
        ...(search && {
          'where.or': `(${SEARCHED.map((name) => conditionOf(name, search)).join('|')})`,
        }),
        ...{ 'orderby.createdAt': 'desc', 'orderby.id': 'desc' },
        ...{ limit, offset: (page - 1) * limit, totalCount: true },
      });
      for (const name of LISTED) query.append('fields', camelCase(name));
      return { method: 'GET', path: `${LEADS}/?${query}`, headers };
    }
  }
}

function conditionOf(name, search) {
  return `${camelCase(name)}.ilike=%${search}%`;
}

function normalize(answer, operation, headers) {
  if (operation.type === 'list') {
    const meta = { total: Number(headers.get('x-total-count')) };
    return comparableFields({ data: answer.map(snakeCased), meta }, operation);
  }
  const { [OWNER]: _, ...data } = snakeCased(answer);
  return comparableFields({ data }, operation);
}

function camelCased(fields) {
  return renamed(fields, camelCase);
}

function snakeCased(fields) {
  return renamed(fields, (name) =>
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
}

function renamed(fields, rename) {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [rename(name), value]));
}

function camelCase(name) {
  return name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}
