import {
  type CallHandler,
  ClassSerializerInterceptor,
  Controller,
  type ExecutionContext,
  Get,
  HttpException,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestModule,
  Param,
  ParseIntPipe,
  Post,
  UseInterceptors,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { map, type Observable, of } from 'rxjs';
import { AnyKey, Public, RequireScope } from '../../../../src/platform/http/access.js';
import type { ApiRequest } from '../../../../src/platform/http/request/api-request.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import {
  createLead,
  dataOf,
  expectError,
  getLead,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { unregisterDocument } from '../../../../src/testing/validate-answer.js';
import { connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';

const NOTES = '/api/v1/notes';
const PAGES = ['/health/live', '/openapi.json', '/metrics', '/docs', '/llms.txt'];

const isPublic = (context: ExecutionContext) =>
  [...PAGES, `${NOTES}/page`, '/nowhere'].includes(
    context.switchToHttp().getRequest<Request>().path,
  );

/** Refuses requests with `X-Blocked`, and proves that it runs after authentication. */
@Injectable()
class BillingGuard {
  canActivate(context: ExecutionContext): boolean {
    const { headers, state } = context.switchToHttp().getRequest<ApiRequest>();
    if (headers['x-blocked'] === 'pay') throw new HttpException('Pay first.', 402);
    const isAuthenticated = state.actor !== undefined || isPublic(context);
    return headers['x-blocked'] === undefined && isAuthenticated;
  }
}

/** Adds `seen_by` to every object. */
function adding(name: string) {
  @Injectable()
  class Adding implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle().pipe(map((value) => ({ ...(value as object), [name]: true })));
    }
  }
  return Adding;
}

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

  @Get('number/:number')
  @AnyKey()
  number(@Param('number', ParseIntPipe) number: number) {
    return { number };
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
    { provide: APP_PIPE, useValue: { transform: (value: unknown) => value } },
  ],
})
class GlobalModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [NotesModule, GlobalModule] });
  tenant = await app.organization();
  // The enhancers change responses of Latitude's routes, so these differ from the document.
  unregisterDocument(app.port);
});
afterAll(() => stopWithAgents(app));

const blocked = (value = 'yes') => ({ headers: { 'X-Blocked': value } });

describe('APP_GUARD', () => {
  it.each([LEADS, `${NOTES}/number/7`, '/mcp'])('runs after authentication: %s', async (path) => {
    const { headers } = blocked();
    expectError(await app.client().get(path, { headers }), 401, 'unauthorized');
    expectEnvelope(await tenant.api.get(path, { headers }), { status: 403, code: 'forbidden' });
    const unpaid = await tenant.api.get(path, blocked('pay'));
    expectEnvelope(unpaid, { status: 402, code: 'payment_required' });
    expect(unpaid.headers.get('ratelimit-limit')).not.toBeNull();
  });

  it.each([...PAGES, `${NOTES}/page`, '/nowhere'])(
    'runs on public pages and for unknown routes too: %s',
    async (path) => {
      const answer = await app.client().get(path, blocked());
      expectEnvelope(answer, { status: 403, code: 'forbidden' });
    },
  );
});

describe('an interceptor', () => {
  it('changes data of a record, and keeps its ETag and Location', async () => {
    const created = await tenant.api.post(LEADS, { first_name: 'Ada' });
    const { id, ...lead } = dataOf<{ id: string; app: boolean; first_name: string }>(created, 201);
    expect(lead).toMatchObject({ first_name: 'Ada', app: true });
    expect(created.headers.get('location')).toBe(`${LEADS}/${id}`);
    const read = await tenant.api.get(`${LEADS}/${id}`);
    expect(read.headers.get('etag')).toBe(created.headers.get('etag'));
    const headers = { 'If-Match': read.headers.get('etag')! };
    dataOf(await tenant.api.put(`${LEADS}/${id}`, { notes: 'n' }, { headers }));
  });

  it('changes a page as clients receive it', async () => {
    const { body } = await tenant.api.get(`${LEADS}?limit=1`);
    expect(body).toMatchObject({ meta: { page: 1, limit: 1 }, app: true });
    expect((body as { data: object[] }).data).toHaveLength(1);
  });

  it('runs for the application, the class and the method, also with Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'a' };
    const answers = [
      await tenant.api.post(NOTES, {}),
      await tenant.api.post(NOTES, {}, { headers }),
      await tenant.api.post(NOTES, {}, { headers }),
    ];
    const seen = { app: true, class: true, method: true };
    expect(answers.map(({ body }) => body as unknown)).toEqual([
      { data: { id: '1', ...seen } },
      { data: { id: '2', ...seen } },
      { data: { id: '2', ...seen } },
    ]);
    expect(answers[2]!.headers.get('idempotency-replayed')).toBe('true');
  });

  it.each(PAGES)('does not change the public page %s', async (path) => {
    const shared = await fetch(app.url + path);
    expect(await shared.text()).not.toContain('"app":true');
  });

  it('does not change the responses of /mcp', async () => {
    const agent = await connectAgent(app, tenant);
    expect(await agent.succeed('whoami')).not.toHaveProperty('app');
  });

  it.each([
    ['wraps its value in data', WrappingInterceptor],
    ['returns the stored value of a cache', CachingInterceptor],
    ['serializes classes', ClassSerializerInterceptor],
  ])('does not wrap the envelope twice when it %s', async (_, useClass) => {
    @Module({ providers: [{ provide: APP_INTERCEPTOR, useClass }] })
    class InterceptorModule {}

    const plain = await TestApp.start();
    const other = await TestApp.start({ modules: [InterceptorModule], database: plain.database });
    try {
      const { id, key } = await plain.organization();
      const { api } = await other.key(id);
      const lead = await createLead(plain.client(key.key));
      for (const path of [`${LEADS}/${lead.id}`, `${LEADS}?limit=5`, `${LEADS}?limit=5`]) {
        const expected = await plain.client(key.key).get(path);
        const answer = await api.get(path);
        expect(answer.body).toEqual(expected.body);
        expect(answer.headers.get('etag')).toBe(expected.headers.get('etag'));
      }
    } finally {
      await other.stop();
      await plain.stop();
    }
  });
});

describe('middleware', () => {
  it('runs on its routes, and has the id of the request', async () => {
    const { headers } = await tenant.api.get(`${NOTES}/number/7`);
    expect(headers.get('x-traced')).toBe(headers.get('x-request-id'));
    expect((await tenant.api.get(LEADS)).headers.get('x-traced')).toBeNull();
  });

  it('answers its exceptions in the envelope', async () => {
    const headers = { 'X-Middleware': 'fail' };
    const answer = await tenant.api.get(`${NOTES}/number/7`, { headers });
    expectEnvelope(answer, { status: 409, code: 'conflict' });
  });
});

it('a lead is unchanged in a server without interceptors of a team', async () => {
  const plain = await TestApp.start({ modules: [NotesModule] });
  try {
    const { api } = await plain.organization();
    const lead = await createLead(api);
    expect(await getLead(api, lead.id)).toStrictEqual(lead);
  } finally {
    await plain.stop();
  }
});
