import {
  type ArgumentsHost,
  Body,
  type CallHandler,
  Catch,
  Controller,
  type DynamicModule,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Post,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, ApplicationConfig } from '@nestjs/core';
import type { Response } from 'express';
import { map } from 'rxjs';
import { RequireScope } from '../../../../src/platform/http/routes/access.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import type { ApiRequest } from '../../../../src/platform/http/request/api-request.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import { dataOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { unregisterDocument } from '../../../../src/testing/validate-answer.js';
import { captureLog, linesOf } from '../../../support/captured-log.js';

// Enhancers of a team, each as intrusive as it can be.

/** Answers every exception in a form of its own. */
@Catch()
class AnyFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const { code = 'none' } = exception as { code?: string };
    host.switchToHttp().getResponse<Response>().status(418).json({ filtered: code });
  }
}

/** Refuses or fails as a header of the request says. */
@Injectable()
class AnyGuard {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<ApiRequest>();
    if (headers['x-guard'] === 'fails') throw new Error('secret');
    return headers['x-guard'] !== 'refuses';
  }
}

/** Changes every result. */
@Injectable()
class AnyInterceptor {
  static calls = 0;

  intercept(_: ExecutionContext, next: CallHandler) {
    AnyInterceptor.calls++;
    return next.handle().pipe(map((data: unknown) => ({ ...(data as object), seen: true })));
  }
}

@Injectable()
class AnyPipe {
  transform(value: unknown): unknown {
    return value;
  }
}

const NOTES = '/api/v1/notes';

class NoteDto {
  @Text({ max: 10, required: true }) first_name: string;
}

/** Declares the controller of a team, with other decorators. */
function notesController(...decorators: ClassDecorator[]): Type<unknown> {
  @Controller(NOTES)
  class NotesController {
    private count = 0;

    @Get()
    @RequireScope('leads:read')
    list() {
      return { count: this.count };
    }

    @Post()
    @RequireScope('leads:write')
    create(@Body() note: NoteDto) {
      return { id: String(++this.count), ...note };
    }
  }
  for (const decorate of decorators) decorate(NotesController);
  return NotesController;
}

/** What the start of Nest calls `app.useGlobalPipes()` and the like for: a module can do it in its constructor. */
@Module({ controllers: [notesController()] })
class UseGlobalModule {
  constructor(config: ApplicationConfig) {
    config.useGlobalInterceptors(new AnyInterceptor());
    config.useGlobalFilters(new AnyFilter());
    config.useGlobalPipes(new AnyPipe());
  }
}

@Module({})
class AnyModule {}

const BY_TOKEN: DynamicModule = {
  module: AnyModule,
  controllers: [notesController()],
  providers: [
    { provide: APP_GUARD, useClass: AnyGuard },
    { provide: APP_INTERCEPTOR, useClass: AnyInterceptor },
    { provide: APP_FILTER, useClass: AnyFilter },
    { provide: APP_PIPE, useClass: AnyPipe },
  ],
};

const BY_DECORATOR: DynamicModule = {
  module: AnyModule,
  controllers: [
    notesController(
      UseGuards(AnyGuard),
      UseInterceptors(AnyInterceptor),
      UseFilters(AnyFilter),
      UsePipes(AnyPipe),
    ),
  ],
};

/** Which enhancers of the team apply to a route. */
interface Applied {
  readonly guard: boolean;
  readonly interceptor: boolean;
  readonly filter: boolean;
}

const ALL: Applied = { guard: true, interceptor: true, filter: true };
const NONE: Applied = { guard: false, interceptor: false, filter: false };

const CASES: [
  way: string,
  module: DynamicModule | Type<unknown>,
  path: string,
  applied: Applied,
][] = [
  ["APP_* on Latitude's routes", BY_TOKEN, LEADS, { ...ALL, filter: false }],
  ['APP_* on the routes of the team', BY_TOKEN, NOTES, ALL],
  ["useGlobal*() on Latitude's routes", UseGlobalModule, LEADS, { ...NONE, interceptor: true }],
  [
    'useGlobal*() on the routes of the team',
    UseGlobalModule,
    NOTES,
    { ...NONE, interceptor: true },
  ],
  ['@Use*() on its own controller', BY_DECORATOR, NOTES, ALL],
  ["@Use*() beside Latitude's routes", BY_DECORATOR, LEADS, NONE],
];

