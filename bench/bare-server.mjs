// What Latitude is measured against: node:http and pg with named prepared statements on the same
// tables, and nothing else. No validation, limits, request ids, log or row-level security.
// bench/run.mjs starts it with one argument: {connection, poolSize, organizations: {key: id}}.
import http from 'node:http';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';

const { connection, poolSize, organizations } = JSON.parse(process.argv[2]);
const organizationOf = new Map(Object.entries(organizations));
const pool = new pg.Pool({ ...connection, max: poolSize });

/** Latitude computes it; every lead that the benchmark creates has this one. */
const LEAD_SCORE = 70;

const LEAD = `id, first_name, last_name, phone, email, company, address_street, city, state, zip,
  status, temperature, source, notes, tags, custom_fields, sms_opted_out, on_dnc_list, lead_score,
  created_at, updated_at`;
const LIST_ITEM = `id, first_name, last_name, phone, email, status, temperature, lead_score,
  company, created_at, updated_at`;
const LIVE = 'organization_id = $1 and deleted_at is null';

const GET = {
  name: 'get',
  text: `select ${LEAD} from leads where ${LIVE} and id = $2`,
};
const LIST = {
  name: 'list',
  text: `select ${LIST_ITEM}, (select count(*)::int from leads where ${LIVE}) as total from leads
    where ${LIVE} order by created_at desc, id desc limit $2 offset $3`,
};
const CREATE = {
  name: 'create',
  text: `insert into leads (organization_id, id, first_name, last_name, phone, email, company,
      address_street, city, state, zip, status, temperature, source, notes, tags, custom_fields,
      sms_opted_out, on_dnc_list, lead_score, email_compared, phone_compared)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
      $20, $21, $22)
    returning ${LEAD}`,
};

async function get(organization, id) {
  const { rows } = await pool.query({ ...GET, values: [organization, id] });
  return rows.length > 0 ? [200, { data: rows[0] }] : [404, {}];
}

async function list(organization, parameters) {
  const page = Number(parameters.get('page') ?? 1);
  const limit = Number(parameters.get('limit') ?? 50);
  const values = [organization, limit, (page - 1) * limit];
  const { rows } = await pool.query({ ...LIST, values });
  const data = rows.map(({ total, ...lead }) => lead);
  const total = rows[0]?.total ?? 0;
  return [200, { data, meta: { page, limit, total, total_pages: Math.ceil(total / limit) } }];
}

async function create(organization, request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const lead = JSON.parse(Buffer.concat(chunks).toString());
  const values = [
    ...[organization, uuidv7(), lead.first_name, lead.last_name, lead.phone, lead.email],
    ...[lead.company, lead.address_street, lead.city, lead.state, lead.zip, lead.status],
    ...[lead.temperature, lead.source ?? 'api', lead.notes, lead.tags ?? []],
    ...[lead.custom_fields ?? {}, lead.sms_opted_out ?? false, lead.on_dnc_list ?? false],
    ...[LEAD_SCORE, lead.email?.toLowerCase(), lead.phone],
  ];
  const { rows } = await pool.query({ ...CREATE, values });
  return [201, { data: rows[0] }];
}

const LEADS = '/api/v1/leads';

async function answer(request) {
  const organization = organizationOf.get(request.headers.authorization?.slice('Bearer '.length));
  if (organization === undefined) return [401, {}];
  const { method, url } = request;
  if (method === 'POST') return create(organization, request);
  if (url.startsWith(`${LEADS}/`)) return get(organization, url.slice(LEADS.length + 1));
  return list(organization, new URLSearchParams(url.slice(LEADS.length + 1)));
}

const server = http.createServer(async (request, response) => {
  const [status, body] = await answer(request).catch((error) => {
    console.error(error);
    return [500, {}];
  });
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': bytes.length,
  });
  response.end(bytes);
});

server.listen(0, '127.0.0.1', () => {
  console.log(`bare server listens on http://127.0.0.1:${server.address().port}`);
});
process.once('SIGTERM', () => process.exit(0));
