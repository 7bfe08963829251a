import { Controller, Get, Module, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AnyKey } from '../../../src/platform/http/routes/access.js';
import { ApiError } from '../../../src/platform/errors/api-error.js';
import type { ErrorCode } from '../../../src/platform/errors/error-catalogue.js';

/** Part of every thrown message. Responses and the log must not contain it. */
export const SECRET = 'hunter2-is-my-password';

/** Unexpected values that the handlers of a module can throw. */
export const UNEXPECTED: Readonly<Record<string, unknown>> = {
  error: new Error(SECRET),
  'type-error': new TypeError(SECRET),
  text: SECRET,
  nothing: undefined,
  null: null,
  number: 404,
  'look-alike': { status: 200, statusCode: 200, code: 'not_found', message: SECRET },
  'http-error': Object.assign(new Error(SECRET), { status: 404, statusCode: 404, expose: true }),
};

@Controller('api/v1/test')
class FailingController {
  @Get('codes/:code')
  @AnyKey()
  code(@Param('code') code: ErrorCode): never {
    throw new ApiError(code);
  }

  @Get('unforeseen/:what')
  @AnyKey()
  unforeseen(@Param('what') what: string): never {
    throw UNEXPECTED[what];
  }

  @Get('later')
  @AnyKey()
  later(): Promise<never> {
    return new Promise((_, reject) => {
      setImmediate(reject, new Error(SECRET));
    });
  }

  @Get('half')
  @AnyKey()
  half(@Res() response: Response): never {
    response.status(200).write('{"data":');
    throw new Error(SECRET);
  }
}

/** Routes below `/api/v1/test` that fail. */
@Module({ controllers: [FailingController] })
export class FailingModule {}
