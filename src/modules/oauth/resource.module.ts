import { Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { McpModule } from '../mcp/mcp.module.js';
import { ProtectedResource } from './protected-resource.js';
import { ResourceController } from './resource.controller.js';

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
