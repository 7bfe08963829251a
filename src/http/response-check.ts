import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import type { Express } from 'express';
import { declaredHandlers } from './declared-handlers.js';
import { renderedTemplateOf } from './nest-internals.js';

/** Fails startup if a route renders a template without a view engine. */
@Injectable()
export class ResponseCheck implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly host: HttpAdapterHost,
  ) {}

  /** @throws Error with the name of the route */
  onApplicationBootstrap(): void {
    if (this.host.httpAdapter.getInstance<Express>().get('view engine') !== undefined) return;
    for (const { route, handler } of declaredHandlers(this.discovery)) {
      const template = renderedTemplateOf(handler);
      if (template === undefined) continue;
      throw new Error(
        `${route} has @Render('${template}'), but there is no view engine. Set one through HttpAdapterHost in onModuleInit, or return the HTML of the page with @Header('Content-Type', 'text/html').`,
      );
    }
  }
}
