import { ApiError } from '../../errors/api-error.js';
import { OVERLOAD_HEADERS } from '../../errors/overload.js';
import type { TenantCall } from '../call.js';
import { Bulkhead } from './bulkhead.js';
import type { TimeBudget } from './policies.js';

/** Maximum number of scans of an organization that queue. */
const MAX_QUEUED = 16;

const MESSAGE =
  'Too many requests with filters that no index serves are running. Try again in a moment.';

/** Limits the number of statements that may read all records of an organization, and their time. */
export class ScanLimit {
  private readonly bulkhead: Bulkhead;

  /** @param free how many scans may run at a time */
  constructor(
    free: number,
    private readonly timeBudget: TimeBudget,
  ) {
    this.bulkhead = new Bulkhead(free, MAX_QUEUED);
  }

  /**
   * Runs a scan. Its time begins when it starts.
   * @throws ApiError `overloaded` if it would have to wait too long
   */
  run<C extends TenantCall, T>(call: C, scan: (call: C) => Promise<T>): Promise<T> {
    const run = () => scan({ ...call, deadline: this.timeBudget.startScan() });
    return this.bulkhead.run(call.tenant.id, this.timeBudget.scanWaitMs, run, () => {
      return new ApiError('overloaded', { message: MESSAGE, headers: OVERLOAD_HEADERS });
    });
  }
}
