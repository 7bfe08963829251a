import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Module,
  Post,
  Query,
  Res,
  SetMetadata,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { CallHandler } from '@nestjs/common';
import type { Response } from 'express';
import { map } from 'rxjs';
import { ACCESS, Public, RawRoute } from '../../../src/auth/access.js';
import { AccessCheck } from '../../../src/http/access-check.js';
import type { ApiRequest } from '../../../src/http/request/api-request.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import { dataOf, expectError, expectInvalid, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { unregisterDocument } from '../../../src/testing/validate-answer.js';
import { captureLog } from '../../support/captured-log.js';

@Catch()
class AnyFilter implements ExceptionFilter {
  catch(_: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(418).send('a teapot');
  }
}

/** Every global enhancer that a team can register, each as intrusive as it can be. */
@Module({
  providers: [
    { provide: APP_FILTER, useClass: AnyFilter },
    {
      provide: APP_GUARD,
      useValue: {
        canActivate: (context: ExecutionContext) => {
          const { headers } = context.switchToHttp().getRequest<ApiRequest>();
          if (headers['x-guard'] === 'fails') throw new Error('secret');
          return headers['x-guard'] !== 'refuses';
        },
      },
    },
    {
      provide: APP_INTERCEPTOR,
      useValue: {
        intercept: (_: ExecutionContext, next: CallHandler) =>
          next.handle().pipe(map((data: unknown) => ({ ...(data as object), seen: true }))),
      },
    },
    { provide: APP_PIPE, useValue: { transform: (value: unknown) => value } },
  ],
})
class GlobalsModule {}

describe("Latitude's routes with an APP_GUARD, APP_INTERCEPTOR, APP_FILTER and APP_PIPE of a team", () => {
  const log = captureLog('info');
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await TestApp.start({
      modules: [GlobalsModule],
      settings: { writesPerMinute: 3, logLevel: 'info' },
    });
    unregisterDocument(app.port);
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  it('check the key, then the limit, then the scope, then the input, then the guard', async () => {
    const reader = await app.key(tenant.id, ['leads:read']);
    const headers = { 'X-Guard': 'refuses' };
    expectError(await app.client().post(LEADS, {}, { headers }), 401, 'unauthorized');
    expectError(await reader.api.post(LEADS, {}, { headers }), 403, 'insufficient_scope');
    const writer = await app.key(tenant.id, ['leads:write']);
    expectInvalid(await writer.api.post(LEADS, {}, { headers }), 'first_name');
    const refused = await writer.api.post(LEADS, { first_name: 'A' }, { headers });
    expectEnvelope(refused, { status: 403, code: 'forbidden' });
    await writer.api.post(LEADS, {}, { headers });
    expectError(await writer.api.post(LEADS, {}, { headers }), 429, 'rate_limit_exceeded');
    await reader.api.post(LEADS, {});
    await reader.api.post(LEADS, {});
    expectError(await reader.api.post(LEADS, {}), 429, 'rate_limit_exceeded');
  });

  it('answer an exception of the guard with the envelope', async () => {
    const answer = await tenant.api.get(LEADS, { headers: { 'X-Guard': 'fails' } });
    expectEnvelope(answer, { status: 500, code: 'internal_error', retryable: true });
  });

  it('replay a write with a key as it was answered, and carry it out once', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const first = await tenant.api.post(LEADS, { first_name: 'Ada' }, { headers });
    const again = await tenant.api.post(LEADS, { first_name: 'Ada' }, { headers });
    expect(dataOf(first, 201)).toMatchObject({ first_name: 'Ada', seen: true });
    expect(again.body).toEqual(first.body);
    expect(again.status).toBe(201);
    for (const name of ['etag', 'location']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const { body } = await tenant.api.get(`${LEADS}?search=Ada`);
    expect(body).toMatchObject({ meta: { total: 1 } });
  });

  it('are logged with their route, status, organization and key', async () => {
    const answer = await tenant.api.get(LEADS, { headers: { 'X-Guard': 'refuses' } });
    const line = log
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .find(({ request_id: id }) => id === answer.headers.get('x-request-id'));
    expect(line).toMatchObject({
      method: 'GET',
      route: LEADS,
      status: 403,
      organization_id: tenant.id,
      key_id: tenant.key.id,
    });
  });
});

@Controller('api/v1/undeclared')
class UndeclaredController {
  @Get('nothing')
  nothing() {
    return { secret: true };
  }

  @Get('unknown')
  @SetMetadata(ACCESS, 'secrets:read')
  unknown() {
    return { secret: true };
  }
}

@Module({ controllers: [UndeclaredController] })
class UndeclaredModule {}

it.each(['nothing', 'unknown'])(
  'a route that the check at start has missed is refused for every key: %s',
  async (path) => {
    const app = await TestApp.start({
      modules: [UndeclaredModule],
      override: (builder) => builder.overrideProvider(AccessCheck).useValue({}),
    });
    // The document describes no refused routes.
    unregisterDocument(app.port);
    try {
      const { api } = await app.organization();
      const url = `/api/v1/undeclared/${path}`;
      expectError(await app.client().get(url), 401, 'unauthorized');
      expectEnvelope(await api.get(url), { status: 403, code: 'insufficient_scope' });
    } finally {
      await app.stop();
    }
  },
);

@Controller('plain')
class PlainController {
  @Get('open')
  @Public()
  open(@Query('name') name: string) {
    return { name };
  }

  @Post('open')
  @Public()
  fail(): never {
    throw new Error('secret');
  }

  @Get('raw')
  @RawRoute()
  raw(@Res() response: Response) {
    response.json({ raw: true });
  }
}

@Module({ controllers: [PlainController] })
class PlainModule {}

describe('routes with @Public() and @RawRoute()', () => {
  const log = captureLog('info');
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await TestApp.start({ modules: [PlainModule], settings: { logLevel: 'info' } });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  it.each([
    ['/plain/open?name=a&other=b', { name: 'a' }],
    ['/plain/raw?other=b', { raw: true }],
  ])(
    '%s has no envelope and ignores other parameters, but is logged with its id',
    async (path, body) => {
      const answer = await tenant.api.get(path);
      expect(answer).toMatchObject({ status: 200, body });
      const id = answer.headers.get('x-request-id');
      expect(log.some((line) => line.includes(id!))).toBe(true);
    },
  );

  it('@Public() checks declared parameters, and its errors have the envelope', async () => {
    expectInvalid(await app.client().get('/plain/open?name=a&name=b'), 'name');
    expectError(await app.client().post('/plain/open', {}), 500, 'internal_error');
  });

  it('@RawRoute() requires a key, and is not counted', async () => {
    expectError(await app.client().get('/plain/raw'), 401, 'unauthorized');
    const { headers } = await tenant.api.get('/plain/raw');
    const again = await tenant.api.get('/plain/raw');
    expect(again.headers.get('ratelimit-remaining')).toBe(headers.get('ratelimit-remaining'));
  });
});
