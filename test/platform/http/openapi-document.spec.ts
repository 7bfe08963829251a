import { rmSync } from 'node:fs';
import { ERROR_CATALOGUE, type ErrorCode } from '../../../src/platform/errors/error-catalogue.js';
import type { JsonSchema } from '../../../src/platform/fields/schema/json-schema.js';
import type { OpenApiDocument } from '../../../src/platform/http/openapi/model.js';
import { createLead, dataOf, expectInvalid, LEADS } from '../../../src/testing/factories.js';
import { OpenApiValidator } from '../../../src/testing/openapi.js';
import { rawRequest, sendUntilClosed } from '../../../src/testing/raw-http.js';
import {
  ALL_ROUTES,
  OPERATOR_ROUTES,
  routeName,
  ROUTES,
  send,
  validRequest,
} from '../../../src/testing/routes.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { documentOf, expectDescribed, lint, routeOf } from '../../support/openapi.js';
import { Product } from '../../support/servers/product.js';

let app: TestServer;
let tenant: Tenant;
let description: OpenApiValidator;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  description = new OpenApiValidator(await documentOf(app));
});
afterAll(() => app.stop());

describe('GET /openapi.json', () => {
  it('needs no key and has no rate limit', async () => {
    const { status, headers, body } = await app.client('lat_wrong').get('/openapi.json?x=1');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Latitude' } });
  });

  it('answers HEAD and no other method', async () => {
    expect((await app.client().request('HEAD', '/openapi.json')).status).toBe(200);
    const posted = await app.client().post('/openapi.json', {});
    expect(posted.status).toBe(404);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });

  it('returns what `latitude openapi` prints without a database', async () => {
    const product = new Product();
    const unreachable = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' };
    const { code, stdout } = await product.run('cli.js', ['openapi'], unreachable);
    rmSync(product.dataDir, { recursive: true });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ...description.document,
      servers: [{ url: 'http://127.0.0.1:3000', description: expect.any(String) }],
    });
  });

  it('names the URL of the request as the server', async () => {
    expect(description.document.servers).toMatchObject([{ url: app.url }]);
    const { headers, body } = await app.client().get('/openapi.json');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(body).toMatchObject({ servers: [{ url: app.url }] });
  });

  it.each([
    ['api.example.com', 'http://api.example.com'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['LOCALHOST:80', 'http://localhost'],
  ])('uses the host %s for the URL', async (host, url) => {
    expect(await serverUrlFor(['Host', host])).toBe(url);
  });

  it.each(['a"b', 'name@example.com', 'example.com/x', 'a b', ':x', ''])(
    'names the local URL if the Host is invalid: %j',
    async (host) => {
      expect(await serverUrlFor(['Host', host])).toBe(app.url);
    },
  );

  it('names the local URL if an HTTP/1.0 request has no Host', async () => {
    const { body } = await sendUntilClosed(app.port, 'GET /openapi.json HTTP/1.0\r\n\r\n');
    expect(body).toMatchObject({ servers: [{ url: app.url }] });
  });

  it('uses X-Forwarded-Proto and X-Forwarded-Host of a trusted proxy only', async () => {
    const forwarded = [
      ...['Host', 'inside'],
      ...['X-Forwarded-Proto', 'https'],
      ...['X-Forwarded-Host', 'api.example'],
    ];
    expect(await serverUrlFor(forwarded)).toBe('http://inside');
    const behind = await TestApp.start({ settings: { trustProxy: 1 } });
    expect(await serverUrlFor(forwarded, behind)).toBe('https://api.example');
    await behind.stop();
  });
});

