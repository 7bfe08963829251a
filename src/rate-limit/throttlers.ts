import type { ExecutionContext } from '@nestjs/common';
import type { ThrottlerModuleOptions } from '@nestjs/throttler';
import type { Settings } from '../config/settings.js';
import { type ApiRequest, isRead } from '../tenancy/actor.js';
import { MemoryRateLimitStorage } from './rate-limit.storage.js';
import { type Limit, WINDOW_MS } from './rate-limits.js';

/** Reads and writes of a key are counted apart; strangers count as readers (decisions 4). */
function isWrite(context: ExecutionContext): boolean {
  const request = context.switchToHttp().getRequest<ApiRequest>();
  return request.actor !== undefined && !isRead(request);
}

export function throttlerOptions(settings: Settings): ThrottlerModuleOptions {
  const throttler = (
    name: Limit,
    limit: number,
    skipIf: (context: ExecutionContext) => boolean,
  ) => ({ name, ttl: WINDOW_MS, limit, skipIf });
  return {
    throttlers: [
      throttler('reads', settings.readsPerMinute, isWrite),
      throttler('writes', settings.writesPerMinute, (context) => !isWrite(context)),
    ],
    storage: new MemoryRateLimitStorage(),
  };
}
