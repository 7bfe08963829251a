import {
  Controller,
  Get,
  Header,
  type INestApplication,
  Req,
  Res,
  UseFilters,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { Public } from '../../auth/access.js';
import { openApiDocument, serversOf } from './document.js';
import { llmsText } from './llms-text.js';
import type { OpenApiDocument } from './model.js';
import { localUrl, serverUrlOf } from './server-url.js';
import { ErrorFilter } from '../error.filter.js';

/**
 * Serves the OpenAPI document of all registered modules. The handlers send the responses themselves, so that interceptors
 * of a team do not change them.
 */
@Controller()
@UseFilters(ErrorFilter)
export class OpenApiController {
  /** The document without `servers`. */
  private documentJson?: string;
  private llmsText?: string;

  /** The application whose modules are described. */
  application!: INestApplication;

  /** Contains the URL of the request as the server, so that caches must revalidate it. */
  @Get('openapi.json')
  @Public()
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  async document(@Req() request: Request, @Res() response: Response): Promise<void> {
    this.documentJson ??= JSON.stringify({ ...(await this.describe()), servers: undefined });
    const servers = serversOf(serverUrlOf(request));
    response.send(`${this.documentJson.slice(0, -1)},"servers":${JSON.stringify(servers)}}`);
  }

  /** The API as one document for code assistants. */
  @Get('llms.txt')
  @Public()
  @Header('Content-Type', 'text/plain; charset=utf-8')
  async llms(@Res() response: Response): Promise<void> {
    this.llmsText ??= llmsText(await this.describe());
    response.send(this.llmsText);
  }

  private describe(): Promise<OpenApiDocument> {
    return openApiDocument(this.application, localUrl());
  }
}
