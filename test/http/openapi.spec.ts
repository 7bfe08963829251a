import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Body, Controller, Get, Module, Param, Post } from '@nestjs/common';
import { generateKey } from '../../src/auth/api-key-format.js';
import { AnyKey, RequireScope } from '../../src/auth/access.js';
import { SCOPES } from '../../src/auth/scopes.js';
import { Load } from '../../src/database/gateway/load.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/errors/error-catalogue.js';
import { Answers } from '../../src/fields/answers.js';
import { DeletedDto } from '../../src/fields/deleted.dto.js';
import type { JsonSchema } from '../../src/fields/json-schema.js';
import { Text } from '../../src/fields/kinds.js';
import type { OpenApiDocument } from '../../src/http/openapi/model.js';
import type { Answer } from '../../src/testing/api-client.js';
import { checkAnswer } from '../../src/testing/described-answers.js';
import { buildLead, createLead, expectInvalid, LEADS } from '../../src/testing/factories.js';
import { TestApp, type Tenant } from '../../src/testing/test-app.js';
import { ApiDescription } from '../../src/testing/openapi.js';
import { Product } from '../support/product.js';
import { rawRequest, untilClosed } from '../../src/testing/raw-http.js';
import {
  nameOf,
  pathOf,
  RECORD_ROUTES,
  type Route,
  ROUTES,
  send,
  validRequest,
} from '../../src/testing/routes.js';

const REDOCLY = path.resolve(__dirname, '../../node_modules/@redocly/cli/bin/cli.js');

let app: TestApp;
let tenant: Tenant;
let description: ApiDescription;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  description = new ApiDescription(await documentOf(app));
});
afterAll(() => app.stop());

async function documentOf(of: TestApp): Promise<OpenApiDocument> {
  return (await of.client().get('/openapi.json')).body as OpenApiDocument;
}

function expectDescribed(route: Route, answer: Answer): void {
  expect({
    answer: answer.body as unknown,
    differences: description.differences(route, answer),
  }).toEqual({ answer: answer.body as unknown, differences: [] });
}

