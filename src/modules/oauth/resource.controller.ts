import { Controller, Get, Req, Res, UseFilters } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import { Public } from '../../platform/http/routes/access.js';
import { METADATA_PATH, ProtectedResource } from './protected-resource.js';

/** The metadata of /mcp as a resource of OAuth (docs/contract/oauth.md#resource). */
@Controller()
@UseFilters(ErrorFilter)
export class ResourceController {
  constructor(private readonly resource: ProtectedResource) {}

  @Get([METADATA_PATH, `${METADATA_PATH}/mcp`])
  @Public()
  get(@Req() { originalUrl }: Request, @Res() response: Response): void {
    response.set('Access-Control-Allow-Origin', '*').json(this.resource.metadataOf(originalUrl));
  }
}
