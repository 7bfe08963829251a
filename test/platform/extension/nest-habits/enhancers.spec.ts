import { randomUUID } from 'node:crypto';
import {
  type ArgumentsHost,
  type CallHandler,
  Catch,
  Controller,
  type ExecutionContext,
  Get,
  HttpException,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestModule,
  Post,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, BaseExceptionFilter } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { map, type Observable, of } from 'rxjs';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { AnyKey, Public, RequireScope } from '../../../../src/platform/http/routes/access.js';
import { ErrorFilter } from '../../../../src/platform/http/error.filter.js';
import type { OpenApiDocument } from '../../../../src/platform/http/openapi/model.js';
import type { ApiRequest } from '../../../../src/platform/http/request/api-request.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import {
  buildLead,
  createLead,
  dataOf,
  expectError,
  LEADS,
} from '../../../../src/testing/factories.js';
import { ROUTES } from '../../../../src/testing/routes.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { unregisterDocument } from '../../../../src/testing/validate-answer.js';
import { stopBackgroundWork } from '../../../support/database/isolation.js';
import { connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import { lintPaths } from '../../../support/openapi.js';

const NOTES = '/api/v1/notes';
const PAGES = ['/health/live', '/openapi.json', '/metrics', '/docs', '/llms.txt', `${NOTES}/page`];

/** Refuses requests with `X-Blocked`, and those that require a key but are not authenticated yet. */
@Injectable()
class BillingGuard {
  canActivate(context: ExecutionContext): boolean {
    const { headers, path, state } = context.switchToHttp().getRequest<ApiRequest>();
    if (headers['x-blocked'] === 'pay') throw new HttpException('Pay first.', 402);
    const isAuthenticated = state.call !== undefined || [...PAGES, '/nowhere'].includes(path);
    return headers['x-blocked'] === undefined && isAuthenticated;
  }
}

/** Adds a property to every object. */
function adding(name: string) {
  @Injectable()
  class Adding implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle().pipe(map((value) => ({ ...(value as object), [name]: true })));
    }
  }
  return Adding;
}

@Controller(NOTES)
@UseInterceptors(adding('class'))
class NotesController {
  private calls = 0;

  @Post()
  @RequireScope('leads:write')
  @UseInterceptors(adding('method'))
  create() {
    return { id: String(++this.calls) };
  }

  @Get('guarded')
  @AnyKey()
  @UseGuards(BillingGuard)
  guarded() {
    return {};
  }

  @Get('failing')
  @AnyKey()
  fail(): never {
    throw new Error('secret');
  }

  @Get('page')
  @Public()
  page() {
    return { page: true };
  }
}

function tracing(request: Request, response: Response, next: NextFunction): void {
  if (request.headers['x-middleware'] === 'fail') throw new HttpException('Not this way.', 409);
  response.setHeader('X-Traced', (request as ApiRequest).state.requestId);
  next();
}

@Module({ controllers: [NotesController] })
class NotesModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(tracing).forRoutes(NotesController);
  }
}

@Module({
  providers: [
    { provide: APP_GUARD, useClass: BillingGuard },
    { provide: APP_INTERCEPTOR, useClass: adding('app') },
  ],
})
class GlobalModule {}

