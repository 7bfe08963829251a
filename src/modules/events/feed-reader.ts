import { insufficientScope } from '../../platform/access/scopes.js';
import type { OpenResponse } from '../../platform/access/key-revalidation.js';
import { ApiError } from '../../platform/errors/api-error.js';
import type { Actor } from '../../platform/data/call.js';

/** The caller of a request that may wait for events. Its key can end or get other scopes while it waits. */
export class FeedReader implements OpenResponse {
  readonly key: Actor['key'];
  scopes: ReadonlySet<string>;
  private readonly controller = new AbortController();

  constructor({ key, scopes }: Actor) {
    this.key = key;
    this.scopes = scopes;
  }

  /** Aborts when the key is no longer valid. */
  get ended(): AbortSignal {
    return this.controller.signal;
  }

  updateScopes(scopes: readonly string[]): void {
    this.scopes = new Set(scopes);
  }

  end(): void {
    this.controller.abort();
  }

  /** @throws ApiError `unauthorized`, `insufficient_scope` */
  assertMayRead(): void {
    if (this.ended.aborted) throw new ApiError('unauthorized');
    if (!this.scopes.has('events:read')) throw insufficientScope('events:read');
  }
}
