import {
  type ArgumentsHost,
  Body,
  Catch,
  ConflictException,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  Injectable,
  Module,
  Post,
  type Type,
  UseFilters,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { AnyKey, RequireScope } from '../../../../src/platform/http/access.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { ApiError } from '../../../../src/platform/errors/api-error.js';
import { ErrorFilter } from '../../../../src/platform/http/error.filter.js';
import type { ApiRequest } from '../../../../src/platform/http/request/api-request.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import { expectError, LEADS } from '../../../../src/testing/factories.js';
import { ROUTES } from '../../../../src/testing/routes.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { unregisterDocument } from '../../../../src/testing/validate-answer.js';

const NOTES = '/api/v1/notes';

class NoteDto {
  @Text({ max: 5, required: true }) text: string;
}

@Controller(NOTES)
class NotesController {
  @Post()
  @RequireScope('leads:write')
  create(@Body() note: NoteDto) {
    return note;
  }

  @Get('conflict')
  @AnyKey()
  conflict(): never {
    throw new ConflictException('Taken.');
  }

  @Get('error')
  @AnyKey()
  error(): never {
    throw new Error('secret');
  }
}

/** The catch-all filter of the documentation of Nest. */
@Catch()
class AllExceptionsFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const context = host.switchToHttp();
    const status = exception instanceof HttpException ? exception.getStatus() : 500;
    const body = { statusCode: status, path: context.getRequest<ApiRequest>().path };
    this.host.httpAdapter.reply(context.getResponse(), body, status);
  }
}

/** A filter that reports exceptions and leaves the response to Nest. */
@Catch()
class NestReportingFilter extends BaseExceptionFilter {
  static readonly reported: unknown[] = [];

  override catch(exception: unknown, host: ArgumentsHost): void {
    NestReportingFilter.reported.push(exception);
    super.catch(exception, host);
  }
}

/** A filter that reports exceptions and leaves the response to Latitude. */
@Catch()
class ReportingFilter extends ErrorFilter {
  static readonly reported: unknown[] = [];

  override catch(exception: unknown, host: ArgumentsHost): void {
    ReportingFilter.reported.push(exception);
    super.catch(exception, host);
  }
}

class QuotaExceeded extends Error {}

@Catch(QuotaExceeded)
class QuotaFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(_: unknown, host: ArgumentsHost): void {
    this.host.httpAdapter.reply(host.switchToHttp().getResponse(), { quota: 0 }, 402);
  }
}

@Catch(ApiError)
class ApiErrorFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch({ code, status }: ApiError, host: ArgumentsHost): void {
    this.host.httpAdapter.reply(host.switchToHttp().getResponse(), { code }, status);
  }
}

@Injectable()
class QuotaGuard {
  canActivate(): boolean {
    throw new QuotaExceeded();
  }
}

async function withFilter(
  useClass: Type<ExceptionFilter>,
  test: (tenant: Tenant, app: TestApp) => Promise<void>,
  guards: readonly Type<unknown>[] = [],
): Promise<void> {
  @Module({
    controllers: [NotesController],
    providers: [
      { provide: APP_FILTER, useClass },
      ...guards.map((guard) => ({ provide: APP_GUARD, useClass: guard })),
    ],
  })
  class NotesModule {}

  const app = await TestApp.start({ modules: [NotesModule], settings: { writesPerMinute: 2 } });
  // The filters answer in forms of their own.
  unregisterDocument(app.port);
  try {
    await test(await app.organization(), app);
  } finally {
    await app.stop();
  }
}

async function expectEnvelopes({ api }: Tenant, app: TestApp): Promise<void> {
  expectError(await api.post(LEADS, {}), 400, 'validation_error');
  expectError(await api.get(`${LEADS}/x`), 404, 'not_found');
  expectError(await api.get('/api/v1/nowhere'), 404, 'not_found');
  expectError(await app.client().get('/mcp'), 401, 'unauthorized');
  for (const { method, pattern } of ROUTES) {
    expectError(await app.client().request(method, pattern), 401, 'unauthorized');
  }
}

