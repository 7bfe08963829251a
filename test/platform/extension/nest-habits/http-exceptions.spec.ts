import {
  BadGatewayException,
  BadRequestException,
  ConflictException,
  Controller,
  Get,
  Header,
  HttpException,
  ImATeapotException,
  Injectable,
  InternalServerErrorException,
  Module,
  NotFoundException,
  Param,
  Res,
  ServiceUnavailableException,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Response } from 'express';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { DeletedDto } from '../../../../src/platform/fields/deleted.dto.js';
import { Tool } from '../../../../src/modules/mcp/tools/tool.decorator.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import { errorOf } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { captureLog } from '../../../support/captured-log.js';
import { documentOf } from '../../../support/openapi.js';
import { connectAgent, stopWithAgents, textOf } from '../../../support/mcp/agent.js';

const SECRET = 'hunter2-is-my-password';

/** Each exception with its status, the code and whether it is retryable. */
const EXCEPTIONS: readonly [exception: HttpException, status: number, string, boolean][] = [
  [new BadRequestException('Not so.'), 400, 'validation_error', false],
  [new UnauthorizedException('Not you.'), 401, 'unauthorized', false],
  [new NotFoundException('Not here.'), 404, 'not_found', false],
  [new HttpException('Too slow.', 408), 408, 'request_timeout', true],
  [new ConflictException('Somebody was faster.'), 409, 'conflict', false],
  [new ImATeapotException('Tea only.'), 418, 'im_a_teapot', false],
  [new HttpException('A status of our own.', 499), 499, 'http_error', false],
  [new InternalServerErrorException('We broke it.'), 500, 'internal_error', true],
  [new ServiceUnavailableException('They sleep.'), 503, 'service_unavailable', true],
];

/** Exceptions whose message is not the string that was given. */
const MESSAGES: Readonly<Record<string, [exception: HttpException, message: string]>> = {
  list: [new BadRequestException(['a is wrong', 'b is wrong']), 'a is wrong; b is wrong'],
  object: [new HttpException({ message: 'Closed.', since: 7 }, 410), 'Closed.'],
  nothing: [new HttpException({ since: 7 }, 410), 'Gone'],
  empty: [new HttpException('', 410), 'Gone'],
  wrapped: [new BadGatewayException(new Error(SECRET)), 'Bad Gateway'],
  cause: [new BadGatewayException('No.', { cause: new Error(SECRET) }), 'No.'],
};

@Injectable()
class Closed {
  canActivate() {
    return false;
  }
}

@Controller('api/v1/exceptions')
class ExceptionsController {
  @Get('status/:status')
  @AnyKey()
  status(@Param('status') status: string): never {
    throw EXCEPTIONS.find(([exception]) => exception.getStatus() === Number(status))![0];
  }

  @Get('message/:name')
  @AnyKey()
  message(@Param('name') name: string): never {
    throw MESSAGES[name]![0];
  }

  @Get('coded')
  @AnyKey()
  coded(): never {
    throw new ConflictException('Taken.', { errorCode: 'slot_taken' });
  }

  @Get('invalid-status')
  @AnyKey()
  invalidStatus(): never {
    throw new HttpException(SECRET, 42);
  }

  @Get('headers')
  @Header('Content-Type', 'text/csv')
  @Header('Content-Disposition', 'attachment')
  @Header('Cache-Control', 'no-store')
  @AnyKey()
  headers(@Res({ passthrough: true }) response: Response): never {
    response.setHeader('Retry-After', '7');
    response.setHeader('WWW-Authenticate', 'Digest');
    throw new UnauthorizedException();
  }

  @Get('guarded')
  @UseGuards(Closed)
  @AnyKey()
  guarded() {
    return {};
  }
}

@Injectable()
class ExceptionsTools {
  @Tool('close_day', {
    title: 'Close a day',
    description: 'Close a day.',
    effect: 'updates',
    scope: 'tasks:write',
    output: DeletedDto,
  })
  close(): never {
    throw new ConflictException('The day is closed.');
  }
}

@Module({ controllers: [ExceptionsController], providers: [ExceptionsTools] })
class ExceptionsModule {}

describe("an HttpException of a team's route", () => {
  const PATH = '/api/v1/exceptions';
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ modules: [ExceptionsModule] });
    tenant = await app.organization();
  });
  afterAll(() => stopWithAgents(app));

  it.each(EXCEPTIONS)('keeps its status and message: %s', async (thrown, status, code, retry) => {
    const answer = await tenant.api.get(`${PATH}/status/${status}`);
    expectEnvelope(answer, { status, code, retryable: retry });
    expect(errorOf(answer).message).toBe(thrown.message);
    expect(answer.headers.get('ratelimit-limit')).not.toBeNull();
  });

  it.each(Object.keys(MESSAGES))('has a message without a wrapped error: %s', async (name) => {
    const answer = await tenant.api.get(`${PATH}/message/${name}`);
    expect(errorOf(answer).message).toBe(MESSAGES[name]![1]);
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
  });

  it('has its errorCode as the code', async () => {
    const answer = await tenant.api.get(`${PATH}/coded`);
    expectEnvelope(answer, { status: 409, code: 'slot_taken' });
  });

  it('has the error body of the OpenAPI document', async () => {
    const { components } = await documentOf(app);
    const ajv = new Ajv2020({ validateFormats: false });
    ajv.addVocabulary(['components']).addSchema({ $id: 'document', components });
    const { body } = await tenant.api.get(`${PATH}/coded`);
    const schema = { $ref: 'document#/components/schemas/Error' };
    expect({ isValid: ajv.validate(schema, body), errors: ajv.errors }).toEqual({
      isValid: true,
      errors: null,
    });
  });

  it('is an internal_error without its message if its status is not valid', async () => {
    const answer = await tenant.api.get(`${PATH}/invalid-status`);
    expectEnvelope(answer, { status: 500, code: 'internal_error', retryable: true });
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
  });

  it('keeps the headers of the route, except those of the body that was not sent', async () => {
    const answer = await tenant.api.get(`${PATH}/headers`);
    expectEnvelope(answer, { status: 401, code: 'unauthorized' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.headers.get('www-authenticate')).toBe('Digest');
    expect(answer.headers.get('content-disposition')).toBeNull();
  });

  it('is forbidden, and not insufficient_scope, if a guard returns false', async () => {
    const answer = await tenant.api.get(`${PATH}/guarded`);
    expectEnvelope(answer, { status: 403, code: 'forbidden' });
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });

  it('is the error of a tool, with advice', async () => {
    const agent = await connectAgent(app, tenant);
    const { code, retryable } = await agent.fail('close_day');
    expect({ code, retryable }).toEqual({ code: 'conflict', retryable: false });
    expect(textOf(await agent.call('close_day'))).toBe(
      'conflict: The day is closed. Do not repeat the same call. Tell the user what the message says.',
    );
  });
});

describe('the log', () => {
  const lines = captureLog();

  it('has an exception of status 500 and above with its cause, but without messages', async () => {
    const app = await TestApp.start({
      modules: [ExceptionsModule],
      settings: { logLevel: 'error' },
    });
    const { api } = await app.organization();
    await api.get('/api/v1/exceptions/status/409');
    await api.get('/api/v1/exceptions/message/cause');
    await app.stop();
    const [logged] = lines
      .map((line) => JSON.parse(line) as { err?: object })
      .flatMap(({ err }) => err ?? []);
    expect(logged).toMatchObject({ type: 'BadGatewayException', cause: { type: 'Error' } });
    expect(lines.join()).not.toContain(SECRET);
  });
});
