import { randomInt, randomUUID } from 'node:crypto';
import {
  displayPrefix,
  generateKey,
  hashKey,
} from '../../../../src/platform/access/api-key-format.js';
import type { Scope } from '../../../../src/platform/access/scopes.js';
import { type Answer, ApiClient } from '../../../../src/testing/api-client.js';
import { SELECT_DUMP_STATEMENT } from '../../../support/database/dump-statement.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  findLeaks,
  CanaryValues,
  type Properties,
  type Secret,
} from '../../../../src/testing/canary-values.js';
import { McpHttpClient } from '../../../../src/testing/mcp-client.js';
import { OpenApiValidator } from '../../../../src/testing/openapi.js';
import { Collector } from '../../../support/servers/collector.js';
import {
  CONSOLE_LINK,
  FIRST_KEY,
  Product,
  type RunningServer,
  until,
} from '../../../support/servers/product.js';
import { sendUntilClosed } from '../../../../src/testing/raw-http.js';
import { type Route, ROUTES, validRequest } from '../../../../src/testing/routes.js';
import { TOOLS, type ToolCase, validArguments } from '../../../support/mcp/tools.js';

type Body = Record<string, unknown>;

/** A request that is sent repeatedly, in every state of the service. */
type Call = () => Promise<Answer>;

/** The message with the keys, which the first start prints between the lines of the log. */
const FIRST_START = /\nYour organization: [^]*?\nhttp.*#key=.*\n/;

const RECORDS = ['leads', 'appointments', 'tasks'] as const;
const inEach = (tables: readonly string[], statement: string) =>
  tables.map((table) => statement.replaceAll('$', table)).join('; ');

/** States of the database in which statements fail. */
const FAILURES: readonly { begin: string; end: string }[] = [
  {
    begin: inEach(
      [...RECORDS, 'api_keys'],
      'alter table $ add constraint refused check (id is null) not valid',
    ),
    end: inEach([...RECORDS, 'api_keys'], 'alter table $ drop constraint refused'),
  },
  ...[RECORDS, ['api_keys']].map((tables) => ({
    begin: inEach(tables, 'alter table $ rename to lost_$'),
    end: inEach(tables, 'alter table lost_$ rename to $'),
  })),
];

const CUT_CONNECTIONS = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

/** The local digits of a phone number that PostgreSQL receives as +1415 and these digits. */
const US_NUMBER = String(randomInt(2_000_000, 10_000_000));

const product = new Product();
let collector: Collector;
const canaries = new CanaryValues();
/** Keys by their role in the tests. */
const keys = {
  unknown: generateKey(),
  poor: generateKey(),
  unseen: generateKey(),
  first: '',
  console: '',
};
const refusals: Answer[] = [];
let server: RunningServer;
let tenant: Tenant;
let taken: Body;
let dump: string;
let log: string;

beforeAll(async () => {
  const limit = '1000000';
  collector = await Collector.start();
  server = await product.start({
    ...collector.environment,
    // No span is dropped.
    OTEL_BSP_MAX_QUEUE_SIZE: limit,
    ...{ LOG_LEVEL: 'trace', RATE_LIMIT_READS_PER_MINUTE: limit },
    RATE_LIMIT_WRITES_PER_MINUTE: limit,
  });
  keys.first = server.printed(FIRST_KEY)!;
  const [link = '', key = ''] = CONSOLE_LINK.exec(server.stdout)?.slice(1) ?? [];
  keys.console = key;
  await new ApiClient(server.url, key).get('/api/v1/keys');
  await fetch(link);
  tenant = await tenantOf(keys.first);
  const email = canaries.email('a taken e-mail');
  taken = {
    first_name: 'A',
    email,
    phone: `+1 (415) ${US_NUMBER.slice(0, 3)}-${US_NUMBER.slice(3)}`,
  };
  await tenant.api.post('/api/v1/leads', taken);
  await Promise.all([addKey(keys.poor, []), addKey(keys.unseen, ['leads:write'])]);

  const calls = await everyCall();
  await make(calls);
  for (const { begin, end } of FAILURES) {
    await product.sql(begin);
    await make(calls);
    await make([() => new ApiClient(server.url, keys.unseen).post('/api/v1/leads', taken)]);
    await product.sql(end);
  }
  let isOver = false;
  const making = make(calls).finally(() => (isOver = true));
  await until(async () => {
    await product.sql(CUT_CONNECTIONS);
    return isOver;
  });
  await making;
  dump = await dumped();
  expect(await server.stop()).toBe(0);
  log = server.stdout.replace(FIRST_START, '') + server.stderr;
});
afterAll(() => Promise.all([product.remove(), collector.stop()]));

