import { ApiError } from '../../errors/api-error.js';
import type { TenantTransaction, UnitOfWork } from './tenant.js';

/** Runs the parts of one transaction in a savepoint each. */
export class SavepointUnitOfWork implements UnitOfWork {
  /** Ids of the changed records, without those of parts that were rolled back. */
  readonly changedIds: string[] = [];
  private savepoints = 0;
  private isBroken = false;

  constructor(private readonly transaction: TenantTransaction) {}

  async runInSavepoint<T>(work: (transaction: TenantTransaction) => Promise<T>): Promise<T> {
    const number = ++this.savepoints;
    const { length } = this.changedIds;
    await this.run(`savepoint part_${number}`);
    try {
      return await work(this.transaction);
    } catch (error) {
      // The rollback also undoes parts that began after this one.
      if (this.savepoints !== number) this.isBroken = true;
      this.changedIds.length = length;
      await this.run(`rollback to savepoint part_${number}`);
      throw error;
    }
  }

  recordChange(id: string): void {
    this.changedIds.push(id);
  }

  /** @throws ApiError `create_failed` if a part was undone without an error of its own */
  assertComplete(): void {
    if (this.isBroken) throw new ApiError('create_failed');
  }

  private run(text: string): Promise<unknown> {
    return this.transaction.query({ text, values: [], plan: 'custom' });
  }
}
