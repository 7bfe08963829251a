import { Controller, Get, Header, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Public } from '../../auth/access.js';
import { openApiDocument } from './document.js';

/** The OpenAPI document of everything that is registered, a team's own modules included. */
@Controller()
export class OpenApiController {
  private json?: string;

  constructor(private readonly discovery: DiscoveryService) {}

  @Get('openapi.json')
  @Public()
  @Header('Content-Type', 'application/json; charset=utf-8')
  document(): string {
    this.json ??= JSON.stringify(openApiDocument(controllersOf(this.discovery)));
    return this.json;
  }
}

/** The classes of all registered controllers. */
export function controllersOf(discovery: DiscoveryService): Type<object>[] {
  return discovery.getControllers().map(({ metatype }) => metatype as Type<object>);
}
