import {
  Body,
  type CallHandler,
  Controller,
  Get,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type OnModuleInit,
  Post,
  UploadedFile,
  UseInterceptors,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ExpressAdapter } from '@nestjs/platform-express';
import { FileInterceptor } from '@nestjs/platform-express';
import { IsInt } from 'class-validator';
import express, { type NextFunction, type Request, type Response } from 'express';
import { AnyKey, Public } from '../../../../src/platform/http/routes/access.js';
import { Integer, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import {
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { unregisterDocument } from '../../../../src/testing/validate-answer.js';
import { captureLog, linesOf } from '../../../support/captured-log.js';

class ImportDto {
  @Text({ max: 20, required: true })
  title: string;

  @Integer({ min: 1, max: 9 })
  copies?: number;
}

class CheckedDto {
  @IsInt()
  copies: number;
}

interface ReceivedFile {
  readonly originalname: string;
  readonly size: number;
}

@Controller('api/v1/imports')
class ImportsController {
  @Get('middleware')
  @AnyKey()
  middleware() {
    return { seen: seenQueries.at(-1) };
  }

  @Post('file')
  @AnyKey()
  @UseInterceptors(FileInterceptor('file'))
  file(@UploadedFile() file: ReceivedFile) {
    return { name: file.originalname, size: file.size };
  }

  @Post('form')
  @AnyKey()
  @UseInterceptors(FileInterceptor('file'))
  form(@Body() body: ImportDto, @UploadedFile() file?: ReceivedFile) {
    return { ...body, name: file?.originalname };
  }

  @Post('checked')
  @AnyKey()
  @UseInterceptors(FileInterceptor('file'))
  checked(@Body() body: CheckedDto) {
    return { ...body };
  }

  @Post('unparsed')
  @AnyKey()
  @UseInterceptors({ intercept: (_: unknown, next: CallHandler) => next.handle() })
  unparsed(@Body() body: ImportDto) {
    return { ...body };
  }

  @Post('number')
  @AnyKey()
  @UseInterceptors(FileInterceptor('file'))
  number(@Body('copies') copies: number) {
    return { copies };
  }

  @Post('public')
  @Public()
  @UseInterceptors(FileInterceptor('file'))
  open(@Body('title') title: string) {
    return { title };
  }

  @Post('json')
  @AnyKey()
  json(@Body() body: ImportDto) {
    return { ...body };
  }

  @Post(['parsed', 'read', 'begun'])
  @AnyKey()
  parsed(@Body() body: ImportDto) {
    return { ...body };
  }
}

@Controller()
class HomeController {
  @Get()
  @Public()
  home() {
    return 'the page of a team';
  }
}

const seenQueries: unknown[] = [];

/** Serves a path of Express, as packages for static files and dashboards do. */
@Injectable()
class StaticFiles implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    const app = this.host.httpAdapter.getInstance<express.Express>();
    app.use('/static', (_: Request, response: Response) => void response.send('a file'));
  }
}

@Module({ controllers: [ImportsController, HomeController], providers: [StaticFiles] })
class ImportsModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    const recordQuery = (request: Request, _: Response, next: NextFunction) => {
      seenQueries.push({ ...request.query });
      next();
    };
    consumer.apply(recordQuery).forRoutes('api/v1/imports/middleware');
    consumer.apply(express.json()).forRoutes('api/v1/imports/parsed');
    const readAll = (request: Request, _: Response, next: NextFunction) => {
      request.resume().once('end', next);
    };
    const readFirst = (request: Request, _: Response, next: NextFunction) => {
      request.once('data', () => void setImmediate(next));
    };
    consumer.apply(readAll).forRoutes('api/v1/imports/read');
    consumer.apply(readFirst).forRoutes('api/v1/imports/begun');
  }
}

const IMPORTS = '/api/v1/imports';

const log = captureLog('error');
let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [ImportsModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

/** Sends a form with the file `a.txt`. */
async function upload(
  path: string,
  fields: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob(['abc']), 'a.txt');
  const response = await fetch(`${app.url}${IMPORTS}/${path}`, {
    method: 'POST',
    body: form,
    headers: { Authorization: `Bearer ${tenant.key.key}`, ...headers },
  });
  const body: unknown = await response.json();
  return { status: response.status, headers: response.headers, body };
}

