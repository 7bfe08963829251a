import { Controller, Get, Header, Req, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Request } from 'express';
import { Public } from '../../auth/access.js';
import { openApiDocument, serversOf } from './document.js';
import { llmsText } from './llms-text.js';
import type { OpenApiDocument } from './model.js';
import { localUrl, serverUrlOf } from './server-url.js';

/** Serves the OpenAPI document of all registered modules. */
@Controller()
export class OpenApiController {
  /** The document without `servers`. */
  private documentJson?: string;
  private llmsText?: string;

  constructor(private readonly discovery: DiscoveryService) {}

  /** Contains the URL of the request as the server, so that caches must revalidate it. */
  @Get('openapi.json')
  @Public()
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  document(@Req() request: Request): string {
    this.documentJson ??= JSON.stringify({ ...this.describe(), servers: undefined });
    const servers = serversOf(serverUrlOf(request));
    return `${this.documentJson.slice(0, -1)},"servers":${JSON.stringify(servers)}}`;
  }

  /** The API as one text for code assistants. */
  @Get('llms.txt')
  @Public()
  @Header('Content-Type', 'text/plain; charset=utf-8')
  llms(): string {
    this.llmsText ??= llmsText(this.describe());
    return this.llmsText;
  }

  private describe(): OpenApiDocument {
    return openApiDocument(controllersOf(this.discovery), localUrl());
  }
}

/** Returns the classes of all registered controllers. */
export function controllersOf(discovery: DiscoveryService): Type<object>[] {
  return discovery.getControllers().map(({ metatype }) => metatype as Type<object>);
}