describe('after valid and invalid calls of every route and tool, with a working and a failing database', () => {
  it('no error contains a submitted value, a key or the hash of a key', () => {
    const statuses = [200, 400, 401, 403, 404, 409, 413, 415, 431, 500];
    expect(refusals.map(({ status }) => status)).toEqual(expect.arrayContaining(statuses));
    const text = refusals.map(({ body, headers }) => JSON.stringify([body, [...headers]])).join();
    // Errors repeat the names of unknown fields, also those in `fields`, `include` and `clear`. The MCP
    // protocol requires that errors repeat the requested URI.
    const keys = ['data', 'prefer', 'hours', 'exceptions', 'filter'].map(
      (name) => `a key of ${name}`,
    );
    const repeated = [...keys, 'fields', 'include', 'clear', 'uri'].flatMap((name) => [
      `${name} in plain`,
      `${name} in a URL`,
    ]);
    expect(findLeaks(everySecret(), text).sort()).toEqual(repeated.sort());
  });

  it('no log line of the application or of PostgreSQL contains any of these', () => {
    for (const line of [
      '"msg":"request"',
      '"msg":"a database statement failed"',
      '"msg":"the last use of a key was not stored"',
      'ERROR:  duplicate key value violates unique constraint',
      'ERROR:  new row for relation \\"leads\\" violates check constraint',
      'FATAL:  terminating connection due to administrator command',
    ]) {
      expect(log).toContain(line);
    }
    expect(findLeaks(everySecret(), log)).toEqual([]);
    // URLs are not logged either.
    expect(log).not.toMatch(/\?|api_key=/);
  });

  it('no span contains any of these, an id, a path or an address', () => {
    const spans = [...collector.contents];
    for (const name of [
      'POST /api/v1/leads',
      'GET /calendars/:secret.ics',
      'tools/call create_lead',
      'INSERT leads',
      'BATCH',
    ]) {
      expect(spans).toContainEqual(expect.stringContaining(`"name":"${name}"`));
    }
    const text = spans.join('\n');
    expect(findLeaks(everySecret(), text)).toEqual([]);
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-|127\.0\.0\.1|\?/);
  });

  it('a dump of the database contains only the hash and the first characters of a key', () => {
    expect(findLeaks(canaries.secrets, dump)).toContain('a taken e-mail in plain');
    expect(findLeaks(hashesOfKeys(), dump).sort()).toEqual(
      ['console', 'first', 'poor', 'unseen'].map((name) => `hash of the ${name} key in hex`),
    );
    expect(findLeaks(secretsOfKeys(), dump)).toEqual([]);
  });
});

describe('findLeaks', () => {
  const secrets: Secret[] = [{ name: 'it', value: 'Zoë-42' }];

  it.each([
    ['plain', 'x ZOË-42 x'],
    ['a URL', `/x?q=${encodeURIComponent('Zoë-42')}`],
    ['hex', `\\x00${Buffer.from('Zoë-42').toString('hex')}00`],
    ['base64', Buffer.from('Zoë-42').toString('base64')],
    ['base64', Buffer.from('aZoë-42b').toString('base64')],
    ['base64', Buffer.from('abZoë-42bc').toString('base64url')],
    ['numbers', JSON.stringify(Buffer.from('Zoë-42'))],
  ])('finds a secret in %s: %s', (encoding, text) => {
    expect(findLeaks(secrets, text)).toContain(`it in ${encoding}`);
    expect(findLeaks([{ name: 'it', value: 'Zoé-42' }], text)).toEqual([]);
  });
});

/** Makes calls concurrently, and collects the error answers. */
async function make(calls: readonly Call[]): Promise<void> {
  const answers = await Promise.all(calls.map((call) => call().catch(brokenOff)));
  const isRefusal = ({ status, body }: Answer) =>
    status >= 400 || body?.error !== undefined || body?.result?.isError === true;
  refusals.push(...answers.filter((answer) => answer !== undefined).filter(isRefusal));
}

/** A file that cannot be read to its end breaks the connection. */
function brokenOff(error: Error): undefined {
  if (error.message !== 'aborted') throw error;
}