describe('/openapi.json', () => {
  it('is answered to everyone, without a key or a limit', async () => {
    const { status, headers, body } = await app.client('lat_wrong').get('/openapi.json?x=1');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Latitude' } });
  });

  it('answers HEAD, and no other method', async () => {
    expect((await app.client().request('HEAD', '/openapi.json')).status).toBe(200);
    const posted = await app.client().post('/openapi.json', {});
    expect(posted.status).toBe(404);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });

  it('is what `latitude openapi` prints, without a database', async () => {
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

  it('names the address by which it was asked for', async () => {
    expect(description.document.servers).toMatchObject([{ url: app.url }]);
    const { headers, body } = await app.client().get('/openapi.json');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(body).toMatchObject({ servers: [{ url: app.url }] });
  });

  it.each([
    ['api.example.com', 'http://api.example.com'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['LOCALHOST:80', 'http://localhost'],
  ])('takes the host %s for its address', async (host, url) => {
    expect(await serverSeenAt(['Host', host])).toBe(url);
  });

  it.each(['a"b', 'name@example.com', 'example.com/x', 'a b', ':x', ''])(
    'names its own address where the host is none: %j',
    async (host) => {
      expect(await serverSeenAt(['Host', host])).toBe(app.url);
    },
  );

  it('names its own address to HTTP/1.0, which knows no host', async () => {
    const { body } = await untilClosed(app.port, 'GET /openapi.json HTTP/1.0\r\n\r\n');
    expect(body).toMatchObject({ servers: [{ url: app.url }] });
  });

  it('heeds what a proxy tells where it is trusted', async () => {
    const forwarded = [
      ...['Host', 'inside'],
      ...['X-Forwarded-Proto', 'https'],
      ...['X-Forwarded-Host', 'api.example'],
    ];
    expect(await serverSeenAt(forwarded)).toBe('http://inside');
    const behind = await TestApp.start({ settings: { trustProxy: 1 } });
    expect(await serverSeenAt(forwarded, behind)).toBe('https://api.example');
    await behind.stop();
  });
});

describe('the OpenAPI document', () => {
  it('is accepted by @redocly/cli without an error or a warning', () => {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-openapi-'));
    const file = path.join(directory, 'openapi.json');
    writeFileSync(file, JSON.stringify(description.document));
    const env = {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    };
    const args = [REDOCLY, 'lint', '--format=json', file];
    const { stdout } = spawnSync(process.execPath, args, { env, cwd: directory });
    rmSync(directory, { recursive: true });
    expect(JSON.parse(stdout.toString())).toMatchObject({ problems: [] });
  });

  it('holds every route behind a key, and no page', () => {
    const names = description.operations.map(([name]) => name).sort();
    expect(names).toEqual(ROUTES.map((route) => nameOf(route).replace(':id', '{id}')).sort());
  });

  it('names each operation once, by names that clients rely on', () => {
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

  it.each(ROUTES.map((route) => [nameOf(route), route] as const))(
    'tells of %s what a key needs, what it does and what it takes',
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

  it('describes every tag, field and parameter, and gives a valid example of each', () => {
    const { tags, components } = description.document;
    const parameters = description.operations.flatMap(
      ([, operation]) => operation.parameters ?? [],
    );
    const properties = Object.entries(components.schemas)
      .filter(([name]) => !['Error', 'PageMeta'].includes(name))
      .flatMap(([, schema]) => Object.values((schema as JsonSchema).properties ?? {}));
    for (const described of [...tags, ...parameters, ...properties]) {
      expect(described).toHaveProperty('description', expect.stringMatching(/^[A-Z].*\.$/));
    }
    for (const property of properties) expect(property).toHaveProperty('examples');
    const examples = description.examples();
    expect(examples.length).toBeGreaterThan(150);
    const faulty = examples.filter(({ schema, value }) => description.faults(schema, value).length);
    expect(faulty).toEqual([]);
  });

  it('gives every parameter an example', () => {
    const parameters = description.operations.flatMap(
      ([, operation]) => operation.parameters ?? [],
    );
    for (const parameter of parameters) expect(parameter).toHaveProperty('example');
  });

  it.each(ROUTES.map((route) => [nameOf(route), route] as const))(
    'gives examples of parameters that work: %s',
    async (_, route) => {
      const { parameters = [] } = description.operationOf(route);
      const examplesIn = (place: 'query' | 'header') =>
        parameters
          .filter((parameter) => parameter.in === place)
          .map(({ name, example }): [string, string] => [name, String(example)]);
      const owner = await app.organization();
      const request = await validRequest(route, owner);
      const query = new URLSearchParams(examplesIn('query')).toString();
      const path = query ? `${request.path}?${query}` : request.path;
      const headers = Object.fromEntries(examplesIn('header'));
      const answer = await send(owner.api, route, { ...request, path }, headers);
      expect(answer.status).toBeLessThan(300);
    },
  );

  it('gives no field of a request a default, which generators take for a field that is required', () => {
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
    ['email', '"a b"@example.com'],
    ['custom_fields', { n: 2 ** 53, deep: { n: -(2 ** 53) } }],
  ])('accepts what the API takes and answers as %s: %j', async (field, value) => {
    const body = { first_name: 'Ada', [field]: value };
    const { CreateLead } = description.document.components.schemas;
    expect(description.faults(CreateLead!, body)).toEqual([]);
    const answer = await tenant.api.post(LEADS, body);
    expect(answer.status).toBe(201);
    expectDescribed(routeOf('POST', LEADS), answer);
  });

  it.each([
    ['custom_fields', { n: 2 ** 53 + 2 }],
    ['custom_fields', { n: -1e300 }],
  ])('refuses what the API refuses as %s: %j', async (field, value) => {
    const body = { first_name: 'Ada', [field]: value };
    const { CreateLead } = description.document.components.schemas;
    expect(description.faults(CreateLead!, body)).not.toEqual([]);
    expectInvalid(await tenant.api.post(LEADS, body), field);
  });

  it.each(ROUTES.filter(({ body }) => body).map((route) => [nameOf(route), route] as const))(
    'gives examples that the API takes: %s',
    async (_, route) => {
      const { content } = description.operationOf(route).requestBody!;
      for (const { value } of Object.values(content['application/json'].examples!)) {
        const owner = await app.organization();
        const { id } = await createLead(owner.api);
        const links = Object.keys(value as object).filter((name) =>
          /^(lead|contact)_id$/.test(name),
        );
        const body = {
          ...(value as object),
          ...Object.fromEntries(links.map((link) => [link, id])),
        };
        const { path: own } = await validRequest(route, owner);
        expect((await send(owner.api, route, { path: own, body })).status).toBeLessThan(300);
      }
    },
  );

  it('gives each error the status of its code, and says whether it is retryable', () => {
    const responses = description.operations.flatMap(([, operation]) =>
      Object.entries(operation.responses),
    );
    for (const [status, response] of responses) {
      for (const [code, { retryable }] of Object.entries(description.errorsIn(response))) {
        const { [code as ErrorCode]: expected } = ERROR_CATALOGUE;
        const statuses = [expected.status, ...(code === 'bad_request' ? [408, 417, 431] : [])];
        expect(statuses).toContain(Number(status));
        expect(retryable).toBe(expected.retryable);
      }
    }
  });
});

describe('what the API answers', () => {
  it.each(ROUTES.map((route) => [nameOf(route), route] as const))(
    'is described: %s',
    async (_, route) => {
      const request = await validRequest(route, tenant);
      await route.listed?.(tenant);
      const answer = await send(tenant.api, route, request);
      expect(answer.status).toBeLessThan(300);
      expectDescribed(route, answer);
    },
  );

  it('is described where nothing is set, and where everything is', async () => {
    const get = routeOf('GET', `${LEADS}/:id`);
    for (const body of [{}, buildLead()]) {
      const { id } = await createLead(tenant.api, body);
      expectDescribed(get, await tenant.api.get(`${LEADS}/${id}`));
    }
    const expiring = await app.key(tenant.id, SCOPES, { expiresAt: new Date(Date.now() + 60_000) });
    expectDescribed(routeOf('GET', '/api/v1/me'), await expiring.api.get('/api/v1/me'));
  });
});

describe('an answer to any test', () => {
  const answer = (changes: Partial<Answer>): Answer => ({
    status: 200,
    headers: new Headers({
      'Content-Type': 'application/json; charset=utf-8',
      'X-Request-Id': 'x',
      'RateLimit-Limit': '60',
      'RateLimit-Remaining': '59',
      'RateLimit-Reset': '1767630060',
    }),
    body: { data: { id: randomUUID(), deleted: true } },
    ...changes,
  });
  const held = (changes: Partial<Answer>) => () => {
    checkAnswer(app.port, 'DELETE', `${LEADS}/${randomUUID()}?x=1`, answer(changes));
  };

  it('passes where the document describes it', () => {
    expect(held({})).not.toThrow();
  });

  it.each([
    ['a status', { status: 202 }, '202 is not described'],
    ['a field', { body: { data: { id: randomUUID(), deleted: true, more: 1 } } }, 'more'],
    ['a content type', { headers: new Headers({ 'Content-Type': 'text/plain' }) }, 'text/plain'],
    ['a missing header', { headers: new Headers() }, 'X-Request-Id is missing'],
    ['another header', { headers: new Headers({ ETag: '"1"' }) }, 'ETag is not described'],
    ['a malformed header', { headers: new Headers({ 'RateLimit-Reset': 'soon' }) }, 'soon'],
  ])('fails for %s that the document does not describe', (_, changes, told) => {
    expect(held(changes)).toThrow(told);
  });

  it('fails where no route is described', () => {
    expect(() => {
      checkAnswer(app.port, 'GET', '/api/v1/nothing', answer({}));
    }).toThrow('200 where no route is described');
  });
});

describe('every error that the document tells of', () => {
  let strict: TestApp;
  let broken: TestApp;
  let keyless: TestApp;
  let crowded: TestApp;

  beforeAll(async () => {
    [strict, broken, keyless, crowded] = await Promise.all([
      TestApp.start({ settings: { readsPerMinute: 1, writesPerMinute: 1 } }),
      TestApp.start(),
      TestApp.start(),
      TestApp.start(),
    ]);
    const load = crowded.app.get(Load);
    while (load.room() > 0) load.begin();
    const tables = new Set(RECORD_ROUTES.map(({ pattern }) => pattern.split('/')[3]));
    await broken.sql(`drop table ${[...tables].join(', ')} cascade`);
    await keyless.sql('drop table api_keys');
  });
  afterAll(() => Promise.all([strict, broken, keyless, crowded].map((one) => one.stop())));

  /** Makes a route answer an error. */
  const provocations: Readonly<Record<string, (route: Route) => Promise<Answer>>> = {
    unauthorized: (route) => send(app.client(), route, { path: pathOf(route, randomUUID()) }),
    insufficient_scope: async (route) => {
      const poor = await app.key(
        tenant.id,
        SCOPES.filter((scope) => scope !== route.access),
      );
      return send(poor.api, route, { path: pathOf(route, randomUUID()) });
    },
    rate_limit_exceeded: async (route) => {
      const { api } = await strict.organization();
      await send(api, route, { path: pathOf(route, randomUUID()) });
      return send(api, route, { path: pathOf(route, randomUUID()) });
    },
    payload_too_large: (route) => sendRaw(route, `"${'x'.repeat(300_000)}"`),
    unsupported_media_type: (route) => sendRaw(route, '{}', 'text/plain'),
    validation_error: (route) =>
      send(tenant.api, route, { path: `${pathOf(route, randomUUID())}?nonsense=1` }),
    not_found: async (route) => {
      const body = await route.body?.(tenant);
      return send(tenant.api, route, { path: pathOf(route, randomUUID()), body });
    },
    lead_not_found: async (route) => {
      const { path: own, body } = await validRequest(route, tenant);
      const link = body && 'lead_id' in body ? 'lead_id' : 'contact_id';
      return send(tenant.api, route, { path: own, body: { ...body, [link]: randomUUID() } });
    },
    duplicate: async (route) => {
      const { email } = await createLead(tenant.api, { email: `${randomUUID()}@example.com` });
      const { path: own, body } = await validRequest(route, tenant);
      return send(tenant.api, route, { path: own, body: { ...body, email } });
    },
    idempotency_key_in_use: async (route) => {
      const headers = { 'Idempotency-Key': randomUUID() };
      const request = await validRequest(route, tenant);
      let refused: Answer | undefined;
      while (!refused) {
        const asked = Array.from({ length: 8 }, () => send(tenant.api, route, request, headers));
        refused = (await Promise.all(asked)).find(({ status }) => status === 409);
      }
      return refused;
    },
    idempotency_key_reused: async (route) => {
      const headers = { 'Idempotency-Key': randomUUID() };
      await send(tenant.api, route, await validRequest(route, tenant), headers);
      return send(tenant.api, route, await validRequest(route, tenant), headers);
    },
    precondition_failed: async (route) =>
      send(tenant.api, route, await validRequest(route, tenant), { 'If-Match': '"other"' }),
    query_failed: (route) =>
      send(keyless.client(generateKey()), route, { path: pathOf(route, randomUUID()) }),
    create_failed: async (route) => {
      const { api } = await broken.organization();
      const body = await route.body?.(tenant);
      return send(api, route, { path: pathOf(route, randomUUID()), body });
    },
    overloaded: (route) => send(crowded.client(), route, { path: pathOf(route, randomUUID()) }),
  };

  /** By Node itself, for fetch sends no body with GET. */
  const sendRaw = (route: Route, body: string, type = 'application/json') =>
    rawRequest(app.port, {
      method: route.method,
      path: pathOf(route, randomUUID()),
      headers: [
        ...['Host', 'localhost', 'Authorization', `Bearer ${tenant.key.key}`],
        ...['Content-Type', type, 'Content-Length', String(body.length)],
      ],
      body,
    });

  /** They befall any request, whatever its route. */
  const EVERYWHERE = ['bad_request', 'internal_error'];

  it.each(ROUTES.map((route) => [nameOf(route), route] as const))(
    'is answered as described: %s',
    async (_, route) => {
      const codes = description.errorCodesOf(route);
      expect(codes).toEqual(expect.arrayContaining(EVERYWHERE));
      for (const code of codes.filter((one) => !EVERYWHERE.includes(one))) {
        const answer = await provocations[code]!(route);
        expect(answer.body).toMatchObject({ error: { code } });
        expectDescribed(route, answer);
      }
    },
  );
});

class NoteDto {
  @Text({ max: 10, required: true }) note: string;
}

const OtherNoteDto = { NoteDto: class NoteDto extends DeletedDto {} }.NoteDto;

@Controller('api/v1/things/:thing/notes')
class ThingNotesController {
  @Post()
  @RequireScope('leads:write')
  @Answers('Add a note', NoteDto, { errors: ['compliance_blocked'] })
  add(@Param('thing') _: string, @Body() note: NoteDto) {
    return note;
  }

  @Get('other')
  @AnyKey()
  @Answers('Show another', OtherNoteDto)
  other() {
    return { id: randomUUID(), deleted: true };
  }

  @Get()
  @AnyKey()
  bare() {
    return 1;
  }

  // @ts-expect-error The compiler holds a handler to what it says it answers.
  @Answers('Lie', NoteDto)
  lie() {
    return { id: randomUUID() };
  }
}

@Module({ controllers: [ThingNotesController] })
class ThingsModule {}

describe("a team's own controller", () => {
  let document: OpenApiDocument;

  beforeAll(async () => {
    const extended = await TestApp.start({ modules: [ThingsModule] });
    document = await documentOf(extended);
    await extended.stop();
  });

  it('stands in the document by itself', () => {
    const { post } = document.paths['/api/v1/things/{thing}/notes']!;
    expect(post).toMatchObject({
      operationId: 'thingNotesAdd',
      tags: ['ThingNotes'],
      'x-required-scope': 'leads:write',
      parameters: [
        { name: 'thing', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'Idempotency-Key', in: 'header', required: false },
      ],
      requestBody: { content: { 'application/json': { schema: { $ref: expect.anything() } } } },
    });
    const statuses = '201 400 401 403 404 408 409 413 415 417 422 429 431 500 503'.split(' ');
    expect(Object.keys(post!.responses)).toEqual(statuses);
  });

  it('may say nothing of its answers', () => {
    const { get } = document.paths['/api/v1/things/{thing}/notes']!;
    expect(get).toMatchObject({
      summary: 'thingNotesBare',
      responses: {
        200: { content: { 'application/json': { schema: { properties: { data: {} } } } } },
      },
    });
  });

  it('may call its DTOs as others do', () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['Note', 'Note2', 'Note3']),
    );
  });
});

/** The address that the document names to a request with these headers. */
async function serverSeenAt(headers: string[], of = app): Promise<string | undefined> {
  const request = { method: 'GET', path: '/openapi.json', headers };
  const { body } = await rawRequest(of.port, request);
  return (body as OpenApiDocument).servers[0]?.url;
}

function routeOf(method: Route['method'], pattern: string): Route {
  return ROUTES.find((route) => route.method === method && route.pattern === pattern)!;
}
