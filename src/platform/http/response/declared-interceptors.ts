import type { Type } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { declaredInterceptorsOf } from '../../discovery/nest-internals.js';
import { aroundHandler } from './around-handler.interceptor.js';
import { WriteInterceptor } from './write.interceptor.js';

const OWN: readonly unknown[] = [WriteInterceptor, aroundHandler];

/** Returns the interceptors of a team that `@UseInterceptors()` declares on the controller or the method. */
export function teamInterceptorsOf(controller: Type<unknown>, handler: object): unknown[] {
  return declaredInterceptorsOf(controller, handler).filter((each) => !OWN.includes(each));
}

/** Returns the global interceptors, all of which belong to a team. A request-scoped one has only its prototype. */
export function globalInterceptorsOf(config: ApplicationConfig): unknown[] {
  const ofRequests = config.getGlobalRequestInterceptors();
  return [
    ...config.getGlobalInterceptors(),
    ...ofRequests.map(({ instance }): unknown => instance),
  ];
}
