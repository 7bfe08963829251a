import type { CreatedResponse } from '../stored-responses.js';
import type { CommitCallback } from './commit-callbacks.js';

/** One SQL statement with the values of its parameters, `$1` onwards. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /**
   * The values of additional executions. They run before the one with `values`, and are sent together with
   * it. Outside a transaction, all executions are one transaction. The result has the rows of all of them.
   */
  readonly repeats?: readonly (readonly (string | null)[])[];
  /**
   * `prepared` (default) plans the statement once. `custom` plans it for each set of values. `index`
   * plans it once and makes it use indexes, for a statement that reads or writes a few rows of an
   * organization of any size.
   */
  readonly plan?: 'prepared' | 'custom' | 'index';
  /**
   * Whether a read replica may run it outside of transactions, if the replica has every write that was
   * acknowledged before. Set it for reads that cost more than a look-up.
   */
  readonly mayUseReplica?: boolean;
  /** Whether it sorts by `NAMES_COLLATION`, which only replicas with the version of ICU of the indexes may do. */
  readonly ordersNames?: boolean;
}

/** How often a statement is executed. */
export function executionsOf({ repeats = [] }: Pick<Statement, 'repeats'>): number {
  return repeats.length + 1;
}

/** The error code of a failed statement: `query_failed` of a read, `create_failed` of a write and its reads. */
export type Failure = 'query_failed' | 'create_failed';

/** Runs statements inside one transaction of one organization. */
export interface TenantTransaction {
  query<Row>(statement: Statement): Promise<Row[]>;
}

/** Who changes records. Events contain it. */
export interface ChangeOrigin {
  readonly keyId: string;
  /** `api` for REST, `ai` for /mcp. */
  readonly channel: 'api' | 'ai';
  readonly requestId: string;
}

/** The organization whose records are read and written, and how. */
export interface Tenant {
  readonly id: string;
  /** Undefined for jobs and commands. */
  readonly origin?: ChangeOrigin;
  /** The transaction of all reads and writes. Without one, each runs in its own. */
  readonly unit?: UnitOfWork;
  /** The response to store with the record that is inserted next. */
  readonly response?: CreatedResponse;
  /** The condition that a record must meet before it is changed or deleted. */
  readonly precondition?: Precondition;
  /** Whether records have the computed fields of their table. */
  readonly withComputedFields?: boolean;
  /** Whether records are parsed at the first access, for handlers that return them unread. */
  readonly readsRecordsLazily?: boolean;
}

/** The organization of a row, as joins select it. */
export interface OrganizationColumns {
  readonly organization_id: string;
  readonly organization_name: string;
  readonly phone_region: string;
}

/** A transaction that can roll back a part that fails. */
export interface UnitOfWork {
  /** Whether the transaction is committed. Other statements need a new one. */
  readonly isCommitted: boolean;
  /** @param work receives the unit of work of this part */
  runInSavepoint<T>(
    work: (transaction: TenantTransaction, unit: UnitOfWork) => Promise<T>,
  ): Promise<T>;
  /** Runs a callback after the commit, unless the part that added it is rolled back. */
  afterCommit(callback: CommitCallback): void;
}

/** Decides whether a stored record is the version that the caller wants to change. */
export interface Precondition {
  isMetBy(stored: object): boolean;
  /** The message of the error if it is not met. Default: that of `precondition_failed`. */
  readonly failure?: string;
}
