import { ApiError } from '../../errors/api-error.js';
import { type CommitCallback, CommitCallbacks } from './commit-callbacks.js';
import type { Tenant, TenantTransaction, UnitOfWork } from './tenant.js';

/** Runs the parts of one transaction in a savepoint each. */
export class SavepointUnitOfWork implements UnitOfWork {
  /** The callbacks. Those of parts that were rolled back are removed. */
  readonly callbacks = new CommitCallbacks();
  isCommitted = false;
  private savepoints = 0;
  private isBroken = false;

  /** @param run sends a statement without a session context, which an aborted transaction would refuse */
  constructor(
    private readonly transaction: TenantTransaction,
    private readonly run: (text: string) => Promise<unknown>,
  ) {}

  runInSavepoint<T>(
    work: (transaction: TenantTransaction, unit: UnitOfWork) => Promise<T>,
  ): Promise<T> {
    return this.runPart(work, []);
  }

  afterCommit(callback: CommitCallback): void {
    this.callbacks.add(callback);
  }

  /** @throws ApiError `create_failed` if a part was undone without an error of its own */
  assertComplete(): void {
    if (this.isBroken) throw new ApiError('create_failed');
  }

  /** @param outer the parts that contain the new one */
  private async runPart<T>(
    work: (transaction: TenantTransaction, unit: UnitOfWork) => Promise<T>,
    outer: readonly Part[],
  ): Promise<T> {
    const part = { number: ++this.savepoints, innerParts: 0 };
    for (const containing of outer) containing.innerParts++;
    const { length } = this.callbacks;
    await this.run(`savepoint part_${part.number}`);
    try {
      return await work(this.transaction, this.unitOf([...outer, part]));
    } catch (error) {
      // The rollback undoes all parts that began after this one, not only those inside it.
      if (this.savepoints !== part.number + part.innerParts) this.isBroken = true;
      this.callbacks.truncate(length);
      await this.run(`rollback to savepoint part_${part.number}`);
      throw error;
    }
  }

  /** The unit of work that the last of `parts` receives. */
  private unitOf(parts: readonly Part[]): UnitOfWork {
    const isCommitted = () => this.isCommitted;
    return {
      runInSavepoint: (work) => this.runPart(work, parts),
      afterCommit: (callback) => {
        this.afterCommit(callback);
      },
      get isCommitted() {
        return isCommitted();
      },
    };
  }
}

/** The transaction of a tenant. After its commit, statements run in transactions of their own. */
export function openUnitOf({ unit }: Tenant): UnitOfWork | undefined {
  return unit?.isCommitted ? undefined : unit;
}

/** A part of the transaction, in a savepoint. */
interface Part {
  readonly number: number;
  /** Number of parts that began inside it. */
  innerParts: number;
}
