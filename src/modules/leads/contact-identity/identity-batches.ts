import { UniqueViolation } from '../../../platform/data/connection/driver-error.js';

/** Leads of one transaction, which has to be short because it locks them. */
const BATCH = 500;

/**
 * Processes leads in batches until one is not full.
 * @param process processes the leads after a position, and returns their positions
 * @param mayContinue called before each batch
 */
export async function processInBatches<T>(
  process: (after: T | undefined, limit: number) => Promise<readonly T[]>,
  mayContinue = () => true,
): Promise<void> {
  let after: T | undefined;
  let limit = BATCH;
  while (mayContinue()) {
    try {
      const batch = await process(after, limit);
      if (batch.length < limit) return;
      after = batch.at(-1);
      limit = BATCH;
    } catch (error) {
      // A concurrent request has created or changed a lead that equals one of these. A smaller batch is less likely to
      // collide.
      if (!(error instanceof UniqueViolation)) throw error;
      limit = Math.ceil(limit / 4);
    }
  }
}
