import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { RateLimits, setRateLimitHeaders, tooManyAtOnce } from '../../access/limits/rate-limits.js';
import { writesOf } from '../../data/batches/batch.dto.js';
import type { Call } from '../../data/call.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import type { BodyCheck } from '../routes/route-declarations.js';

/** Counts a batch as one write for every ten items begun (docs/contract/batches.md#limits). */
@Injectable()
export class BatchLimit implements BodyCheck {
  constructor(private readonly limits: RateLimits) {}

  /** @throws ApiError `rate_limit_exceeded` if not so many writes are left */
  assertAllowed({ actor }: Call, body: object, response: Response): MaybePromise<void> {
    const writes = writesOf((body as { items: readonly unknown[] }).items);
    // AccessGuard has counted one.
    if (writes === 1) return undefined;
    return mapMaybePromise(this.limits.countAs(writes, 'writes', actor), (window) => {
      setRateLimitHeaders(response, window);
      if (window.isBlocked) throw tooManyAtOnce(writes, 'writes', window);
    });
  }
}
