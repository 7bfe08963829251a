import { type Scope, SCOPES } from '../../../src/platform/access/scopes.js';
import { SessionStore } from '../../../src/modules/mcp/sessions/session-store.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import { createLead, expectError, expectInvalid, LEADS } from '../../../src/testing/factories.js';
import { declaredFieldsOf } from '../../support/declared-routes.js';
import { connectTenant } from '../../support/id-positions.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { sessionHeader, McpHttpClient, rpcRequest } from '../../../src/testing/mcp-client.js';
import { rawRequest } from '../../../src/testing/raw-http.js';
import {
  LIST_ROUTES,
  routeName,
  pathOf,
  RECORD_ROUTES,
  ROUTES,
  send,
  validRequest,
} from '../../../src/testing/routes.js';
import { byName, SCOPED_TOOLS } from '../../support/mcp/tools.js';
import { shareOf } from '../../support/share-of.js';

/** Known vulnerabilities of other products. */

const WRITES = ROUTES.filter(({ body }) => body !== undefined).map(
  (route) => [routeName(route), route] as const,
);

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('TypeORM CVE-2025-60542: objects and arrays for scalars', () => {
  /** Operators of query libraries, and values that drivers have used as a column or as SQL. */
  const VALUES: readonly unknown[] = [
    ...[{}, { $ne: null }, { $gt: '' }, { not: null }, { in: ['a'] }, { toString: 'a' }],
    ...[{ '@instanceof': 'FindOperator', _type: 'not', _value: null }, { toPostgres: 'a' }],
    ...[[], ['a'], [['a']], [{}], [null], { length: 1, 0: 'a' }],
  ];

  /** A value that a driver has used as a comparison of the column with itself. */
  const columnOf = (name: string) => ({ [name]: 1 });

  const writes = WRITES.map(([name, route], index) => [name, route, index] as const);

  it.each(writes)('are rejected in every scalar field: %s', async (_, route, index) => {
    const { path, body } = await validRequest(route, tenant);
    const scalars = declaredFieldsOf(route, 'body').filter(
      ({ schema }) => schema.type !== 'array' && schema.type !== 'object',
    );
    const names = scalars.map(({ name }) => name);
    expect(names).not.toEqual([]);
    const inEach = (valueOf: (name: string) => unknown) =>
      Object.fromEntries(names.map((name) => [name, valueOf(name)]));
    const values = shareOf(VALUES, index, 4).map((value) => inEach(() => value));
    for (const given of [...values, inEach(columnOf)]) {
      const answer = await send(tenant.api, route, { path, body: { ...body, ...given } });
      expectInvalid(answer, ...names);
    }
  });

  it.each(LIST_ROUTES.map((route) => [routeName(route), route] as const))(
    'are rejected as query parameters: %s',
    async (_, route) => {
      await route.listed(tenant);
      const path = pathOf(route);
      const suffixes = ['[]', '[0]', '[$ne]', '[not]', '.not', '[_value]'];
      for (const [index, { name }] of declaredFieldsOf(route, 'query').entries()) {
        for (const suffix of shareOf(suffixes, index, 2)) {
          const answer = await tenant.api.get(`${path}?${encodeURIComponent(name + suffix)}=a`);
          expectInvalid(answer, name + suffix);
        }
        const json = encodeURIComponent('{"$ne":null}');
        const { status, body } = await tenant.api.get(`${path}?${name}=${json}`);
        // As text it is a value that no record has.
        if (status !== 400) expect(body.meta.total).toBe(0);
      }
    },
  );

  it.each(RECORD_ROUTES.map((route, index) => [routeName(route), route, index] as const))(
    'are rejected as ids: %s',
    async (_, route, index) => {
      const id = await route.makeRecord(tenant);
      const body = await route.body?.(tenant);
      const texts = ['{"$ne":null}', '[object Object]', `["${id}"]`, `${id},${id}`, `${id}[]`];
      for (const text of shareOf([...texts, `id=${id}`, `${id} or 1=1`], index, 2)) {
        const path = pathOf(route, encodeURIComponent(text));
        expectError(await send(tenant.api, route, { path, body }), 404, 'not_found');
      }
    },
  );
});

