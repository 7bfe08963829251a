// The common part of the hand-written servers: HTTP, routes and keys, without validation, rate limits,
// request ids, log or row-level security.
import http from 'node:http';
import { v7 as uuidv7 } from 'uuid';

const LEADS = '/api/v1/leads';
const HEADERS = { 'Content-Type': 'application/json; charset=utf-8' };

/** The score that Latitude computes for every lead of the benchmark. */
const LEAD_SCORE = 70;

export const LEAD = words(`id first_name last_name phone email company address_street city state zip
  status temperature source notes tags custom_fields sms_opted_out on_dnc_list external_id lead_score created_at
  updated_at`);
export const LIST_ITEM = words(`id first_name last_name phone email status temperature lead_score
  company created_at updated_at`);
export const NOT_DELETED = 'organization_id = $1 and deleted_at is null';
export const SEARCHED = `${NOT_DELETED} and search_text like $4`;
export const NEWEST_FIRST = 'order by created_at desc, id desc limit $2 offset $3';

export const INSERT = `insert into leads (organization_id, id, first_name, last_name, phone, email,
    company, address_street, city, state, zip, status, temperature, source, notes, tags,
    custom_fields, sms_opted_out, on_dnc_list, lead_score, email_compared, phone_compared,
    search_text)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
    $20, $21, $22, lower(concat_ws(' ', $5::text, $6::text, $7::text, $3::text, $4::text)))`;

function words(text) {
  return text.split(/\s+/);
}

/** @returns the values of `INSERT` */
export function valuesOfNew(organization, lead) {
  return [
    ...[organization, uuidv7(), lead.first_name, lead.last_name, lead.phone, lead.email],
    ...[lead.company, lead.address_street, lead.city, lead.state, lead.zip, lead.status],
    ...[lead.temperature, lead.source ?? 'api', lead.notes, lead.tags ?? []],
    ...[lead.custom_fields ?? {}, lead.sms_opted_out ?? false, lead.on_dnc_list ?? false],
    ...[LEAD_SCORE, lead.email?.toLowerCase(), lead.phone],
  ];
}

/** @returns an UPDATE of these fields. Parameters: $1 organization, $2 lead id, then the values. */
export function updateOf(fields) {
  const changes = fields.filter((field) => LEAD.includes(field));
  const set = changes.map((field, index) => `${field} = $${index + 3}, `).join('');
  return `update leads set ${set}updated_at = date_trunc('milliseconds', now())
    where ${NOT_DELETED} and id = $2`;
}

/**
 * Serves the lead routes over HTTP.
 * @param handlers `get`, `list`, `create` and `update`, which resolve to the JSON of a response, or to
 *   undefined if the lead does not exist; `update` also receives the query of the URL
 */
export function serve(name, organizationOf, handlers) {
  const handle = async (request) => {
    const organization = organizationOf.get(request.headers.authorization?.slice(7));
    if (organization === undefined) return [401, '{}'];
    const { method, url } = request;
    const rest = url.slice(LEADS.length + 1);
    if (method === 'POST') return [201, await handlers.create(organization, await bodyOf(request))];
    if (!url.startsWith(`${LEADS}/`)) return [200, await list(handlers, organization, rest)];
    const [id, query] = rest.split('?');
    const json =
      method === 'PUT'
        ? await handlers.update(organization, id, await bodyOf(request), query)
        : await handlers.get(organization, id);
    return json === undefined ? [404, '{}'] : [200, json];
  };
  const server = http.createServer(async (request, response) => {
    const [status, json] = await handle(request).catch((error) => {
      console.error(error);
      return [500, '{}'];
    });
    const bytes = Buffer.from(json);
    response.writeHead(status, { ...HEADERS, 'Content-Length': bytes.length });
    response.end(bytes);
  });
  server.listen(0, '127.0.0.1', () => {
    console.log(`${name} listens on http://127.0.0.1:${server.address().port}`);
  });
  process.once('SIGTERM', () => process.exit(0));
}

function list(handlers, organization, query) {
  const parameters = new URLSearchParams(query);
  const page = Number(parameters.get('page') ?? 1);
  const limit = Number(parameters.get('limit') ?? 50);
  const search = parameters.get('search') ?? undefined;
  const counted = parameters.get('total') !== 'no';
  const values = [organization, limit, (page - 1) * limit];
  if (search !== undefined) {
    values.push(`%${search.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
  }
  return handlers.list({ values, page, limit, counted, searched: search !== undefined });
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** @returns the `meta` of a list, with the total only if the list is counted */
export function metaOf({ page, limit, counted }, total) {
  return counted ? { page, limit, total, total_pages: Math.ceil(total / limit) } : { page, limit };
}
