import { Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { LatitudeController } from '../../platform/http/routes/api-controller.decorator.js';
import { Public } from '../../platform/http/routes/access.js';
import { METADATA_PATH, ProtectedResource } from './protected-resource.js';

/** The metadata of /mcp as a resource of OAuth (docs/contract/oauth.md#resource). */
@LatitudeController()
export class ResourceController {
  constructor(private readonly resource: ProtectedResource) {}

  @Get([METADATA_PATH, `${METADATA_PATH}/mcp`])
  @Public()
  get(@Req() { originalUrl }: Request, @Res() response: Response): void {
    response.set('Access-Control-Allow-Origin', '*').json(this.resource.metadataOf(originalUrl));
  }
}