describe('with APP_GUARD and APP_INTERCEPTOR', () => {
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await TestApp.start({ modules: [NotesModule, GlobalModule] });
    tenant = await app.organization();
    // The interceptor changes responses of Latitude's routes, so these differ from the document.
    unregisterDocument(app.port);
  });
  afterAll(() => stopWithAgents(app));

  const blocked = (value = 'yes') => ({ headers: { 'X-Blocked': value } });

  it.each([LEADS, `${NOTES}/guarded`, '/mcp'])(
    'a guard runs after authentication and answers in the envelope: %s',
    async (path) => {
      expectError(await app.client().get(path, blocked()), 401, 'unauthorized');
      expectEnvelope(await tenant.api.get(path, blocked()), { status: 403, code: 'forbidden' });
      const unpaid = await tenant.api.get(path, blocked('pay'));
      expectEnvelope(unpaid, { status: 402, code: 'payment_required' });
      expect(unpaid.headers.get('ratelimit-limit')).not.toBeNull();
    },
  );

  it.each([...PAGES, '/nowhere'])('a guard runs on public pages too: %s', async (path) => {
    const answer = await app.client().get(path, blocked());
    expectEnvelope(answer, { status: 403, code: 'forbidden' });
  });

  it('an interceptor changes a record, whose ETag is still that of its version', async () => {
    const { id } = await createLead(tenant.api);
    const path = `${LEADS}/${id}`;
    const read = await tenant.api.get(path);
    expect(read.body).toMatchObject({ data: { id, app: true } });
    const headers = { 'If-Match': read.headers.get('etag')! };
    expect(await tenant.api.put(path, { notes: 'n' }, { headers })).toMatchObject({ status: 200 });
  });

  it('an interceptor changes a page as clients receive it', async () => {
    const { body } = await tenant.api.get(`${LEADS}?limit=1`);
    expect(body).toMatchObject({ data: expect.any(Array) as [], meta: { limit: 1 }, app: true });
  });

  it('interceptors run for the application, the class and the method; a replay has what they returned', async () => {
    const headers = { 'Idempotency-Key': 'a' };
    const first = await tenant.api.post(NOTES, {}, { headers });
    const seen = { app: true, class: true, method: true };
    expect(first.body).toEqual({ data: { id: '1', ...seen } });
    const replay = await tenant.api.post(NOTES, {}, { headers });
    expect(replay.body).toEqual(first.body);
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
  });

  it('an interceptor does not change the pages and the responses of /mcp', async () => {
    for (const path of PAGES.slice(0, -1)) {
      expect(await (await fetch(app.url + path)).text()).not.toContain('"app":true');
    }
    const agent = await connectAgent(app, tenant);
    expect(await agent.succeed('whoami')).not.toHaveProperty('app');
  });

  it('an interceptor is not one of another application in the process', async () => {
    const plain = await TestApp.start({ database: app.database });
    try {
      await stopBackgroundWork(plain);
      const { api } = await plain.organization();
      const transaction = jest.spyOn(plain.app.get(TenantDatabase), 'transaction');
      const headers = { 'Idempotency-Key': randomUUID() };
      dataOf(await api.post(LEADS, buildLead(), { headers }), 201);
      expect(transaction).not.toHaveBeenCalled();
    } finally {
      await plain.stop();
    }
  });
});

@Injectable()
class WrappingInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

@Injectable()
class CachingInterceptor implements NestInterceptor {
  private readonly values = new Map<string, unknown>();

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { originalUrl } = context.switchToHttp().getRequest<Request>();
    if (this.values.has(originalUrl)) return of(this.values.get(originalUrl));
    return next
      .handle()
      .pipe(map((value: unknown) => (this.values.set(originalUrl, value), value)));
  }
}

describe('the envelope', () => {
  let plain: TestApp;
  beforeAll(async () => {
    plain = await TestApp.start();
  });
  afterAll(() => plain.stop());

  it.each([
    ['wraps its value in data', WrappingInterceptor],
    ['returns the stored value of a cache', CachingInterceptor],
  ])('is not wrapped twice if an interceptor %s', async (_, useClass) => {
    @Module({ providers: [{ provide: APP_INTERCEPTOR, useClass }] })
    class InterceptorModule {}

    const other = await TestApp.start({ modules: [InterceptorModule], database: plain.database });
    try {
      const { key, api } = await plain.organization();
      const lead = await createLead(api);
      for (const path of [`${LEADS}/${lead.id}`, `${LEADS}?limit=5`, `${LEADS}?limit=5`]) {
        const expected = await api.get(path);
        const answer = await other.client(key.key).get(path);
        expect(answer.body).toEqual(expected.body);
        expect(answer.headers.get('etag')).toBe(expected.headers.get('etag'));
      }
    } finally {
      await other.stop();
    }
  });
});