describe('class-validator CVE-2019-18413, class-transformer CVE-2020-7637, Nest #16050', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
  const POISONED = '{"first_name":"B","polluted":true,"prototype":{"polluted":true}}';

  /** Properties of the prototypes of objects, arrays and functions. */
  const shared = () =>
    [Object.prototype, Array.prototype, Function.prototype, String.prototype].map((prototype) =>
      Object.getOwnPropertyNames(prototype),
    );
  const before = shared();

  afterEach(() => {
    expect(shared()).toEqual(before);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  it.each(NAMES.map((name, index) => [name, index] as const))(
    '%s is an unknown field and does not prevent the validation of others',
    async (name, nameIndex) => {
      const routes = WRITES.filter((__, index) => index % NAMES.length === nameIndex);
      for (const [, route] of routes) {
        const { path, body } = await validRequest(route, tenant);
        const field = Object.keys(body!).find((one) => typeof body![one] === 'string')!;
        const text = JSON.stringify({ ...body, [field]: { a: 1 } }).slice(0, -1);
        const poisoned = `${text},"${name}":${POISONED}}`;
        expectInvalid(
          await tenant.api.request(route.method, path, { body: poisoned }),
          field,
          name,
        );
      }
    },
  );

  it.each(NAMES)('%s is rejected as a scalar and as a list', async (name) => {
    const inside = `{"${name}":${POISONED}}`;
    const body = `{"first_name":${inside},"tags":[${inside}],"email":[${inside}]}`;
    expectInvalid(await tenant.api.post(LEADS, body), 'first_name', 'tags', 'email');
  });

  it.each(NAMES)('%s is a normal key at every depth of custom_fields', async (name) => {
    const nested = (depth: number): string =>
      depth === 0 ? '{"polluted":true}' : `{"${name}":${nested(depth - 1)}}`;
    for (const depth of [1, 2, 7]) {
      const body = `{"first_name":"A","custom_fields":${nested(depth)}}`;
      const posted = await tenant.api.post(LEADS, body);
      expect(posted.status).toBe(201);
      const text = `"custom_fields":${nested(depth)}`;
      expect(JSON.stringify(posted.body)).toContain(text);
      const put = await tenant.api.put(`${LEADS}/${posted.body.data.id}`, body);
      expect(JSON.stringify(put.body)).toContain(text);
    }
  });

  it.each(NAMES)('%s is an unknown query parameter', async (name) => {
    const bracketed = ['', '[polluted]', '[prototype][polluted]', '.polluted'];
    for (const parameter of bracketed.map((end) => name + end)) {
      expectInvalid(await tenant.api.get(`${LEADS}?${parameter}=1`), parameter);
    }
  });

  it.each(NAMES)('%s is rejected in arguments and messages of /mcp', async (name) => {
    const party = await connectTenant(app, tenant);
    const poison = JSON.parse(`{"${name}":${POISONED}}`) as object;
    const args = JSON.parse(`{"first_name":"A","${name}":${POISONED}}`) as object;
    const { body } = await party.rpc('tools/call', { name: 'create_lead', arguments: args });
    expect(body.result._meta['latitude/error'].details).toMatchObject([{ field: name }]);
    expect((await party.rpc('tools/call', { name, arguments: poison })).body.error.code).toBe(
      -32602,
    );
    expect((await party.rpc(name, poison)).body.error.code).toBe(-32601);
    expect((await party.rpc('ping', poison)).body.result).toEqual({});
  });
});

describe('qs CVE-2025-15284: limits that other notations bypass', () => {
  it.each([
    ['brackets', 'a[]=1', 1_001],
    ['indices', 'a[0]=1', 1_001],
    ['one name', 'a=1', 1_001],
    ['nothing but separators', '', 14_000],
  ])('apply to %s', async (_, parameter, count) => {
    const query = Array<string>(count).fill(parameter).join('&');
    const answer = await tenant.api.get(`${LEADS}?${query}`);
    if (parameter === '') expect(answer.status).toBe(200);
    else expectError(answer, 400, 'validation_error');
    expect(JSON.stringify(answer.body).length).toBeLessThan(20_000);
  });

  it('apply to a list in one value, because commas and brackets have no meaning', async () => {
    await createLead(tenant.api, { status: 'new' });
    for (const status of ['new,won', '[new]', 'new[]', '{new}']) {
      const answer = await tenant.api.get(`${LEADS}?status=${encodeURIComponent(status)}`);
      expect(answer).toMatchObject({ status: 200, body: { meta: { total: 0 } } });
    }
    const many = `${LEADS}?status=${'a,'.repeat(7_000)}`;
    expectInvalid(await tenant.api.get(many), 'status');
  });

  it('apply to 100,000 parameters, and the next request is served', async () => {
    const path = `${LEADS}?${'a[]=1&'.repeat(100_000)}`;
    const headers = ['Host', 'a', 'Authorization', `Bearer ${tenant.key.key}`];
    const answer = await rawRequest(app.port, { method: 'GET', path, headers });
    expectEnvelope(answer, { status: 431, code: 'bad_request' });
    expect(await tenant.api.get(LEADS)).toMatchObject({ status: 200 });
  });

  it('apply to form data, which no route accepts', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await tenant.api.post(LEADS, 'first_name[]=A&'.repeat(10_000), { headers });
    expectError(answer, 415, 'unsupported_media_type');
  });
});

