import { createHash } from 'node:crypto';
import { type MiddlewareConsumer, Module, type NestModule, Req, Res } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../../errors/api-error.js';
import { PublicPage } from '../routes/access.js';
import { LatitudeController } from '../routes/api-controller.decorator.js';
import { ConsoleFiles, rootOf } from './console-files.js';

/** Forbids inline code, other origins, framing, and text that becomes HTML. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

const ASSETS = '/console/assets/';

/** The names of files contain a hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** The console. Its views have addresses below `/console`, and each is the same page. */
@LatitudeController('console')
class ConsoleController {
  private readonly files = new ConsoleFiles();

  @PublicPage(['', '{*view}'])
  answer(@Req() request: Request, @Res() response: Response): void {
    const { path } = request;
    if (!path.startsWith(ASSETS)) {
      const page = this.files.page(rootOf(path));
      response.set('Cache-Control', 'no-cache').type('html');
      response.set('ETag', etagOf(page)).send(page);
      return;
    }
    const file = this.files.asset(path.slice(ASSETS.length));
    if (!file) throw new ApiError('not_found', { message: 'There is no such file.' });
    response.vary('Accept-Encoding').set('Cache-Control', IMMUTABLE).type(file.type);
    const isCompressed = request.acceptsEncodings('gzip') === 'gzip';
    if (isCompressed) response.set('Content-Encoding', 'gzip');
    const content = isCompressed ? file.compressed : file.content;
    response.set('ETag', etagOf(content)).send(content);
  }
}

function etagOf(content: string | Buffer): string {
  return `"${createHash('sha256').update(content).digest('base64url')}"`;
}

/** Serves `/console`. `serverModule()` imports it only if the setting `CONSOLE` is on. */
@Module({ controllers: [ConsoleController] })
export class ConsoleModule implements NestModule {
  /** Sets the headers of every answer below `/console`, also of refusals that reach no handler. */
  configure(consumer: MiddlewareConsumer): void {
    const setHeaders = (_request: Request, response: Response, next: NextFunction) => {
      response.set(HEADERS);
      next();
    };
    consumer.apply(setHeaders).forRoutes('console', 'console/{*view}');
  }
}
