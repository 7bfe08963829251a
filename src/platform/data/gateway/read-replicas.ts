import type { Statement } from './tenant.js';
import type { Deadline } from './time-budget.js';

/** Runs reads that may use a read replica. */
export abstract class ReadReplicas {
  /** @returns the rows; undefined if the primary has to run the statement */
  abstract read<Row>(
    organizationId: string,
    statement: Statement,
    deadline: Deadline,
  ): Promise<Row[] | undefined>;
}
