import type { Statement } from './statement.js';
import type { Deadline } from './policies.js';

/** Runs reads that may use a read replica. */
export abstract class ReadReplicas {
  /** @returns the rows; undefined if the primary has to run the statement */
  abstract read<Row>(
    organizationId: string,
    statement: Statement,
    deadline: Deadline,
  ): Promise<Row[] | undefined>;
}
