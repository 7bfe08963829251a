import { Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Authenticator } from '../../access/authenticator.js';
import { OrganizationSchemas } from '../../access/organization-schemas.js';
import type { Call } from '../../data/call.js';
import { bearerToken } from '../guards/access.guard.js';
import type { ApiRequest } from '../request/api-request.js';
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
  constructor(
    private readonly description: ApiDescription,
    private readonly authenticator: Authenticator,
    private readonly schemas: OrganizationSchemas,
  ) {}

  /**
   * Contains the URL of the request as the server, so that caches must revalidate it. With a valid key, it describes what the
   * organization has defined.
   */
  @PublicPage('openapi.json', {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-cache',
    Vary: 'Authorization',
  })
  async document(@Req() request: Request, @Res() response: Response): Promise<void> {
    const key = bearerToken(request as ApiRequest);
    const call = key === undefined ? undefined : await this.authenticator.authenticate(key);
    if (call) response.setHeader('Cache-Control', 'private, no-cache');
    const json = await this.jsonFor(call);
    const servers = serversOf(serverUrlOf(request));
    response.send(`${json.slice(0, -1)},"servers":${JSON.stringify(servers)}}`);
  }

  private async jsonFor(call: Call | undefined): Promise<string> {
    const json = await this.description.openApiJson();
    const described = call && (await this.schemas.applyTo(call, () => JSON.parse(json) as object));
    return described ? JSON.stringify(described) : json;
  }

  @PublicPage('llms.txt', { 'Content-Type': 'text/plain; charset=utf-8' })
  async llms(@Res() response: Response): Promise<void> {
    response.send(await this.description.llmsText());
  }
}
