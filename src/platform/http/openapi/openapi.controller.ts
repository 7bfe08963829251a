import { Controller, Get, Header, Req, Res, UseFilters } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Public } from '../routes/access.js';
import { ErrorFilter } from '../error.filter.js';
import { ApiDescription } from './api-description.js';
import { serversOf, serverUrlOf } from './server-url.js';

/**
 * Serves the OpenAPI document of all registered modules. The handlers send the responses themselves, so that interceptors
 * of a team do not change them.
 */
@Controller()
@UseFilters(ErrorFilter)
export class OpenApiController {
  constructor(private readonly description: ApiDescription) {}

  /** Contains the URL of the request as the server, so that caches must revalidate it. */
  @Get('openapi.json')
  @Public()
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  async document(@Req() request: Request, @Res() response: Response): Promise<void> {
    const json = await this.description.openApiJson();
    const servers = serversOf(serverUrlOf(request));
    response.send(`${json.slice(0, -1)},"servers":${JSON.stringify(servers)}}`);
  }

  @Get('llms.txt')
  @Public()
  @Header('Content-Type', 'text/plain; charset=utf-8')
  async llms(@Res() response: Response): Promise<void> {
    response.send(await this.description.llmsText());
  }
}
