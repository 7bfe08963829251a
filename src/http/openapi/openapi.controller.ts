import { Controller, Get, Header, Req } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
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

  constructor(private readonly modules: ModulesContainer) {}

  /** Contains the URL of the request as the server, so that caches must revalidate it. */
  @Get('openapi.json')
  @Public()
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  async document(@Req() request: Request): Promise<string> {
    this.documentJson ??= JSON.stringify({ ...(await this.describe()), servers: undefined });
    const servers = serversOf(serverUrlOf(request));
    return `${this.documentJson.slice(0, -1)},"servers":${JSON.stringify(servers)}}`;
  }

  /** The API as one document for code assistants. */
  @Get('llms.txt')
  @Public()
  @Header('Content-Type', 'text/plain; charset=utf-8')
  async llms(): Promise<string> {
    this.llmsText ??= llmsText(await this.describe());
    return this.llmsText;
  }

  private describe(): Promise<OpenApiDocument> {
    return openApiDocument(this.modules, localUrl());
  }
}