describe('an upload with FileInterceptor', () => {
  it('receives the file', async () => {
    expect(dataOf(await upload('file'), 201)).toEqual({ name: 'a.txt', size: 3 });
  });

  it('receives the fields of the form as the DTO of @Body(), with numbers read from text', async () => {
    const created = await upload('form', { title: ' Spring ', copies: '3' });
    expect(dataOf(created, 201)).toEqual({ title: 'Spring', copies: 3, name: 'a.txt' });
  });

  it.each<[string, string, Record<string, string>, string[]]>([
    ['a missing field', 'form', {}, ['title']],
    ['a field out of bounds', 'form', { title: 'x', copies: '10' }, ['copies']],
    ['an unknown field', 'form', { title: 'x', pages: '1' }, ['pages']],
    ['a nested field', 'form', { 'title[a]': 'x' }, ['title']],
    ['a repeated field', 'form', { title: 'x', 'copies[]': '1' }, ['copies']],
    ['a rule of class-validator', 'checked', { copies: 'x' }, ['copies']],
  ])('with %s is a validation error', async (_, path, fields, names) => {
    expectInvalid(await upload(path, fields), ...names);
  });

  it('passes a field as a value of the type of its parameter', async () => {
    expect(dataOf(await upload('number', { copies: '3' }), 201)).toEqual({ copies: 3 });
    expectInvalid(await upload('number', { copies: 'x' }), 'copies');
  });

  it('takes JSON too', async () => {
    const created = await tenant.api.post(`${IMPORTS}/form`, { title: 'x' });
    expect(dataOf(created, 201)).toEqual({ title: 'x' });
  });

  it('passes the fields of the form on a public route, and ignores unknown ones', async () => {
    expect((await upload('public', { title: 'x', pages: '1' })).body).toEqual({ title: 'x' });
  });

  it('with an Idempotency-Key is refused, because files cannot be compared', async () => {
    const headers = { 'Idempotency-Key': 'file-1' };
    const refused = await upload('file', {}, headers);
    expectInvalid(refused, 'Idempotency-Key');
    expect(refused.body).toMatchObject({
      error: {
        message: 'Idempotency-Key cannot be used with this route, because its body is not JSON.',
      },
    });
  });
});

it.each(['json', 'unparsed'])(
  'a form on a route without an interceptor that parses it is a 415: %s',
  async (path) => {
    expectError(await upload(path, { title: 'x' }), 415, 'unsupported_media_type');
  },
);

it('middleware receives the query, with repeated parameters as arrays', async () => {
  await tenant.api.get(`${IMPORTS}/middleware?a=1&b=2&b=3`);
  expect(seenQueries.at(-1)).toEqual({ a: '1', b: ['2', '3'] });
});

describe('middleware of a team that reads the body', () => {
  it.each(['parsed', 'read', 'begun'])(
    'fails the request with the cause, in the response and in the log: %s',
    async (path) => {
      const answer = await tenant.api.post(`${IMPORTS}/${path}`, { title: 'x' });
      expectError(answer, 500, 'internal_error');
      const { message } = errorOf(answer);
      expect(message).toMatch(/^Middleware of this server.+has read the body before Latitude/);
      expect(linesOf(log, answer)).toContainEqual(
        expect.objectContaining({ level: 50, msg: message, route: `${IMPORTS}/${path}` }),
      );
    },
  );

  it('does not affect other routes', async () => {
    const created = await tenant.api.post(`${IMPORTS}/json`, { title: 'x' });
    expect(dataOf(created, 201)).toEqual({ title: 'x' });
  });

  it.each<[string, string, number, string]>([
    ['broken JSON', '{"title":', 400, 'validation_error'],
    ['a body over the limit of the parser', `"${'x'.repeat(200_000)}"`, 413, 'payload_too_large'],
  ])('answers its own errors in the envelope: %s', async (_, body, status, code) => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await tenant.api.request('POST', `${IMPORTS}/parsed`, { body, headers });
    expectEnvelope(answer, { status, code });
  });

  it('has the id of the request, also if a constructor registers it before all other middleware', async () => {
    @Injectable()
    class Parser {
      constructor({ httpAdapter }: HttpAdapterHost<ExpressAdapter>) {
        httpAdapter.useBodyParser('json', false);
      }
    }
    @Module({ providers: [Parser] })
    class ParserModule {}
    const early = await TestApp.start({ modules: [ParserModule] });
    // Before authentication, there are no rate limit headers.
    unregisterDocument(early.port);
    const answer = await early.client().post(LEADS, '{"first_name":');
    expectEnvelope(answer, { status: 400, code: 'validation_error' });
    await early.stop();
  });
});

it('what a module registers with Express in onModuleInit is served, and unknown paths are still 404', async () => {
  expect(await (await fetch(`${app.url}/static/a.txt`)).text()).toBe('a file');
  expectError(await tenant.api.get('/api/v1/unknown'), 404, 'not_found');
  expectError(await tenant.api.get(`${LEADS}/`), 404, 'not_found');
});

it('a route of a team at / replaces the start page', async () => {
  const page = await fetch(`${app.url}/`, { headers: { Accept: 'text/html' } });
  expect(await page.text()).toBe('the page of a team');
});
