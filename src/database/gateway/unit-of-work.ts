import { ApiError } from '../../errors/api-error.js';
import type { TenantTransaction, UnitOfWork } from './tenant.js';

/** The parts of one transaction, each behind a savepoint of its own. */
export class SavepointUnitOfWork implements UnitOfWork {
  /** The records that were changed, of which nothing has been undone. */
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
      // A part that has begun since would be undone with this one.
      if (this.savepoints !== number) this.isBroken = true;
      this.changedIds.length = length;
      await this.run(`rollback to savepoint part_${number}`);
      throw error;
    }
  }

  recordChange(id: string): void {
    this.changedIds.push(id);
  }

  /** @throws ApiError `create_failed` where a part was undone that nobody was told of */
  assertComplete(): void {
    if (this.isBroken) throw new ApiError('create_failed');
  }

  private run(text: string): Promise<unknown> {
    return this.transaction.query({ text, values: [], plan: 'custom' });
  }
}
