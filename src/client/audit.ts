import { MAX_LIMIT } from './resource.js';
import type { Transport } from './transport.js';
import type { AuditEntry, AuditPage, AuditQuery, CallOptions } from './types.js';

/**
 * The audit log: who has changed what the organization depends on. The key needs `audit:read`, or is the key of an operator,
 * which reads its own entries. Every method rejects with a `LatitudeError`.
 */
export class AuditLog {
  constructor(private readonly transport: Transport) {}

  /**
   * One page of entries, the newest first. With `after`, the oldest first. `meta.next` is the `before` or `after` of the next
   * page.
   */
  async list(query: AuditQuery = {}, options?: CallOptions): Promise<AuditPage> {
    return this.transport.send({ method: 'GET', path: '/api/v1/audit', query }, options);
  }

  /** Iterates over all entries, the newest first. With `after: ''`, the oldest first. */
  async *all(query: AuditQuery = {}, options?: CallOptions): AsyncGenerator<AuditEntry, void> {
    const { limit = MAX_LIMIT, after, before = '', ...filters } = query;
    let next = after ?? before;
    for (let hasMore = true; hasMore;) {
      const place = after === undefined ? { before: next } : { after: next };
      const { data, meta } = await this.list({ ...filters, limit, ...place }, options);
      yield* data;
      next = meta.next;
      hasMore = meta.has_more;
    }
  }
}
