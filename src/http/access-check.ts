import { Injectable, type OnModuleInit, RequestMethod, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { ACCESS, type Access, assertKnownAccess } from '../auth/access.js';
import { requestMethodOf } from './nest-internals.js';
import { pathsOf } from './openapi/routes.js';

/** Fails the start if a route requires a scope that does not exist. */
@Injectable()
export class AccessCheck implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  /** @throws Error with the name of the route */
  onModuleInit(): void {
    for (const { metatype } of this.discovery.getControllers()) {
      if (metatype) this.check(metatype as Type<object>);
    }
  }

  private check(controller: Type<object>): void {
    const prototype = controller.prototype as Record<string, object>;
    for (const name of this.scanner.getAllMethodNames(prototype)) {
      const handler = prototype[name] ?? {};
      const access = Reflect.getMetadata(ACCESS, handler) as Access | undefined;
      const verb = requestMethodOf(handler);
      if (access === undefined || verb === undefined) continue;
      const [path = ''] = pathsOf(controller, handler);
      assertKnownAccess(`${RequestMethod[verb]} ${path}`, access);
    }
  }
}
