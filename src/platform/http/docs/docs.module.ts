import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Controller, Get, Header, Module, Res, UseFilters } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../routes/access.js';
import { CONTENT_SECURITY_POLICY, PAGE } from './docs.page.js';
import { ErrorFilter } from '../error.filter.js';

const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const HERE = dirname(fileURLToPath(import.meta.url));

/** The interactive API reference. Each file has its own route, so that no other file is reachable. */
@Controller('docs')
@UseFilters(ErrorFilter)
class DocsController {
  @Get()
  @Public()
  @Header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  page(@Res() response: Response): void {
    asAsset(response).set('Referrer-Policy', 'no-referrer').type('html').send(PAGE);
  }

  @Get('start.js')
  @Public()
  start(@Res() response: Response): void {
    asAsset(response).sendFile('start.js', { ...SEND_OPTIONS, root: HERE });
  }

  @Get('reference.css')
  @Public()
  ownStyle(@Res() response: Response): void {
    asAsset(response).sendFile('reference.css', { ...SEND_OPTIONS, root: HERE });
  }

  @Get('swagger-ui.css')
  @Public()
  style(@Res() response: Response): void {
    asAsset(response).sendFile('swagger-ui.css', SEND_OPTIONS);
  }

  @Get('swagger-ui-bundle.js')
  @Public()
  bundle(@Res() response: Response): void {
    asAsset(response).sendFile('swagger-ui-bundle.js', SEND_OPTIONS);
  }
}

const SEND_OPTIONS = { root: SWAGGER_UI, cacheControl: false };

/** Sets the headers of a static file. Browsers revalidate it, because it changes with releases. */
function asAsset(response: Response): Response {
  return response.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
}

/** Serves `/docs`. `serverModule()` imports it only if the setting `DOCS` is on. */
@Module({ controllers: [DocsController] })
export class DocsModule {}
