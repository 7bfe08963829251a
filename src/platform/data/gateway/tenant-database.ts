import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { ChangeBus } from './change-bus.js';
import { EventWriteSignal } from './event-write-signal.js';
import { runAfterCommit } from './commit-callbacks.js';
import { type AttemptOptions, RetryPolicy } from './retry-policy.js';
import { BatchConnections } from './batch-connections.js';
import { ReadReplicas } from './read-replicas.js';
import { planConnections } from '../connection/connection-plan.js';
import { translateErrors } from '../connection/driver-error.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { TimeBudget } from './time-budget.js';
import {
  type BatchRow,
  NEEDS_OWN_STATEMENT,
  type BatchStatement,
  TenantBatches,
} from './tenant-batches.js';
import type { BatchItem } from './batch-queue.js';
import type { Failure, Statement, Tenant } from './tenant.js';
import { SessionContext } from '../connection/session-context.js';
import { StatementGroups } from './statement-groups.js';
import { StatementRunner } from './statement-runner.js';
import { TenantContext } from './tenant-context.js';
import { TenantStatements } from './tenant-statements.js';
import { TransactionRunner, type Work } from './transaction-runner.js';
import { openUnitOf } from './unit-of-work.js';

/**
 * Runs all SQL on the records of organizations. Row-level security restricts each statement to its
 * organization, in one round trip. Errors of the driver are translated into errors of the application.
 */
@Injectable()
export class TenantDatabase {
  private readonly retryPolicy: RetryPolicy;
  private readonly runner: StatementRunner;
  private readonly batches: TenantBatches;
  private readonly transactions: TransactionRunner;

  constructor(
    @InjectDataSource() dataSource: DataSource,
    timeBudget: TimeBudget,
    limit: ConcurrencyLimit,
    private readonly changes: ChangeBus,
    connections: BatchConnections,
    private readonly eventWrites: EventWriteSignal,
    settings: Settings,
    session: SessionContext,
    replicas: ReadReplicas,
  ) {
    const { waiting } = planConnections(settings.databaseMaxConnections);
    this.retryPolicy = new RetryPolicy(timeBudget, limit, waiting, connections.closeIdle);
    const context = new TenantContext(session);
    const statements = new TenantStatements(session.preparesStatements);
    this.runner = new StatementRunner(
      dataSource,
      connections,
      statements,
      limit,
      context,
      replicas,
    );
    const groups = () => new StatementGroups(connections, statements, limit, context);
    this.batches = new TenantBatches({ read: groups(), write: groups() }, limit);
    this.transactions = new TransactionRunner(dataSource, connections, this.runner, limit);
  }

  /**
   * Runs a read. If its connection is lost, it runs once more on another one.
   * @throws ApiError `query_failed`
   */
  read<Row>(tenant: Tenant, statement: Statement): Promise<Row[]> {
    return this.runSingle<Row>(tenant, statement, 'query_failed');
  }

  /**
   * Runs a write in a transaction of its own.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  write<Row>(tenant: Tenant, statement: Statement): Promise<Row[]> {
    return this.runSingle<Row>(tenant, statement, 'create_failed');
  }

  /**
   * Runs a statement for one item, together with concurrent items of the organization.
   * @returns the row of the item; undefined if there is none
   * @throws ApiError `query_failed` for a read that is not part of a write, otherwise `create_failed`
   * @throws UniqueViolation
   */
  async runBatched<I extends BatchItem, Row extends BatchRow>(
    tenant: Tenant,
    statement: BatchStatement<I>,
    item: I,
    failure: Failure = statement.kind === 'read' ? 'query_failed' : 'create_failed',
  ): Promise<Row | undefined> {
    const alone = () => statement.of(tenant.id, [item], true);
    if (openUnitOf(tenant)) return (await this.runSingle<Row>(tenant, alone(), failure))[0];
    let isAlone = false;
    const attempt = async (options: AttemptOptions) => {
      if (!isAlone && !options.mayWaitForLocks) {
        const running = this.batches.run(statement, tenant.id, item, options.deadline);
        const row = await translateErrors(running, failure);
        if (row !== NEEDS_OWN_STATEMENT) return row as Row | undefined;
        isAlone = true;
      }
      const [row] = await this.runner.runAlone<Row>(tenant.id, alone(), failure, options);
      return row;
    };
    return this.retryPolicy.run(failure, attempt, { isRead: statement.kind === 'read' });
  }

