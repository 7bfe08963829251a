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
   * Names of values that no two records share and that it writes or looks up. In a transaction, and if it waits long for
   * locks, these names are locked before it until the transaction ends (`lockNames`).
   */
  readonly locks?: readonly string[];
  /**
   * Lets concurrent statements of an organization with the same text become one. Each item is JSON, such as a row to
   * insert. The text has a parameter for each item after those of `values`, which receives a JSON array of the items of
   * all calls. `values` may depend only on the organization, and the rows must have the `id` of the record, by which
   * they are given to their calls.
   */
  readonly items?: readonly string[];
  /** Whether it changes the record `recordId`. Two changes of one record do not become one statement. */
  readonly changesRecord?: boolean;
  /**
   * Whether a read replica may run it outside of transactions, if the replica has every write that was
   * acknowledged before. Set it for reads that cost more than a look-up. They are sent alone.
   */
  readonly mayUseReplica?: boolean;
  /** Whether it sorts by `NAMES_COLLATION`, which only replicas with the version of ICU of the indexes may do. */
  readonly ordersNames?: boolean;
  /**
   * The id of an organization. The statement runs as the database user, for the tables that the tenant role may not
   * use, and row-level security shows it the records of this organization. Only in a transaction.
   */
  readonly asDatabaseUserOf?: string;
}

/** The error code of a failed statement: `query_failed` of a read, `create_failed` of a write and its reads. */
export type Failure = 'query_failed' | 'create_failed';
