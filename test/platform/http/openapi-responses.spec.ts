import { eventIdOf } from '../../../src/modules/events/event-id.js';
import { randomUUID } from 'node:crypto';
import { generateKey } from '../../../src/platform/access/api-key-format.js';
import { OperatorsService } from '../../../src/modules/auth/operators.service.js';
import {
  ScanTimeout,
  StatementTimeout,
} from '../../../src/platform/data/connection/driver-error.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import type { Answer } from '../../../src/testing/api-client.js';
import { validateAnswer, validatorFor } from '../../../src/testing/validate-answer.js';
import { buildLead, createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import type { OpenApiValidator } from '../../../src/testing/openapi.js';
import { rawRequest } from '../../../src/testing/raw-http.js';
import {
  routeName,
  pathOf,
  RECORD_ROUTES,
  type Route,
  ROUTES,
  send,
  validRequest,
} from '../../../src/testing/routes.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { ImpatientTimeBudget, reachLimit } from '../../support/overload.js';
import { documentOf, expectDescribed, routeOf } from '../../support/openapi.js';
import { shareOf } from '../../support/share-of.js';

let app: TestApp;
let tenant: Tenant;
let description: OpenApiValidator;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  description = validatorFor(await documentOf(app));
});
afterAll(() => app.stop());

describe('a successful response', () => {
  it.each(ROUTES.map((route) => [routeName(route), route] as const))(
    'matches the document: %s',
    async (_, route) => {
      const request = await validRequest(route, tenant);
      await route.listed?.(tenant);
      const answer = await send(tenant.api, route, request);
      expect(answer.status).toBeLessThan(300);
      expectDescribed(description, route, answer);
    },
  );

  it('matches the document with no field set and with all fields set', async () => {
    const get = routeOf('GET', `${LEADS}/:id`);
    for (const body of [{}, buildLead()]) {
      const { id } = await createLead(tenant.api, body);
      expectDescribed(description, get, await tenant.api.get(`${LEADS}/${id}`));
    }
    const expiring = await app.key(tenant.id, SCOPES, { expiresAt: new Date(Date.now() + 60_000) });
    expectDescribed(
      description,
      routeOf('GET', '/api/v1/me'),
      await expiring.api.get('/api/v1/me'),
    );
  });
});

describe('validateAnswer, which checks the responses of all tests', () => {
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
  const check = (changes: Partial<Answer>) => () => {
    validateAnswer(app.port, 'DELETE', `${LEADS}/${randomUUID()}?x=1`, answer(changes));
  };

  it('accepts a described response', () => {
    expect(check({})).not.toThrow();
  });

  it.each([
    ['a status', { status: 202 }, '202 is not described'],
    ['a field', { body: { data: { id: randomUUID(), deleted: true, more: 1 } } }, 'more'],
    ['a content type', { headers: new Headers({ 'Content-Type': 'text/plain' }) }, 'text/plain'],
    ['a missing header', { headers: new Headers() }, 'X-Request-Id is missing'],
    ['another header', { headers: new Headers({ ETag: '"1"' }) }, 'ETag is not described'],
    ['a malformed header', { headers: new Headers({ 'RateLimit-Reset': 'soon' }) }, 'soon'],
  ])('rejects %s that the document does not describe', (_, changes, message) => {
    expect(check(changes)).toThrow(message);
  });

  it('rejects a successful response of an unknown route', () => {
    expect(() => {
      validateAnswer(app.port, 'GET', '/api/v1/nothing', answer({}));
    }).toThrow('200 where no route is described');
  });
});

