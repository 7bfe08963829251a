import { Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PublicPage } from '../routes/access.js';
import { LatitudeController } from '../routes/api-controller.decorator.js';
import { ApiDescription } from './api-description.js';
import { serversOf, serverUrlOf } from './server-url.js';

/**
 * Serves the OpenAPI document of all registered modules. The handlers send the responses themselves, so that interceptors
 * of a team do not change them.
 */
@LatitudeController()
export class OpenApiController {
  constructor(private readonly description: ApiDescription) {}

  /** Contains the URL of the request as the server, so that caches must revalidate it. */
  @PublicPage('openapi.json', {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-cache',
  })
  async document(@Req() request: Request, @Res() response: Response): Promise<void> {
    const json = await this.description.openApiJson();
    const servers = serversOf(serverUrlOf(request));
    response.send(`${json.slice(0, -1)},"servers":${JSON.stringify(servers)}}`);
  }

  @PublicPage('llms.txt', { 'Content-Type': 'text/plain; charset=utf-8' })
  async llms(@Res() response: Response): Promise<void> {
    response.send(await this.description.llmsText());
  }
}