  /**
   * Runs several statements in one transaction. If `work` throws, the transaction is rolled back and
   * the error is rethrown. `work` may run more than once: it is retried after a deadlock, a
   * serialization failure or a lock timeout. Statements for the tenant that `work` gets are part of
   * the transaction, including those of repositories.
   * @throws ApiError `create_failed`, and any error of `work`
   * @throws UniqueViolation
   */
  transaction<T>(tenant: Tenant, work: Work<T>): Promise<T> {
    const open = openUnitOf(tenant);
    if (open) {
      return open.runInSavepoint((transaction, unit) => work(transaction, { ...tenant, unit }));
    }
    return this.runTransaction(tenant, work);
  }

  /**
   * Runs `work` in a transaction that is always rolled back.
   * @throws ApiError `create_failed`, and any error of `work`
   * @throws UniqueViolation
   */
  async dryRun<T>(tenant: Tenant, work: (tenant: Tenant) => Promise<T>): Promise<T> {
    try {
      return await this.transaction<never>(tenant, async (_, inside) => {
        throw new DryRunRollback(await work(inside));
      });
    } catch (thrown) {
      if (thrown instanceof DryRunRollback) return thrown.result as T;
      throw thrown;
    }
  }

  /**
   * Runs a callback after the outermost commit. It does not run in a dry run, or if the transaction or the
   * part of it that added the callback is rolled back. Outside a transaction it runs at once. Callbacks start
   * in their order. The outermost `transaction` resolves, and a request is answered, when all of them have
   * finished. An error of a callback is logged and changes nothing else.
   * @param tenant the tenant that the data was written for
   * @returns outside a transaction: resolves when the callback has finished; otherwise at once
   */
  async afterCommit(tenant: Tenant, callback: () => unknown): Promise<void> {
    const unit = openUnitOf(tenant);
    if (unit) unit.afterCommit({ run: callback });
    else await runAfterCommit(callback);
  }

  /**
   * Publishes the change or deletion of a record, after commit.
   * @param tenant the tenant that the record was written for
   */
  publishChange(tenant: Tenant, id: string): void {
    runOnceAfterCommit(tenant, `change of ${id.toLowerCase()}`, () => {
      this.changes.publish(tenant.id, id);
    });
  }

  /** The number of this instance in the events that it writes. */
  get instance(): number {
    return this.eventWrites.origin;
  }

  /** Publishes the written events, after the commit of their transaction. */
  publishEvents(tenant: Tenant): void {
    runOnceAfterCommit(tenant, 'events', () => {
      this.eventWrites.notify();
    });
  }

  private async runTransaction<T>(tenant: Tenant, work: Work<T>): Promise<T> {
    const { result, callbacks } = await this.retryPolicy.run('create_failed', (options) =>
      this.transactions.attempt(tenant, work, options),
    );
    await callbacks.run();
    return result;
  }

  private runSingle<Row>(tenant: Tenant, statement: Statement, failure: Failure): Promise<Row[]> {
    const { id: organizationId } = tenant;
    const unit = openUnitOf(tenant);
    if (unit) return unit.runInSavepoint((transaction) => transaction.query(statement));
    const attempt = (options: AttemptOptions) =>
      this.runner.runAlone<Row>(organizationId, statement, failure, options);
    return this.retryPolicy.run(failure, attempt, { isRead: failure === 'query_failed' });
  }
}

/** @param key of several callbacks with the same key, one runs */
function runOnceAfterCommit(tenant: Tenant, key: string, run: () => void): void {
  const unit = openUnitOf(tenant);
  if (unit) unit.afterCommit({ run, key });
  else run();
}

/** Rolls back the transaction of a dry run, and carries its result. */
class DryRunRollback extends Error {
  constructor(readonly result: unknown) {
    super();
  }
}