async function everyCall(): Promise<Call[]> {
  const { body: document } = await tenant.api.get('/openapi.json');
  const description = new OpenApiValidator(document);
  const mcp = new McpHttpClient(server.url, keys.first);
  const session = await mcp.openSession();
  const { body } = await mcp.rpc(session, 'tools/list');
  const calls = await Promise.all([
    ...ROUTES.map((route) => callsOf(route, description)),
    ...TOOLS.map((tool) => toolCallsOf(tool, { mcp, session, listed: body.result.tools })),
  ]);
  return [...calls.flat(), ...strayCalls(mcp, session)];
}

async function callsOf(route: Route, description: OpenApiValidator): Promise<Call[]> {
  const { path, body: valid } = await validRequest(route, tenant);
  const { query, body: fields } = description.inputOf(route);
  const bodies = valid ? variantsOf(fields, valid) : [() => undefined];
  const fresh = bodies[0]!;
  const call = (to: string, body: unknown, headers: Record<string, string> = {}) =>
    new ApiClient(server.url).request(route.method, to, {
      body,
      headers: { ...tellingHeaders(), Authorization: `Bearer ${keys.first}`, ...headers },
    });
  return [
    ...bodies.map((body) => () => call(path, body())),
    ...variantsOf(query, {}).map((of) => () => call(`${path}?${queryOf(of())}`, fresh())),
    ...malformedOf(fresh).map((body) => () => call(path, body())),
    () => call(path, fresh() && canaries.text('text'), { 'Content-Type': 'text/plain' }),
    () => call(path, fresh() && canaries.text('a large body').repeat(20_000)),
    () => call(`${path}?api_key=${keys.first}&note=${canaries.text('query')}`, fresh()),
    () => call(path.replace(/[^/]+$/, canaries.text('path')), fresh()),
    ...BAD_CREDENTIALS.map((of) => () => call(path, fresh(), { Authorization: of() })),
  ];
}

async function toolCallsOf(
  tool: ToolCase,
  { mcp, session, listed }: { mcp: McpHttpClient; session: string; listed: ListedTool[] },
): Promise<Call[]> {
  const { name } = tool;
  const { properties } = listed.find((one) => one.name === name)!.inputSchema;
  return variantsOf(properties, await validArguments(tool, tenant)).map(
    (args) => () => mcp.rpc(session, 'tools/call', { name, arguments: args() }),
  );
}

interface ListedTool {
  readonly name: string;
  readonly inputSchema: { readonly properties: Properties };
}

/** Returns valid fields with new canary values, then duplicates, unknown fields and every wrong type. */
function variantsOf(fields: Properties, valid: Body): (() => Body)[] {
  const each = (valueOf: (name: string) => unknown) => () =>
    Object.fromEntries(Object.keys(fields).map((name) => [name, valueOf(name)]));
  // `tags` and `add_tags` exclude each other.
  const { add_tags, remove_tags, ...others } = fields;
  const fresh = () => ({ ...valid, ...canaries.fill(others) });
  return [
    fresh,
    ...['email', 'phone']
      .filter((name) => name in fields)
      .map((name) => () => ({ ...fresh(), [name]: taken[name] })),
    () => ({ ...fresh(), unknown: canaries.text('unknown') }),
    each((name) => canaries.text(name)),
    each((name) => ({ a: canaries.text(name) })),
    each((name) => [canaries.text(name)]),
    each((name) => [[canaries.text(name)]]),
  ];
}

