import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { translateErrors } from '../connection/driver-error.js';
import type { BatchConnections } from './batch-connections.js';
import type { CommitCallbacks } from './commit-callbacks.js';
import type { ConcurrencyLimit } from './concurrency-limit.js';
import type { AttemptOptions } from './retry-policy.js';
import type { StatementRunner } from './statement-runner.js';
import type { Statement, Tenant, TenantTransaction } from './tenant.js';
import { SavepointUnitOfWork } from './unit-of-work.js';

/** The work of a transaction. The tenant that it receives is part of the transaction. */
export type Work<T> = (transaction: TenantTransaction, tenant: Tenant) => Promise<T>;

/** Runs transactions of an organization. */
export class TransactionRunner {
  constructor(
    private readonly dataSource: DataSource,
    private readonly connections: BatchConnections,
    private readonly runner: StatementRunner,
    private readonly limit: ConcurrencyLimit,
  ) {}

  /**
   * @returns the result of `work`, and the callbacks that run after the commit
   * @throws ApiError `create_failed`, and any error of `work`
   * @throws UniqueViolation
   */
  async attempt<T>(
    tenant: Tenant,
    work: Work<T>,
    options: AttemptOptions,
  ): Promise<{ result: T; callbacks: CommitCallbacks }> {
    const runner = this.dataSource.createQueryRunner();
    const step = <R>(promise: Promise<R>) => translateErrors(promise, 'create_failed');
    let cancelTimer = (): void => undefined;
    let isOpen = true;
    try {
      const client = (await step(runner.connect())) as pg.PoolClient;
      cancelTimer = options.deadline.destroyWhenExceeded(client, this.connections.closeIdle);
      await step(runner.startTransaction());
      const assertOpen = () => {
        if (!isOpen) throw new Error('a statement was sent after the end of its transaction');
      };
      const transaction: TenantTransaction = {
        query: async <Row>(statement: Statement) => {
          assertOpen();
          return step(this.runStatement<Row>(client, tenant, statement, options));
        },
      };
      const unit = new SavepointUnitOfWork(transaction, async (text) => {
        assertOpen();
        await step(client.query(text));
      });
      const result = await work(transaction, { ...tenant, unit });
      unit.assertComplete();
      await step(runner.commitTransaction());
      unit.isCommitted = true;
      return { result, callbacks: unit.callbacks };
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      isOpen = false;
      cancelTimer();
      await runner.release();
    }
  }

  private runStatement<Row>(
    client: pg.PoolClient,
    { id }: Tenant,
    statement: Statement,
    options: AttemptOptions,
  ): Promise<Row[]> {
    // The planner settings of an index plan would apply to the rest of the transaction.
    const plan = statement.plan === 'custom' ? 'custom' : 'prepared';
    const running = this.runner.runOn<Row>(client, id, { ...statement, plan }, options);
    return this.limit.count(running);
  }
}
