import { UniqueViolation } from '../../../platform/data/connection/driver-error.js';

/** Maximum number of leads in one transaction, which has to be short because it locks them. */
const BATCH = 500;

/**
 * Writes the normalized e-mails and phones of leads in batches, until one is not full. A batch that fails because a
 * normalized form is no longer free is tried again with fewer leads.
 * @param process writes the next leads after a position in a transaction, and returns the position of each of them
 * @param mayContinue called before each batch; false ends the work
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
      // A concurrent request has given another lead the normalized e-mail or phone of one of these. A smaller batch is
      // less likely to collide.
      if (!(error instanceof UniqueViolation)) throw error;
      limit = Math.ceil(limit / 4);
    }
  }
}
