import { Body, Controller, Get, Module, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public, RawRoute } from '../../../../src/platform/http/routes/access.js';
import { declareRoute } from '../../../../src/platform/http/routes/route-declarations.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { AccessCheck } from '../../../../src/platform/http/access-check.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import { expectError, expectInvalid, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { unregisterDocument } from '../../../../src/testing/validate-answer.js';
import { captureLog, linesOf } from '../../../support/captured-log.js';

@Controller('api/v1/undeclared')
class UndeclaredController {
  @Get('nothing')
  nothing() {
    return { secret: true };
  }

  @Get('unknown')
  @declareRoute({ access: 'secrets:read' as never })
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

class NoteDto {
  @Text({ max: 10, required: true }) first_name: string;
}

@Controller('plain')
class PlainController {
  @Get('open')
  @Public()
  open(@Query('name') name: string) {
    return { name };
  }

  @Post('open')
  @Public()
  create(@Body() note: NoteDto) {
    return note;
  }

  @Get('failing')
  @Public()
  fail(): never {
    throw new Error('secret');
  }

  @Get('raw')
  @RawRoute()
  raw(@Query('name') name: string, @Res() response: Response) {
    response.json({ name });
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

  it('@Public() requires no key and @RawRoute() does', async () => {
    expect((await app.client().get('/plain/open')).status).toBe(200);
    expectError(await app.client().get('/plain/raw'), 401, 'unauthorized');
    expect((await tenant.api.get('/plain/raw')).status).toBe(200);
  });

  it.each(['/plain/open', '/plain/raw'])('%s is not counted', async (path) => {
    const before = await tenant.api.get(LEADS);
    await tenant.api.get(path);
    const remaining = Number(before.headers.get('ratelimit-remaining'));
    const after = await tenant.api.get(LEADS);
    expect(after.headers.get('ratelimit-remaining')).toBe(String(remaining - 1));
  });

  it.each(['/plain/open', '/plain/raw'])('%s has no envelope', async (path) => {
    const { body } = await tenant.api.get(`${path}?name=a`);
    expect(body).toEqual({ name: 'a' });
  });

  it.each(['/plain/open', '/plain/raw'])(
    '%s checks declared input and ignores other parameters',
    async (path) => {
      expectInvalid(await tenant.api.get(`${path}?name=a&name=b`), 'name');
      expect((await tenant.api.get(`${path}?other=b`)).status).toBe(200);
    },
  );

  it.each([
    ['an unknown property', '{"first_name":"a","other":1}', 'other'],
    ['a duplicate key', '{"first_name":"a","first_name":"b"}', 'first_name'],
  ])('a declared class is checked as on other routes: %s', async (_, body, field) => {
    expectInvalid(await app.client().post('/plain/open', body), field);
  });

  it('errors have the envelope', async () => {
    const answer = await app.client().get('/plain/failing');
    expectEnvelope(answer, { status: 500, code: 'internal_error', retryable: true });
  });

  it.each(['/plain/open', '/plain/raw'])('%s is logged with its X-Request-Id', async (path) => {
    const lines = linesOf(log, await tenant.api.get(path));
    expect(lines).toContainEqual(expect.objectContaining({ route: path, status: 200 }));
  });
});