describe('the OpenAPI document', () => {
  it('has no error and no warning of Redocly', async () => {
    expect(await lint(description.document)).toEqual([]);
  });

  it('contains every route that requires a key, and none of the pages', () => {
    const names = description.operations.map(([name]) => name).sort();
    const named = [...ALL_ROUTES, ...OPERATOR_ROUTES].map((route) =>
      routeName(route).replaceAll(/:(\w+)/g, '{$1}'),
    );
    expect(names).toEqual(named.sort());
  });

  it('has unique operation ids, including the published ones', () => {
    const ids = description.operations.map(([, { operationId }]) => operationId);
    const published = [
      ...['List', 'Get', 'Create', 'Update', 'Cancel'].map((name) => `appointments${name}`),
      ...['List', 'Get', 'Create', 'Update', 'Delete'].map((name) => `leads${name}`),
      ...['List', 'Get', 'Create', 'Update', 'Delete'].map((name) => `tasks${name}`),
      'meGet',
    ];
    expect(ids).toEqual(expect.arrayContaining(published));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(ROUTES.map((route) => [routeName(route), route] as const))(
    'describes the scope, the summary, the body and the path of %s',
    (_, route) => {
      const operation = description.operationOf(route);
      const scope = route.access === 'any-key' ? undefined : route.access;
      expect(operation['x-required-scope']).toBe(scope);
      expect(operation.description).toContain(scope ?? 'any valid key');
      expect(operation.security).toEqual([{ apiKey: [] }]);
      expect(operation.summary).toMatch(/^[A-Z][a-z]+ [a-z ]+$/);
      expect(operation.requestBody !== undefined).toBe(route.body !== undefined);
      const ids = operation.parameters?.filter((parameter) => parameter.in === 'path') ?? [];
      expect(ids.map(({ name }) => name)).toEqual(route.makeRecord ? ['id'] : []);
    },
  );

  it('has a description and a valid example of every tag, field and parameter', () => {
    const { tags, components } = description.document;
    const parameters = description.operations.flatMap(
      ([, operation]) => operation.parameters ?? [],
    );
    const properties = Object.entries(components.schemas)
      .filter(([name]) => !['Error', 'PageMeta'].includes(name))
      .flatMap(([, schema]) => Object.values((schema as JsonSchema).properties ?? {}));
    const undescribed = [...tags, ...parameters, ...properties].filter(
      (one) => !/^[A-Z].*\.$/s.test((one as { description?: string }).description ?? ''),
    );
    expect(undescribed).toEqual([]);
    expect(properties.filter((property) => !('examples' in property))).toEqual([]);
    const examples = description.examples();
    expect(examples.length).toBeGreaterThan(150);
    // The same fields and responses are in many places.
    const distinct = new Map(examples.map((example) => [JSON.stringify(example), example]));
    const faulty = [...distinct.values()].filter(
      ({ schema, value }) => description.schemaErrors(schema, value).length,
    );
    expect(faulty).toEqual([]);
  });

  it('has an example of every parameter', () => {
    const parameters = description.operations.flatMap(
      ([, operation]) => operation.parameters ?? [],
    );
    expect(parameters.filter((parameter) => !('example' in parameter))).toEqual([]);
  });

  it.each(ROUTES.map((route) => [routeName(route), route] as const))(
    'has examples of parameters that the API accepts: %s',
    async (_, route) => {
      const { parameters = [] } = description.operationOf(route);
      const examplesIn = (place: 'query' | 'header') =>
        parameters
          .filter((parameter) => parameter.in === place)
          .map(({ name, example }): [string, string] => [name, String(example)]);
      const owner = await app.organization();
      const request = await validRequest(route, owner);
      const headers = Object.fromEntries(examplesIn('header'));
      const all = examplesIn('query');
      const without = (...left: string[]) => all.filter(([name]) => !left.includes(name));
      const cursors = ['after', 'before'];
      const isBoth = ['page', ...cursors].every((name) => all.some(([one]) => one === name));
      // The parameters of page numbers are not given together with a cursor, nor one cursor with the other.
      const ways = isBoth
        ? [
            without(...cursors),
            ...cursors.map((cursor) => without(cursor, 'page', 'sort_by', 'sort_dir')),
          ]
        : [all];
      for (const given of ways) {
        const query = new URLSearchParams(given).toString();
        const path = query ? `${request.path}?${query}` : request.path;
        const answer = await send(owner.api, route, { ...request, path }, headers);
        expect(answer.status).toBeLessThan(300);
      }
    },
  );

  it('has no defaults in request schemas, because generators make such fields required', () => {
    for (const [name, schema] of Object.entries(description.document.components.schemas)) {
      const { properties = {} } = schema as JsonSchema;
      const having = Object.keys(properties).filter((field) => 'default' in properties[field]!);
      expect([name, having]).toEqual([name, []]);
    }
    const { CreateLead } = description.document.components.schemas;
    expect((CreateLead as JsonSchema).properties?.source?.description).toMatch(
      / Default: `api`\.$/,
    );
  });

  it.each([
    ['email', 'jörg@bücher.example'],
    ['email', '"a:b"@example.com'],
    ['custom_fields', { n: 2 ** 53, deep: { n: -(2 ** 53) } }],
  ])('accepts a value of %s that the API accepts: %j', async (field, value) => {
    const body = { first_name: 'Ada', [field]: value };
    const { CreateLead } = description.document.components.schemas;
    expect(description.schemaErrors(CreateLead!, body)).toEqual([]);
    const answer = await tenant.api.post(LEADS, body);
    expect(answer.status).toBe(201);
    expectDescribed(description, routeOf('POST', LEADS), answer);
  });

  it.each([
    ['custom_fields', { n: 2 ** 53 + 2 }],
    ['custom_fields', { n: -1e300 }],
  ])('rejects a value of %s that the API rejects: %j', async (field, value) => {
    const body = { first_name: 'Ada', [field]: value };
    const { CreateLead } = description.document.components.schemas;
    expect(description.schemaErrors(CreateLead!, body)).not.toEqual([]);
    expectInvalid(await tenant.api.post(LEADS, body), field);
  });

  it.each(ROUTES.filter(({ body }) => body).map((route) => [routeName(route), route] as const))(
    'has examples of bodies that the API accepts: %s',
    async (_, route) => {
      const { content } = description.operationOf(route).requestBody!;
      for (const example of Object.values(content['application/json']!.examples!)) {
        const { value } = example as { value: object };
        const owner = await app.organization();
        const { id } = await createLead(owner.api);
        const links = Object.keys(value).filter((name) => /^(lead|contact)_id$/.test(name));
        const made = await owner.api.post('/api/v1/resources', { name: 'Crew 1' });
        const resource = 'resource_id' in value && {
          resource_id: dataOf<{ id: string }>(made, 201).id,
        };
        const body = {
          ...value,
          ...Object.fromEntries(links.map((link) => [link, id])),
          ...resource,
        };
        const { path: own } = await validRequest(route, owner);
        expect((await send(owner.api, route, { path: own, body })).status).toBeLessThan(300);
      }
    },
  );

  it('has the status and retryable of every error code', () => {
    const responses = description.operations.flatMap(([, operation]) =>
      Object.entries(operation.responses),
    );
    const wrong = responses.flatMap(([status, response]) =>
      Object.entries(description.errorsIn(response)).filter(([code, { retryable }]) => {
        const { [code as ErrorCode]: expected } = ERROR_CATALOGUE;
        const statuses = [expected.status, ...(code === 'bad_request' ? [408, 417, 431] : [])];
        return !statuses.includes(Number(status)) || retryable !== expected.retryable;
      }),
    );
    expect(wrong).toEqual([]);
  });
});

/** Requests the document with these headers and returns the URL of its server. */
async function serverUrlFor(headers: string[], of = app): Promise<string | undefined> {
  const request = { method: 'GET', path: '/openapi.json', headers };
  const { body } = await rawRequest(of.port, request);
  return (body as OpenApiDocument).servers[0]?.url;
}
