import {
  ConcurrencyLimit,
  MAX_LIMIT,
  UnlimitedTimeBudget,
} from '../../src/platform/data/gateway/policies.js';
import type { TestApp } from '../../src/testing/test-app.js';

/** The time budget of a server that refuses requests at once when its concurrency limit is reached. */
export class ImpatientTimeBudget extends UnlimitedTimeBudget {
  override readonly admissionMs = 0;
}

/**
 * Begins as many operations as the limit of a server can ever allow, because operations that end change the limit.
 * @returns a function that ends them
 */
export function reachLimit({ app }: TestApp): () => void {
  const limit = app.get(ConcurrencyLimit);
  for (let running = 0; running < MAX_LIMIT; running++) limit.acquire();
  return () => {
    for (let running = MAX_LIMIT; running > 0; running--) limit.release();
  };
}
