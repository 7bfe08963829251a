import type { EntityManager } from 'typeorm';
import { ApiError } from '../../errors/api-error.js';
import { type CommitCallback, CommitCallbacks } from './commit-callbacks.js';
import type { Statement } from './statement.js';

/** A transaction of one organization. */
export interface Transaction {
  /** Whether it is committed. Statements of its call then run in transactions of their own. */
  readonly isCommitted: boolean;
  /** The entity manager of TypeORM, whose statements are part of the transaction. */
  readonly manager: EntityManager;
  /**
   * Runs a statement. If it fails, the transaction fails, or the part of it in a savepoint.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  query<Row>(statement: Statement): Promise<Row[]>;
  /**
   * Runs a statement. If it fails, only the statement is rolled back.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  queryInSavepoint<Row>(statement: Statement): Promise<Row[]>;
  /**
   * Runs a part of the transaction. If it throws, only this part is rolled back.
   * @param work receives the transaction of this part
   */
  runInSavepoint<T>(work: (part: Transaction) => Promise<T>): Promise<T>;
  /** Runs a callback after the commit, unless the part that added it is rolled back. */
  afterCommit(callback: CommitCallback): void;
}

/** A part of the transaction, in a savepoint. */
interface Part {
  readonly number: number;
  /** Number of parts that began inside it. */
  innerParts: number;
}

/** The connection of a transaction. */
export interface TransactionConnection {
  readonly manager: EntityManager;
  /** @param savepoint a statement that is sent in the same round trip before the other one */
  query<Row>(statement: Statement, savepoint?: string): Promise<Row[]>;
  /** Sends a statement without parameters, such as `savepoint`. */
  run(text: string): Promise<unknown>;
}

/** The transaction of a connection, until it is committed or rolled back. */
export class OpenTransaction implements Transaction {
  /** The callbacks. Those of parts that were rolled back are removed. */
  readonly callbacks = new CommitCallbacks();
  isCommitted = false;
  /** Whether statements may be sent. */
  isOpen = true;
  private savepoints = 0;
  private isBroken = false;

  constructor(private readonly connection: TransactionConnection) {}

  get manager(): EntityManager {
    return this.connection.manager;
  }

  query<Row>(statement: Statement): Promise<Row[]> {
    this.assertOpen();
    return this.connection.query<Row>(statement);
  }

  queryInSavepoint<Row>(statement: Statement): Promise<Row[]> {
    return this.queryPart(statement, []);
  }

  runInSavepoint<T>(work: (part: Transaction) => Promise<T>): Promise<T> {
    return this.runPart(work, []);
  }

  afterCommit(callback: CommitCallback): void {
    this.callbacks.add(callback);
  }

  /** @throws ApiError `create_failed` if a part was undone without an error of its own */
  assertComplete(): void {
    if (this.isBroken) throw new ApiError('create_failed');
  }

  private queryPart<Row>(statement: Statement, outer: readonly Part[]): Promise<Row[]> {
    return this.inSavepoint(outer, (savepoint) => {
      this.assertOpen();
      return this.connection.query<Row>(statement, savepoint);
    });
  }

  private runPart<T>(work: (part: Transaction) => Promise<T>, outer: readonly Part[]): Promise<T> {
    return this.inSavepoint(outer, async (savepoint, part) => {
      await this.run(savepoint);
      return work(this.transactionOf([...outer, part]));
    });
  }

  /**
   * @param outer the parts that contain the new one
   * @param work begins with the savepoint of the part
   */
  private async inSavepoint<T>(
    outer: readonly Part[],
    work: (savepoint: string, part: Part) => Promise<T>,
  ): Promise<T> {
    const part = { number: ++this.savepoints, innerParts: 0 };
    for (const containing of outer) containing.innerParts++;
    const { length } = this.callbacks;
    try {
      return await work(`savepoint part_${part.number}`, part);
    } catch (error) {
      // The rollback undoes all parts that began after this one, not only those inside it.
      if (this.savepoints !== part.number + part.innerParts) this.isBroken = true;
      this.callbacks.truncate(length);
      await this.run(`rollback to savepoint part_${part.number}`);
      throw error;
    }
  }

  /** The transaction that the last of `parts` receives. */
  private transactionOf(parts: readonly Part[]): Transaction {
    const isCommitted = () => this.isCommitted;
    return {
      manager: this.manager,
      query: (statement) => this.query(statement),
      queryInSavepoint: (statement) => this.queryPart(statement, parts),
      runInSavepoint: (work) => this.runPart(work, parts),
      afterCommit: (callback) => {
        this.afterCommit(callback);
      },
      get isCommitted() {
        return isCommitted();
      },
    };
  }

  private run(text: string): Promise<unknown> {
    this.assertOpen();
    return this.connection.run(text);
  }

  private assertOpen(): void {
    if (!this.isOpen) throw new Error('a statement was sent after the end of its transaction');
  }
}
