import type { Type } from '@nestjs/common';
import { declaredInterceptorsOf } from '../http/nest-internals.js';
import { aroundHandler } from './around-handler.interceptor.js';
import { WriteInterceptor } from './write.interceptor.js';

const OWN: readonly unknown[] = [WriteInterceptor, aroundHandler];

/** Returns the interceptors of a team that `@UseInterceptors()` declares on the controller or the method. */
export function teamInterceptorsOf(controller: Type<unknown>, handler: object): unknown[] {
  return declaredInterceptorsOf(controller, handler).filter((each) => !OWN.includes(each));
}
