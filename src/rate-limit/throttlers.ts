import type { ExecutionContext } from '@nestjs/common';
import type { ThrottlerModuleOptions } from '@nestjs/throttler';
import type { Settings } from '../config/settings.js';
import { type ApiRequest, isRead } from '../tenancy/actor.js';
import { MemoryRateLimitStorage } from './rate-limit.storage.js';

export const READS = 'reads';
export const WRITES = 'writes';
export type Throttler = typeof READS | typeof WRITES;

/** Length of a window. */
export const WINDOW_MS = 60_000;

/** Reads and writes of a key are counted apart; strangers count as readers (decisions 4). */
function isWrite(context: ExecutionContext): boolean {
  const request = context.switchToHttp().getRequest<ApiRequest>();
  return request.actor !== undefined && !isRead(request);
}

export function throttlerOptions(settings: Settings): ThrottlerModuleOptions {
  return {
    throttlers: [
      { name: READS, ttl: WINDOW_MS, limit: settings.readsPerMinute, skipIf: isWrite },
      {
        name: WRITES,
        ttl: WINDOW_MS,
        limit: settings.writesPerMinute,
        skipIf: (context) => !isWrite(context),
      },
    ],
    storage: new MemoryRateLimitStorage(),
  };
}
