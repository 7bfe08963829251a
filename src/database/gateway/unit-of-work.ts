import { ApiError } from '../../errors/api-error.js';
import type { TenantTransaction, UnitOfWork } from './tenant.js';

/** The parts of one transaction, each behind a savepoint of its own. */
export class SavepointUnit implements UnitOfWork {
  /** The records that were changed, of which nothing has been undone. */
  readonly changed: string[] = [];
  private begun = 0;
  private isBroken = false;

  constructor(private readonly transaction: TenantTransaction) {}

  async part<T>(work: (transaction: TenantTransaction) => Promise<T>): Promise<T> {
    const number = ++this.begun;
    const { length } = this.changed;
    await this.run(`savepoint part_${number}`);
    try {
      return await work(this.transaction);
    } catch (error) {
      // A part that has begun since would be undone with this one.
      if (this.begun !== number) this.isBroken = true;
      this.changed.length = length;
      await this.run(`rollback to savepoint part_${number}`);
      throw error;
    }
  }

  announce(id: string): void {
    this.changed.push(id);
  }

  /** @throws ApiError `create_failed` where a part was undone that nobody was told of */
  assertWhole(): void {
    if (this.isBroken) throw new ApiError('create_failed');
  }

  private run(text: string): Promise<unknown> {
    return this.transaction.query({ text, values: [], plan: 'custom' });
  }
}