function malformedOf(fresh: () => Body | undefined): (() => string | Uint8Array)[] {
  if (fresh() === undefined) return [];
  const json = () => JSON.stringify(fresh());
  return [
    () => json().slice(0, -2),
    () => `[${json()}]`,
    () => json().replace(/"/g, "'"),
    () => json().replace('{', `{"notes":"${canaries.text('repeated')}","notes":"",`),
    () => json().replace('{', `{"notes":"${canaries.text('lone surrogate')}\\ud800",`),
    () => Buffer.from(json(), 'utf16le'),
    () => `"${canaries.text('a JSON string')}"`,
    () => canaries.text('no JSON'),
  ];
}

const BAD_CREDENTIALS: readonly (() => string)[] = [
  () => '',
  () => `Bearer ${keys.unknown}`,
  () => `Bearer ${keys.poor}`,
  () => `Bearer ${keys.first}x`,
  () => `Bearer ${keys.first}, Bearer ${keys.first}`,
  () => `Bearer ${canaries.text('bearer')}`,
  () => `Basic ${Buffer.from(`${canaries.text('user')}:${keys.first}`).toString('base64')}`,
];

function tellingHeaders(): Record<string, string> {
  return Object.fromEntries(
    ['User-Agent', 'Referer', 'Cookie', 'From', 'X-Forwarded-For', 'Idempotency-Key'].map(
      (name) => [name, canaries.text(name)],
    ),
  );
}

function queryOf(values: Body): string {
  const texts = Object.entries(values).map(([name, value]) => [name, String(value)] as const);
  return new URLSearchParams(Object.fromEntries(texts)).toString();
}

/** A filter whose values are refused, each for another reason. */
function filterOfValues(): string {
  const value = canaries.text('a value of a filter');
  const fields = ['id', 'temperature', 'created_at', 'lead_score', 'sms_opted_out', 'tags'];
  const conditions = fields.flatMap((name) => [{ [name]: value }, { [name]: { in: [value] } }]);
  return JSON.stringify({ or: [...conditions, { not: value }, { appointments: { some: value } }] });
}

/** Returns calls of unknown routes, tools and sessions, and requests that are not HTTP. */
function strayCalls(mcp: McpHttpClient, session: string): Call[] {
  const host = 'Host: a\r\nConnection: close\r\n';
  const port = Number(new URL(server.url).port);
  const raw = (bytes: () => string) => () => sendUntilClosed(port, bytes());
  const inSession = (method: string, params: () => object) => () =>
    mcp.rpc(session, method, params());
  return [
    () => tenant.api.get(`/${canaries.text('path')}/%E0%A4%A`),
    () => tenant.api.get(`/api/v1/${canaries.text('path')}?a=${canaries.text('query')}`),
    () => tenant.api.request('PATCH', `/api/v1/leads/${canaries.text('path')}`),
    () => tenant.api.get(`/api/v1/leads?${queryOf({ filter: filterOfValues() })}`),
    () => tenant.api.get(`/calendars/${canaries.text('path')}.ics`),
    raw(() => `GET /${canaries.text('path')} HTTP/1.1\r\n${host}${canaries.text('line')}\r\n\r\n`),
    raw(() => `${canaries.text('method')} / HTTP/1.1\r\n${host}\r\n`),
    raw(() => `GET / HTTP/1.1\r\n${host}X: ${canaries.text('header').repeat(2_000)}\r\n\r\n`),
    inSession('tools/call', () => ({ name: 'nothing', arguments: { a: canaries.text('a') } })),
    inSession('tools/call', () => ({ name: 'get_lead', arguments: canaries.text('arguments') })),
    inSession('resources/read', () => ({ uri: `lead://${canaries.text('uri')}` })),
    inSession('initialize', () => ({ clientInfo: { name: canaries.text('client') } })),
    () => mcp.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, sessionOf(canaries.text('session'))),
    () => mcp.post(`{"method": "${canaries.text('message')}"`, sessionOf(session)),
    () => mcp.request('GET', { headers: sessionOf(canaries.text('session')) }),
    () => mcp.initialize({}, { Origin: `https://${canaries.text('origin')}.example` }),
  ];
}

function sessionOf(id: string) {
  return { 'Mcp-Session-Id': id };
}

async function tenantOf(key: string): Promise<Tenant> {
  const api = new ApiClient(server.url, key);
  const { body } = await api.get('/api/v1/me');
  return { id: body.data.organization.id, key: { ...body.data.key, key }, api };
}

/** Adds a key to the organization. */
async function addKey(key: string, scopes: readonly Scope[]): Promise<void> {
  await product.sql(
    `insert into api_keys (id, organization_id, name, key_hash, key_start, scopes)
     values ($1, $2, 'k', $3, $4, $5)`,
    [randomUUID(), tenant.id, hashKey(key), displayPrefix(key), scopes],
  );
}

async function dumped(): Promise<string> {
  const [how] = await product.sql<{ statement: string }>(SELECT_DUMP_STATEMENT);
  return JSON.stringify(await product.sql(how!.statement));
}

function everySecret(): Secret[] {
  const phone = { name: 'a taken phone', value: `415${US_NUMBER}` };
  return [...canaries.secrets, phone, ...secretsOfKeys(), ...hashesOfKeys()];
}

/** Returns the secret part of each key, shortened because PostgreSQL truncates quoted values. */
function secretsOfKeys(): Secret[] {
  return Object.entries(keys).map(([name, key]) => ({
    name: `${name} key`,
    value: key.slice(8, 24),
  }));
}

function hashesOfKeys(): Secret[] {
  return Object.entries(keys).map(([name, key]) => ({
    name: `hash of the ${name} key`,
    value: hashKey(key).subarray(0, 16),
  }));
}
