import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { ACCESS, type Access, assertKnownAccess } from '../auth/access.js';
import { declaredHandlers } from './declared-handlers.js';

/** Fails the start if a route requires a scope that does not exist. */
@Injectable()
export class AccessCheck implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  /** @throws Error with the name of the route */
  onModuleInit(): void {
    for (const { route, handler } of declaredHandlers(this.discovery, this.scanner)) {
      const access = Reflect.getMetadata(ACCESS, handler) as Access | undefined;
      if (access !== undefined) assertKnownAccess(route, access);
    }
  }
}