describe('every documented error', () => {
  let strict: TestApp;
  let broken: TestApp;
  let keyless: TestApp;
  let overloaded: TestApp;

  beforeAll(async () => {
    [strict, broken, keyless, overloaded] = await Promise.all([
      TestApp.start({ settings: { readsPerMinute: 1, writesPerMinute: 1 } }),
      TestApp.start(),
      TestApp.start(),
      TestApp.start({ timeBudget: new ImpatientTimeBudget() }),
    ]);
    reachLimit(overloaded);
    const tables = new Set(RECORD_ROUTES.map(({ pattern }) => pattern.split('/')[3]));
    await broken.sql(`drop table ${[...tables].join(', ')} cascade`);
    await keyless.sql('drop table api_keys cascade');
  });
  afterAll(() => Promise.all([strict, broken, keyless, overloaded].map((one) => one.stop())));

  /** Requests that make a route answer an error. */
  const requests: Readonly<Record<string, (route: Route) => Promise<Answer>>> = {
    unauthorized: (route) => send(app.client(), route, { path: pathOf(route, randomUUID()) }),
    insufficient_scope: async (route) => {
      const operator = await app.app.get(OperatorsService).createKey('Operator', null);
      if (route.access === 'any-key') return app.client(operator.key).get(pathOf(route));
      const restricted = await app.key(
        tenant.id,
        SCOPES.filter((scope) => scope !== route.access),
      );
      return send(restricted.api, route, { path: pathOf(route, randomUUID()) });
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
      if (!route.pattern.includes(':id')) {
        const headers = { 'Idempotency-Key': randomUUID() };
        const request = await validRequest(route, tenant);
        await send(tenant.api, route, request, headers);
        const erased = 'update idempotency_keys set status = 404 where key = $1';
        await app.sql(erased, [headers['Idempotency-Key']]);
        return send(tenant.api, route, request, headers);
      }
      const body = await route.body?.(tenant);
      const mode = body && 'mode' in body ? { mode: 'update_only' } : {};
      return send(tenant.api, route, {
        path: pathOf(route, randomUUID()),
        body: body && { ...body, ...mode },
      });
    },
    lead_not_found: async (route) => {
      const { path: own, body } = await validRequest(route, tenant);
      const link = body && 'lead_id' in body ? 'lead_id' : 'contact_id';
      return send(tenant.api, route, { path: own, body: { ...body, [link]: randomUUID() } });
    },
    duplicate: async (route) => {
      const { email } = await createLead(tenant.api, { email: `${randomUUID()}@example.com` });
      const { path: own, body } = await validRequest(route, tenant);
      const upsert = { data: { first_name: 'Ada', email }, mode: 'create_only' };
      if (own.endsWith('/merge')) {
        const text = 'update leads set email = $2 where id = $1';
        await app.sql(text, [body?.lead_id, email]);
        return send(tenant.api, route, { path: own, body });
      }
      const taken = body && 'mode' in body ? upsert : { email };
      return send(tenant.api, route, { path: own, body: { ...body, ...taken } });
    },
    filter_too_broad: async (route) => {
      const timeout = new ScanTimeout(new StatementTimeout('query_failed', new Error('slow')));
      const scan = jest.spyOn(app.app.get(TenantDatabase), 'scan').mockRejectedValueOnce(timeout);
      const filter = encodeURIComponent('{"id":{"ne":"01a1fbde-995e-72a3-a032-ab1c988b9794"}}');
      const answer = await send(tenant.api, route, { path: `${pathOf(route)}?filter=${filter}` });
      scan.mockRestore();
      return answer;
    },
    too_many_webhooks: async (route) => {
      const crowded = await app.organization();
      await app.sql(
        `insert into webhooks (organization_id, id, url, types, enabled, scopes, secret)
         select $1, gen_random_uuid(), '', '{}', false, '{}', '' from generate_series(1, 50)`,
        [crowded.id],
      );
      return send(crowded.api, route, await validRequest(route, crowded));
    },
    slot_taken: async (route) => {
      const { resource_id, book } = await booking(route);
      const { id: lead_id } = await createLead(tenant.api);
      await tenant.api.post('/api/v1/appointments', { lead_id, resource_id, ...TIME });
      return book();
    },
    resource_inactive: async (route) => (await booking(route, { active: false })).book(),
    outside_hours: async (route) => (await booking(route)).book({ within_hours: true }),
    too_many_holds: async (route) => {
      const { resource_id, book } = await booking(route);
      await app.sql(
        `insert into busy_times
           (organization_id, id, resource_id, start_time, end_time, starts_at, ends_at, expires_at, key_id)
         select $1, gen_random_uuid(), $2, time, time, time, time + interval '1 minute', now() + interval '1 hour', $3
         from generate_series(timestamptz '2030-01-01', '2030-01-20', '1 day') time`,
        [tenant.id, resource_id, tenant.key.id],
      );
      const answer = await book();
      await app.sql('delete from busy_times where key_id = $1', [tenant.key.id]);
      return answer;
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
      const request = await validRequest(route, tenant);
      await send(tenant.api, route, request, headers);
      const { body } = await validRequest(route, tenant);
      return send(tenant.api, route, { ...request, body }, headers);
    },
    cursor_expired: async (route) => {
      await app.sql('update event_position set expired_before = greatest(expired_before, 2)');
      const path = `${pathOf(route, randomUUID())}?after=${eventIdOf(1)}`;
      let answer: Answer;
      // Until the server has read it.
      do answer = await send(tenant.api, route, { path });
      while (answer.status !== 410);
      return answer;
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
    overloaded: (route) => send(overloaded.client(), route, { path: pathOf(route, randomUUID()) }),
  };

  const TIME = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };

  /** A request that takes the time of a new resource. */
  const booking = async (route: Route, fields: object = {}) => {
    const made = await tenant.api.post('/api/v1/resources', { name: 'Crew 1', ...fields });
    const { id: resource_id } = dataOf<{ id: string }>(made, 201);
    const { path: own, body } = await validRequest(route, tenant);
    const book = (more: object = {}) =>
      send(tenant.api, route, { path: own, body: { ...body, ...TIME, resource_id, ...more } });
    return { resource_id, book };
  };

  /** Uses Node's client, because fetch sends no body with GET. */
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

  /** Errors that do not depend on the route. */
  const EVERYWHERE = ['bad_request', 'internal_error'];

  /** Errors that are answered before or around a handler, in one place for all routes. */
  const AROUND_HANDLERS = new Set([
    ...['unauthorized', 'insufficient_scope', 'rate_limit_exceeded', 'payload_too_large'],
    ...['unsupported_media_type', 'query_failed', 'overloaded'],
    ...['idempotency_key_in_use', 'idempotency_key_reused', 'create_failed'],
  ]);

  it.each(ROUTES.map((route, index) => [routeName(route), route, index] as const))(
    'matches the document: %s',
    async (_, route, index) => {
      const codes = description.errorCodesOf(route);
      expect(codes).toEqual(expect.arrayContaining(EVERYWHERE));
      expect(codes.filter((code) => !EVERYWHERE.includes(code) && !requests[code])).toEqual([]);
      const common = codes.filter((code) => AROUND_HANDLERS.has(code));
      const own = codes.filter((code) => ![...EVERYWHERE, ...common].includes(code));
      for (const code of [...own, ...shareOf(common, index, 3)]) {
        const answer = await requests[code]!(route);
        expect(answer.body).toMatchObject({ error: { code } });
        expectDescribed(description, route, answer);
      }
    },
  );
});
