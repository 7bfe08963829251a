import { type INestApplication, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PublicPage } from '../routes/access.js';
import { LatitudeController } from '../routes/api-controller.decorator.js';
import { llmsText } from './llms-text.js';
import type { OpenApiDocument } from './model.js';
import { localUrl, serversOf, serverUrlOf } from './server-url.js';

/**
 * Serves the description of the API, whose forms are kept after their first request. The handlers send the responses
 * themselves, so that interceptors of a team do not change them.
 */
@LatitudeController()
export class OpenApiController {
  private application?: INestApplication;
  /** The OpenAPI document, without `servers`. */
  private json?: string;
  private text?: string;

  /** @param application its modules are described */
  describe(application: INestApplication): void {
    this.application = application;
  }

  /** Contains the URL of the request as the server, so that caches must revalidate it. */
  @PublicPage('openapi.json', {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-cache',
  })
  async document(@Req() request: Request, @Res() response: Response): Promise<void> {
    this.json ??= JSON.stringify({ ...(await this.createDocument()), servers: undefined });
    const servers = serversOf(serverUrlOf(request));
    response.send(`${this.json.slice(0, -1)},"servers":${JSON.stringify(servers)}}`);
  }

  @PublicPage('llms.txt', { 'Content-Type': 'text/plain; charset=utf-8' })
  async llms(@Res() response: Response): Promise<void> {
    this.text ??= llmsText(await this.createDocument());
    response.send(this.text);
  }

  private async createDocument(): Promise<OpenApiDocument> {
    if (!this.application) throw new Error('describe() has not been called.');
    // Loaded when it is needed, because @nestjs/swagger takes 0.2 s of CPU.
    const { openApiDocument } = await import('./document.js');
    return openApiDocument(this.application, localUrl());
  }
}
