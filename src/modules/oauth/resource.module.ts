import { Controller, Get, Module, Req, Res, UseFilters } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { Public } from '../../platform/http/routes/access.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import { McpModule } from '../mcp/mcp.module.js';
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

/** /mcp as a resource of an authorization server, the built-in one or another. */
@Module({
  imports: [McpModule],
  controllers: [ResourceController],
  providers: [ProtectedResource],
  exports: [ProtectedResource],
})
export class ResourceModule {
  constructor({ httpAdapter }: HttpAdapterHost) {
    httpAdapter.use(withoutSlash);
  }
}

/** Answers at `/mcp/` and its metadata as without the slash, because the identifier is what a user has entered. */
function withoutSlash(request: Request, _response: Response, next: NextFunction): void {
  request.url = request.url.replace(
    /(?<=^(\/\.well-known\/oauth-protected-resource)?\/mcp)\/(?=\?|$)/,
    '',
  );
  next();
}
