import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { COLUMNS, LeadsTable } from '../lib/database.mjs';
import { target } from '../lib/targets.mjs';
import { freePort } from '../lib/free-port.mjs';
import { withBody } from '../lib/requests.mjs';
import { Server } from '../lib/server.mjs';
import { copyLeads, LISTED, SEARCHED, comparableFields } from './leads.mjs';
import { filesOf, TOKEN_LINE } from './strapi-project.mjs';

const LEADS = '/api/leads';

/** Names of fields in Strapi that differ. */
const OWN = {
  id: 'documentId',
  status: 'lead_status',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
};
const theirs = (name) => OWN[name] ?? name;

const INSERT = `
  insert into leads (document_id, organization_id, first_name, last_name, phone, email, company,
    address_street, city, state, zip, lead_status, temperature, source, notes, tags, custom_fields,
    external_id, lead_score, sms_opted_out, on_dnc_list, created_at, updated_at, published_at)
  select id, organization_id, first_name, last_name, phone, email, company, address_street, city,
    state, zip, status, temperature, source, notes, tags, custom_fields, external_id, lead_score,
    sms_opted_out, on_dnc_list, created_at, updated_at, created_at
  from json_to_recordset($1) old (id text, organization_id text, first_name text, last_name text,
    phone text, email text, company text, address_street text, city text, state text, zip text,
    status text, temperature text, source text, notes text, tags jsonb, custom_fields jsonb,
    external_id text, lead_score integer, sms_opted_out boolean, on_dnc_list boolean, created_at timestamp,
    updated_at timestamp)`;

/** Strapi with a full-access token and without its admin pages. */
export const strapi = {
  name: 'Strapi',
  packages: {
    '@strapi/strapi': '5.54.0',
    pg: '8.23.1',
    react: '18.3.1',
    'react-dom': '18.3.1',
    'react-router-dom': '6.30.6',
    'styled-components': '6.6.0',
  },

  async start({ owner, client, connection, leads, installed, home, cleanups }) {
    const port = await freePort();
    for (const [file, text] of Object.entries(filesOf(connection, port, this.packages))) {
      await mkdir(path.dirname(path.join(home, file)), { recursive: true });
      await writeFile(path.join(home, file), text);
    }
    await symlink(path.join(installed, 'node_modules'), path.join(home, 'node_modules'));
    const cli = path.join(home, 'node_modules', '@strapi', 'strapi', 'bin', 'strapi.js');
    const env = { PATH: process.env.PATH, HOME: home, TZ: 'UTC', NODE_ENV: 'production' };
    const log = path.join(home, 'strapi.log');
    const server = new Server('Strapi', { args: [cli, 'start'], env, cwd: home, log });
    cleanups.push(() => server.stop());
    await server.waitUntilReady(`http://127.0.0.1:${port}`, '/_health');
    await client.query('create index on leads (organization_id, created_at, id)');
    await copyLeads(owner, client, INSERT);
    const token = await server.waitForLog(TOKEN_LINE);
    const columns = {
      ...COLUMNS,
      id: 'document_id',
      status: 'lead_status',
      idType: 'text',
      timeType: 'timestamp',
    };
    const table = new LeadsTable(client, leads, { columns });
    const request = (operation) => requestOf(token, operation);
    return target('Strapi', server, table, { request, normalize, expected: comparableFields });
  },
};

function requestOf(token, { type, organization, id, record: lead, changes, page, limit, search }) {
  const headers = { Authorization: `Bearer ${token}` };
  switch (type) {
    case 'get':
      return { method: 'GET', path: `${LEADS}/${id}`, headers };
    case 'create': {
      const data = renamed({ ...lead, organization_id: organization.id });
      return withBody({ method: 'POST', path: LEADS, headers }, { data });
    }
    case 'update': {
      const request = { method: 'PUT', path: `${LEADS}/${id}`, headers };
      return withBody(request, { data: renamed(changes) });
    }
    case 'list': {
      const query = new URLSearchParams({ 'filters[organization_id][$eq]': organization.id });
      if (search) {
        SEARCHED.forEach((field, i) =>
          query.set(`filters[$or][${i}][${field}][$containsi]`, search),
        );
      }
      LISTED.forEach((field, i) => query.set(`fields[${i}]`, theirs(field)));
      query.set('sort[0]', 'createdAt:desc');
      query.set('sort[1]', 'documentId:desc');
      query.set('pagination[page]', page);
      query.set('pagination[pageSize]', limit);
      return { method: 'GET', path: `${LEADS}?${query}`, headers };
    }
  }
}

function renamed(fields) {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [theirs(name), value]));
}

function normalize({ data, meta }, operation) {
  const ours = Object.fromEntries(Object.entries(OWN).map(([name, own]) => [own, name]));
  const record = ({ id: _, organization_id: __, publishedAt: ___, ...lead }) =>
    Object.fromEntries(Object.entries(lead).map(([name, value]) => [ours[name] ?? name, value]));
  if (operation.type === 'list') {
    return comparableFields(
      { data: data.map(record), meta: { total: meta.pagination.total } },
      operation,
    );
  }
  return comparableFields({ data: record(data) }, operation);
}
