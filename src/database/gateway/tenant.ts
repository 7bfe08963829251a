/** One SQL statement with its parameters, `$1` onwards. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** `custom`: planned anew for each set of values; by default the plan is prepared once. */
  readonly plan?: 'prepared' | 'custom';
  /** `bounded`: a few rows by an index, in organizations of any size. */
  readonly cost?: 'bounded' | 'any';
}

/** Statements inside one transaction of one organization. */
export interface TenantTransaction {
  query<Row>(statement: Statement): Promise<Row[]>;
}

/** Whose records are read and written, and on which terms. */
export interface Tenant {
  readonly id: string;
  /** The transaction that reads and writes are parts of; without one, each is its own. */
  readonly unit?: UnitOfWork;
  /** What must hold for a record that is to be changed. */
  readonly precondition?: Precondition;
}

/** A transaction in which a part that fails is undone by itself. */
export interface UnitOfWork {
  runInSavepoint<T>(work: (transaction: TenantTransaction) => Promise<T>): Promise<T>;
  /** Says that a record was changed, which is told once all is committed. */
  recordChange(id: string): void;
}

/** Whether a stored record is the one that its caller means to change. */
export interface Precondition {
  isMetBy(stored: object): boolean;
}
