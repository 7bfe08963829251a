import type { EntityManager } from 'typeorm';
import { logger } from '../../config/logger.js';
import type { Statement } from './statement.js';
import type { Turn } from './turns.js';

/** Work after the commit of a transaction. */
export interface CommitCallback {
  readonly run: () => unknown;
  /** Of the callbacks with the same key, only the first one runs. */
  readonly key?: string;
}

/** A transaction of one organization. */
export interface Transaction {
  /** An object that identifies the transaction. Its parts have the same one. */
  readonly identity: object;
  /** Whether it is committed. Statements of its call then run in transactions of their own. */
  readonly isCommitted: boolean;
  /**
   * The entity manager of TypeORM, whose statements are part of the transaction. They have no savepoint: await each before
   * a concurrent part begins, because the rollback of a part undoes what was sent after its beginning.
   */
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
  /**
   * Waits without a connection until no other operation of this instance has one of the keys, and has them until its end.
   * If it must wait, the transaction is rolled back and its work runs again: call it before the first write.
   */
  takeTurn(keys: readonly string[]): void;
  /**
   * The same transaction for another organization, such as one that an operator has created. Row-level security restricts
   * its statements to that organization.
   */
  of(organizationId: string): Transaction;
  /** Runs a callback after the commit, unless the part that added it is rolled back. */
  afterCommit(callback: CommitCallback): void;
}

/** What is sent on the connection of a transaction in one round trip. */
interface Sent {
  readonly statement?: Statement;
  /** A statement that is sent before it, such as `savepoint`. */
  readonly savepoint?: string;
  /** The organization of the statement, if it is not that of the transaction. */
  readonly organizationId?: string;
}

/** @throws Error after the end of the transaction */
export type Send = <Row>(sent: Sent) => Promise<Row[]>;

/** What a transaction and its parts share. */
export class TransactionState {
  isCommitted = false;
  /** Number of parts and of statements without a savepoint so far. Savepoints have this number and are not released. */
  parts = 0;
  /**
   * Whether a part was undone without an error of its own, because another part failed that ran at the same time, as in
   * `Promise.all`. The transaction then fails with `create_failed`.
   */
  isBroken = false;
  /** Work after the commit. That of parts that are rolled back is removed. */
  callbacks: (CommitCallback & { readonly parts: readonly Part[] })[] = [];

  constructor(
    readonly manager: EntityManager,
    readonly send: Send,
    /** The keys of the transaction. Undefined if its caller has taken them. */
    readonly turn: Turn | undefined,
  ) {}

  /** The callbacks to run after the commit. */
  get remainingCallbacks(): readonly CommitCallback[] {
    const first = new Map<unknown, CommitCallback>();
    for (const callback of this.callbacks) {
      const key = callback.key ?? callback;
      if (!first.has(key)) first.set(key, callback);
    }
    return [...first.values()];
  }
}

/** A part of a transaction, in a savepoint, or a statement without one. */
interface Part {
  readonly number: number;
  /** Number of parts that began inside it. */
  innerParts: number;
  hasEnded: boolean;
  isUndone: boolean;
}

/** A transaction that is open, or a part of it. */
export class OpenTransaction implements Transaction {
  /**
   * @param parts the parts that contain this one, and this one; none for the whole transaction
   * @param organizationId the organization of its statements, if it is not that of the transaction
   */
  constructor(
    private readonly state: TransactionState,
    private readonly parts: readonly Part[] = [],
    private readonly organizationId?: string,
  ) {}

  get identity(): object {
    return this.state;
  }

  get isCommitted(): boolean {
    return this.state.isCommitted;
  }

  get manager(): EntityManager {
    return this.state.manager;
  }

  async query<Row>(statement: Statement): Promise<Row[]> {
    this.takeTurnOf(statement);
    this.begin();
    return this.state.send<Row>({ statement, organizationId: this.organizationId });
  }

  async queryInSavepoint<Row>(statement: Statement): Promise<Row[]> {
    this.takeTurnOf(statement);
    const { organizationId } = this;
    return this.inSavepoint((savepoint) =>
      this.state.send<Row>({ statement, savepoint, organizationId }),
    );
  }

  runInSavepoint<T>(work: (part: Transaction) => Promise<T>): Promise<T> {
    return this.inSavepoint(async (savepoint, part) => {
      await this.state.send({ savepoint });
      return work(new OpenTransaction(this.state, [...this.parts, part], this.organizationId));
    });
  }

  of(organizationId: string): Transaction {
    return new OpenTransaction(this.state, this.parts, organizationId);
  }

  takeTurn(keys: readonly string[]): void {
    this.state.turn?.take(keys);
  }

  private takeTurnOf({ locks }: Statement): void {
    // When others have written the values, the work finds their records.
    if (locks) this.state.turn?.take(locks, true);
  }

  afterCommit(callback: CommitCallback): void {
    this.state.callbacks.push({ ...callback, parts: this.parts });
  }

  /**
   * Numbers a part.
   * @throws Error after the end of a part that contains it, which may be rolled back
   */
  private begin(): Part {
    if (this.parts.some(({ hasEnded }) => hasEnded)) {
      throw new Error('a statement was sent after the end of its part of the transaction');
    }
    for (const containing of this.parts) containing.innerParts++;
    return { number: ++this.state.parts, innerParts: 0, hasEnded: false, isUndone: false };
  }

  /** @param work begins with the savepoint of the part */
  private async inSavepoint<T>(work: (savepoint: string, part: Part) => Promise<T>): Promise<T> {
    const { state } = this;
    const part = this.begin();
    try {
      return await work(`savepoint part_${part.number}`, part).finally(
        () => (part.hasEnded = true),
      );
    } catch (error) {
      // The rollback also undoes all parts that began after this one. If others than those inside it did, a concurrent
      // part is undone.
      if (state.parts !== part.number + part.innerParts) state.isBroken = true;
      state.callbacks = state.callbacks.filter(({ parts }) => !parts.includes(part));
      part.isUndone = true;
      // The rollback of a containing part has removed the savepoint.
      if (!this.parts.some(({ isUndone }) => isUndone))
        await state.send({ savepoint: `rollback to savepoint part_${part.number}` });
      throw error;
    }
  }
}

/** Runs a callback. An error is only logged: the data is committed, so the request must not fail. */
export async function runAfterCommit(callback: CommitCallback['run']): Promise<void> {
  try {
    await callback();
  } catch (error) {
    logger.error({ err: error }, 'a callback after commit failed');
  }
}