describe.each(CASES)('%s', (_, module, path, applied) => {
  const log = captureLog('info');
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    const settings = { writesPerMinute: 3, logLevel: 'info' } as const;
    app = await TestApp.start({ modules: [module], settings });
    unregisterDocument(app.port);
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  /** Expects the envelope, or the response of the filter of the team. */
  const expectRefused = (answer: Answer, status: number, code: string) => {
    if (applied.filter) {
      expect(answer).toMatchObject({ status: 418, body: { filtered: code } });
    } else expectError(answer, status, code);
  };

  it('checks the key, then the limit, then the scope, then the input, then the guard', async () => {
    const headers = { 'X-Guard': 'refuses' };
    expectRefused(await app.client().post(path, {}, { headers }), 401, 'unauthorized');
    const reader = await app.key(tenant.id, ['leads:read']);
    const writer = await app.key(tenant.id, ['leads:write']);
    for (let sent = 0; sent < 3; sent++) {
      expectRefused(await reader.api.post(path, {}, { headers }), 403, 'insufficient_scope');
      expectRefused(await writer.api.post(path, {}, { headers }), 400, 'validation_error');
    }
    for (const { api } of [reader, writer]) {
      expectRefused(await api.post(path, {}, { headers }), 429, 'rate_limit_exceeded');
    }
  });

  it('replays a write with a key as it was answered, and carries it out once', async () => {
    const { api } = await app.key(tenant.id);
    const headers = { 'Idempotency-Key': 'once' };
    const first = await api.post(path, { first_name: 'Ada' }, { headers });
    const { calls } = AnyInterceptor;
    const again = await api.post(path, { first_name: 'Ada' }, { headers });
    expect(AnyInterceptor.calls - calls).toBe(0);
    const created = dataOf<{ id: string; seen?: boolean }>(first, 201);
    expect(created).toMatchObject({ first_name: 'Ada' });
    expect(created.seen).toBe(applied.interceptor ? true : undefined);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    for (const name of ['etag', 'location']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(first.headers.get('location')).toBe(`${path}/${created.id}`);
  });

  it('logs each request with its route, status, organization and key', async () => {
    const headers = { 'X-Guard': 'refuses' };
    const answer = await tenant.api.get(path, { headers });
    if (applied.guard) expectRefused(answer, 403, applied.filter ? 'none' : 'forbidden');
    else expect(answer.status).toBe(200);
    expect(linesOf(log, answer)).toContainEqual(
      expect.objectContaining({
        method: 'GET',
        route: path,
        status: answer.status,
        organization_id: tenant.id,
        key_id: tenant.key.id,
      }),
    );
  });

  it('answers an exception of the guard without its message', async () => {
    const answer = await tenant.api.get(path, { headers: { 'X-Guard': 'fails' } });
    expect(JSON.stringify(answer.body)).not.toContain('secret');
    if (applied.guard) expectRefused(answer, 500, applied.filter ? 'none' : 'internal_error');
  });
});

it.each<[string, DynamicModule | Type<unknown>]>([
  ['APP_INTERCEPTOR', BY_TOKEN],
  ['useGlobalInterceptors()', UseGlobalModule],
])('an interceptor by %s receives the data and the meta of an upsert', async (_, module) => {
  const app = await TestApp.start({ modules: [module] });
  unregisterDocument(app.port);
  const { api } = await app.organization();
  const data = { first_name: 'Ada', email: 'ada@example.com' };
  for (const [status, action] of [[201, 'created'] as const, [200, 'unchanged'] as const]) {
    const headers = { 'Idempotency-Key': action };
    const body = { match_on: ['email'], data };
    const first = await api.post(`${LEADS}/upsert`, body, { headers });
    const again = await api.post(`${LEADS}/upsert`, body, { headers });
    expect(first).toMatchObject({ status, body: { data, meta: { action }, seen: true } });
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(first.headers.get('etag')).toMatch(/^"/);
    for (const name of ['etag', 'location']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
  }
  await app.stop();
});

it('a guard of useGlobalGuards() runs before authentication', async () => {
  @Module({})
  class EarlyModule {
    constructor(config: ApplicationConfig) {
      config.useGlobalGuards(new AnyGuard());
    }
  }
  const app = await TestApp.start({ modules: [EarlyModule] });
  // Before authentication, there are no rate limit headers.
  unregisterDocument(app.port);
  const headers = { 'X-Guard': 'refuses' };
  expectEnvelope(await app.client().get(LEADS, { headers }), { status: 403, code: 'forbidden' });
  expectError(await app.client().get(LEADS), 401, 'unauthorized');
  await app.stop();
});
