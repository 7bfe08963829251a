/** One SQL statement with the values of its parameters, `$1` onwards. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /**
   * `prepared` (default) plans the statement once. `custom` plans it for each set of values. `index` plans it
   * once and makes it use indexes, for a statement that reads or writes a few rows of an organization of any
   * size. Outside of transactions, concurrent statements with the plan `index` are sent together.
   */
  readonly plan?: 'prepared' | 'custom' | 'index';
  /** The id of the record that it reads or writes. Batches write records in one order, so that they do not deadlock. */
  readonly recordId?: string;
  /**
   * Names of the unique values, such as an e-mail address, that it writes or looks up. They are locked before it runs and
   * until its transaction ends (`lockNames`), so that writers of the same values queue: always in a transaction, and
   * otherwise once it has waited long for locks.
   */
  readonly locks?: readonly string[];
  /**
   * Lets concurrent statements of an organization with the same text become one. Each item is JSON, such as a row to
   * insert. After the parameters of `values`, the text has one parameter for each entry. In the statement of several
   * calls, it receives a JSON array of that entry of each call. `values` may depend only on the organization. Each row must
   * have the `id` of its record, so that it can be returned to its call.
   */
  readonly items?: readonly string[];
  /** Whether it changes the record `recordId`. Two changes of one record do not become one statement. */
  readonly changesRecord?: boolean;
  /**
   * Whether a read replica may run it outside of transactions, if the replica has every write that was
   * acknowledged before. Set it for reads that cost more than a look-up. They are sent alone.
   */
  readonly mayUseReplica?: boolean;
  /** Whether it sorts by `NAMES_COLLATION`. A replica may run it only if its version of ICU is that of the indexes. */
  readonly ordersNames?: boolean;
}

/**
 * The error code of a failed statement: `query_failed` for a read, `create_failed` for a write and for the reads of its
 * transaction.
 */
export type Failure = 'query_failed' | 'create_failed';