describe('a catch-all APP_FILTER', () => {
  it('answers only on the routes of the team, with the statuses of Latitude', () =>
    withFilter(AllExceptionsFilter, async (tenant, app) => {
      await expectEnvelopes(tenant, app);
      const { api } = tenant;
      const path = (name: string) => (name === '' ? NOTES : `${NOTES}/${name}`);
      const expectOwn = (answer: { status: number; body: unknown }, status: number, name = '') => {
        expect([answer.status, answer.body]).toEqual([
          status,
          { statusCode: status, path: path(name) },
        ]);
      };
      expectOwn(await api.get(path('conflict')), 409, 'conflict');
      expectOwn(await api.get(path('error')), 500, 'error');
      expectOwn(await api.post(NOTES, { text: 'too long' }), 400);
      expectOwn(await app.client().post(NOTES, {}), 401);
      const limited = await api.post(NOTES, {});
      expectOwn(limited, 429);
      expect(limited.headers.get('ratelimit-remaining')).toBe('0');
    }));

  it("sends Latitude's envelope for Latitude's errors if it extends BaseExceptionFilter", () =>
    withFilter(NestReportingFilter, async (tenant, app) => {
      await expectEnvelopes(tenant, app);
      expect(await tenant.api.post(NOTES, { text: 'too long' })).toMatchObject({
        status: 400,
        body: { error: { code: 'validation_error', details: [{ field: 'text' }] } },
      });
      expect(await tenant.api.get(`${NOTES}/conflict`)).toMatchObject({
        status: 409,
        body: { statusCode: 409, message: 'Taken.' },
      });
      expect(NestReportingFilter.reported).toHaveLength(2);
    }));

  it('sends the envelope if it extends ErrorFilter', () =>
    withFilter(ReportingFilter, async (tenant, app) => {
      await expectEnvelopes(tenant, app);
      expect(ReportingFilter.reported).toEqual([]);
      const answer = await tenant.api.get(`${NOTES}/error`);
      expectEnvelope(answer, { status: 500, code: 'internal_error', retryable: true });
      expect(ReportingFilter.reported.at(-1)).toBeInstanceOf(Error);
    }));
});

describe('a typed APP_FILTER', () => {
  it('answers its exception on routes of the team; Latitude answers internal_error', () =>
    withFilter(
      QuotaFilter,
      async ({ api }, app) => {
        expect(await api.get(`${NOTES}/error`)).toMatchObject({ status: 402, body: { quota: 0 } });
        for (const path of [LEADS, '/mcp']) {
          expectError(await api.get(path), 500, 'internal_error');
        }
        expectError(await app.client().get(LEADS), 401, 'unauthorized');
      },
      [QuotaGuard],
    ));

  it('receives an ApiError that it names, on the routes of the team', () =>
    withFilter(ApiErrorFilter, async (tenant, app) => {
      await expectEnvelopes(tenant, app);
      const { body } = await tenant.api.post(NOTES, {});
      expect(body).toEqual({ code: 'validation_error' });
    }));
});

describe('@UseFilters with a catch-all filter', () => {
  it('answers only on its controller', async () => {
    @Controller('api/v1/others')
    @UseFilters(AllExceptionsFilter)
    class OthersController {
      @Get()
      @RequireScope('tasks:read')
      list() {
        return [];
      }
    }

    @Module({ controllers: [OthersController, NotesController] })
    class OthersModule {}

    const app = await TestApp.start({ modules: [OthersModule] });
    try {
      const { api } = await app.organization({ scopes: ['leads:read'] });
      const { body } = await api.get('/api/v1/others');
      expect(body).toEqual({ statusCode: 403, path: '/api/v1/others' });
      expectError(await api.get(`${NOTES}/conflict`), 409, 'conflict');
      expectError(await api.get('/api/v1/tasks'), 403, 'insufficient_scope');
    } finally {
      await app.stop();
    }
  });
});