describe('with enhancers of its own', () => {
  let app: TestApp;
  let tenant: Tenant;
  let document: OpenApiDocument;
  beforeAll(async () => {
    app = await TestApp.start({ modules: [NotesModule] });
    tenant = await app.organization();
    document = (await app.client().get('/openapi.json')).body as OpenApiDocument;
  });
  afterAll(() => app.stop());

  it('middleware runs on its routes, and the request has its id', async () => {
    const { headers } = await tenant.api.get(`${NOTES}/guarded`);
    expect(headers.get('x-traced')).toBe(headers.get('x-request-id'));
    expect((await tenant.api.get(LEADS)).headers.get('x-traced')).toBeNull();
  });

  it('middleware answers its exceptions in the envelope', async () => {
    const headers = { 'X-Middleware': 'fail' };
    const answer = await tenant.api.get(`${NOTES}/guarded`, { headers });
    expectEnvelope(answer, { status: 409, code: 'conflict' });
  });

  it('the document allows the errors of a guard that declares nothing, only on its routes', async () => {
    expect(document.paths[`${NOTES}/guarded`]!.get!.responses).toMatchObject({
      401: { $ref: '#/components/responses/UnauthorizedOrOther' },
      default: { $ref: '#/components/responses/OtherError' },
    });
    for (const path of [`${NOTES}/failing`, LEADS]) {
      const { responses } = document.paths[path]!.get!;
      expect(responses[401]).toEqual({ $ref: '#/components/responses/Unauthorized' });
      expect(responses).not.toHaveProperty('default');
    }
    expect(await lintPaths(document, (path) => path.startsWith(NOTES))).toEqual([]);
  });
});

/** The exceptions that the filters of a team have received. */
const reported: unknown[] = [];

@Catch()
class NestReportingFilter extends BaseExceptionFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    reported.push(exception);
    super.catch(exception, host);
  }
}

@Catch()
class ReportingFilter extends ErrorFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    reported.push(exception);
    super.catch(exception, host);
  }
}

it.each<[Type<unknown>, Record<string, unknown>]>([
  [NestReportingFilter, { statusCode: 500, message: 'Internal server error' }],
  [ReportingFilter, { error: { code: 'internal_error' } }],
])("%p as APP_FILTER answers on the team's routes only", async (useClass, body) => {
  @Module({
    controllers: [NotesController],
    providers: [
      { provide: APP_FILTER, useClass },
      { provide: APP_GUARD, useClass: BillingGuard },
    ],
  })
  class FilterModule {}

  const app = await TestApp.start({ modules: [FilterModule] });
  // The filter answers in a form of its own.
  unregisterDocument(app.port);
  reported.length = 0;
  try {
    const { api } = await app.organization();
    for (const { method, pattern } of ROUTES) {
      expectError(await app.client().request(method, pattern), 401, 'unauthorized');
    }
    for (const path of ['/mcp', '/api/v1/nowhere']) {
      expectError(await app.client().get(path), 401, 'unauthorized');
    }
    expectError(await api.post(LEADS, {}), 400, 'validation_error');
    for (const path of PAGES.slice(0, -1)) {
      const headers = { 'X-Blocked': 'yes' };
      expectError(await app.client().get(path, { headers }), 403, 'forbidden');
    }
    expect(reported).toEqual([]);
    expect(await app.client().get(`${NOTES}/failing`)).toMatchObject({
      status: 401,
      body: { error: { code: 'unauthorized' } },
    });
    expect(await api.get(`${NOTES}/failing`)).toMatchObject({ status: 500, body });
    expect(reported).toHaveLength(2);
  } finally {
    await app.stop();
  }
});
