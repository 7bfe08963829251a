import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { Module, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PublicPage } from '../routes/access.js';
import { CONTENT_SECURITY_POLICY, PAGE } from './docs.page.js';
import { LatitudeController } from '../routes/api-controller.decorator.js';

const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The interactive API reference. The path of each file is a route, so that no other file is reachable. */
@LatitudeController('docs')
class DocsController {
  @PublicPage('', { 'Content-Security-Policy': CONTENT_SECURITY_POLICY })
  page(@Res() response: Response): void {
    asAsset(response).set('Referrer-Policy', 'no-referrer').type('html').send(PAGE);
  }

  @PublicPage(['start.js', 'reference.css', 'swagger-ui.css', 'swagger-ui-bundle.js'])
  asset(@Req() { path }: Request, @Res() response: Response): void {
    const name = basename(path);
    const root = name.startsWith('swagger-ui') ? SWAGGER_UI : import.meta.dirname;
    asAsset(response).sendFile(name, { root, cacheControl: false });
  }
}

/** Sets the headers of a static file. Browsers revalidate it, because it changes with releases. */
function asAsset(response: Response): Response {
  return response.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
}

/** Serves `/docs`. `serverModule()` imports it only if the setting `DOCS` is on. */
@Module({ controllers: [DocsController] })
export class DocsModule {}
