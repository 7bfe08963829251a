import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ACCESS, type Access, assertKnownAccess } from '../auth/access.js';
import { RateLimitGuard } from '../rate-limit/rate-limit.guard.js';
import { type DeclaredHandler, declaredHandlers } from './declared-handlers.js';
import { hasVersion, hostOf } from './nest-internals.js';
import { InputGuard } from './request/input.guard.js';

/**
 * Fails startup if
 * - a route declares no access, or requires a scope that does not exist,
 * - a route declares a version, which would have no effect,
 * - its input cannot be read, or its rate limits cannot work, or
 * - two methods declare the same route.
 */
@Injectable()
export class AccessCheck implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly inputs: InputGuard,
    private readonly limits: RateLimitGuard,
  ) {}

  /** @throws Error whose message has one line for each faulty route */
  onModuleInit(): void {
    const handlers = declaredHandlers(this.discovery);
    const faults = handlers.flatMap((handler) => {
      try {
        this.check(handler);
        return [];
      } catch (error) {
        return [(error as Error).message];
      }
    });
    faults.push(...repeatedRoutes(handlers));
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  private check({ route, controller, handler }: DeclaredHandler): void {
    const access = Reflect.getMetadata(ACCESS, handler) as Access | undefined;
    if (access === undefined) {
      throw new Error(
        `${route} declares no access. Add @RequireScope(), @AnyKey() or @Public() to its method.`,
      );
    }
    assertKnownAccess(route, access);
    if (hasVersion(controller, handler)) {
      throw new Error(
        `${route} declares a version, which would have no effect. Write it into the path, such as @Controller('v2/notes').`,
      );
    }
    try {
      this.inputs.assertReadable(controller, handler);
      this.limits.assertLimits(controller, handler);
    } catch (error) {
      throw new Error(`${route} ${(error as Error).message}`, { cause: error });
    }
  }
}

/** Returns a message for each route of two methods, because Nest would call only one of them. */
function repeatedRoutes(handlers: readonly DeclaredHandler[]): string[] {
  const owners = new Map<string, DeclaredHandler>();
  return handlers.flatMap((handler) => {
    const [verb = ''] = handler.route.split(' ');
    return handler.paths.flatMap((path) => {
      const route = `${verb} ${String(hostOf(handler.controller))} ${path.replaceAll(/:\w+/g, ':')}`;
      const owner = owners.get(route) ?? handler;
      owners.set(route, owner);
      if (owner.handler === handler.handler) return [];
      return [
        `${verb} ${path} is declared by ${nameOf(owner)} and by ${nameOf(handler)}. Change the path of one of them.`,
      ];
    });
  });
}

function nameOf({ controller, name }: DeclaredHandler): string {
  return `${controller.name}.${name}`;
}