describe('Directus CVE-2026-35412: a missing check on a second interface', () => {
  type Party = Awaited<ReturnType<typeof connectTenant>>;
  const parties = new Map<string, Promise<Party>>();

  /** A caller with these scopes. */
  function partyWith(scopes: readonly Scope[]): Promise<Party> {
    const connect = async () => connectTenant(app, await app.key(tenant.id, scopes));
    const party = parties.get(scopes.join()) ?? connect();
    parties.set(scopes.join(), party);
    return party;
  }

  it.each(byName(SCOPED_TOOLS))('REST and /mcp require the same scope: %s', async (name, tool) => {
    const { route, scope, scopes: further = [], makeRecord } = tool;
    const id = await makeRecord?.(tenant);
    const scheme = name.replace(/^get_/, '');
    const isResource = name.startsWith('get_');
    const others = SCOPES.filter((one) => one !== scope);
    for (const scopes of [others, [scope, ...further]]) {
      const isRefused = scopes === others;
      const party = await partyWith(scopes);
      const rest = await send(party.api, route, { path: pathOf(route, id) });
      // Without arguments, so that a call with the scope is rejected and changes nothing.
      const tools = await party.rpc('tools/call', { name, arguments: {} });
      const code = tools.body.result._meta?.['latitude/error'].code as string | undefined;
      const refusals = { rest: rest.status === 403, tools: code === 'insufficient_scope' };
      expect(refusals).toEqual({ rest: isRefused, tools: isRefused });
      if (!isResource) continue;
      const read = await party.rpc('resources/read', { uri: `${scheme}://${id!}` });
      expect(read.body.error?.data.code).toBe(isRefused ? 'insufficient_scope' : undefined);
    }
  });
});

describe('MCP SDK CVE-2026-25536: a response is sent to another client', () => {
  const CALL = { name: 'list_leads', arguments: {} };

  /** Organizations with one lead and one session each, on the same process. */
  async function callers() {
    const tenants = await Promise.all([app.organization(), app.organization()]);
    return Promise.all(
      tenants.map(async (owner) => {
        const { id } = await createLead(owner.api);
        const caller = new McpHttpClient(app.url, owner.key.key);
        return {
          caller,
          key: owner.key.key,
          lead: id,
          session: await caller.openSession('2025-06-18'),
        };
      }),
    );
  }

  it('does not happen with equal JSON-RPC ids of concurrent requests', async () => {
    const both = await callers();
    const asked = Array.from({ length: 60 }, (_, n) => ({ ...both[n % 2]!, id: n >> 1 }));
    const answers = await Promise.all(
      asked.map(({ caller, session, id }) => caller.rpc(session, 'tools/call', CALL, id)),
    );
    const found = answers.map(({ body }) => {
      return { id: body.id as unknown, lead: body.result.structuredContent.data[0].id as unknown };
    });
    expect(found).toEqual(asked.map(({ id, lead }) => ({ id, lead })));
  });

  it('does not happen if one client disconnects before its response', async () => {
    const [one, other] = await callers();
    const abort = new AbortController();
    const left = Array.from({ length: 20 }, () =>
      fetch(`${app.url}/mcp`, {
        method: 'POST',
        signal: abort.signal,
        headers: {
          Authorization: `Bearer ${one!.key}`,
          Accept: 'application/json, text/event-stream',
          'Content-Type': 'application/json',
          ...sessionHeader(one!.session),
        },
        body: JSON.stringify(rpcRequest('tools/call', CALL, 1)),
      }).catch(() => undefined),
    );
    const asked = Array.from({ length: 20 }, () =>
      other!.caller.rpc(other!.session, 'tools/call', CALL, 1),
    );
    abort.abort();
    for (const { body } of await Promise.all(asked)) {
      expect(body.result.structuredContent.data).toMatchObject([{ id: other!.lead }]);
    }
    await Promise.all(left);
  });

  it('does not happen on streams, which have their own events and event ids', async () => {
    const both = await callers();
    const streams = await Promise.all(
      both.map(({ caller, session }) => caller.openStream(session)),
    );
    const sessions = both.map(({ session }) => {
      return [...app.app.get(SessionStore).all()].find(({ id }) => id === session)!;
    });
    for (let round = 1; round <= 3; round++) {
      for (const [n, session] of sessions.entries()) session.notify(`notifications/${n}/${round}`);
    }
    for (const [n, stream] of streams.entries()) {
      for (let round = 1; round <= 3; round++) {
        const message = { jsonrpc: '2.0', method: `notifications/${n}/${round}` };
        expect(await stream.nextMessage()).toEqual({ id: String(round), message });
      }
      stream.disconnect();
    }
  });
});
