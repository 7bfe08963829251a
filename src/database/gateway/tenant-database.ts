import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { acquireClient } from '../connection/typeorm-internals.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import { ChangeBus } from '../../events/change-bus.js';
import { RetryPolicy, type AttemptOptions } from './retry-policy.js';
import { type ConnectionPlan, planConnections } from '../connection/connection-plan.js';
import { CONNECTION_SETTINGS } from '../connection/data-source-options.js';
import { translateDriverError } from '../connection/driver-error.js';
import { Lanes } from './lanes.js';
import { Load } from './load.js';
import { TimeBudget } from './time-budget.js';
import type { Statement, Tenant, TenantTransaction } from './tenant.js';
import { SessionContext } from '../connection/session-context.js';
import { TENANT_SETTING } from '../tenant-role/tenant-role.js';
import { TenantStatements } from './tenant-statements.js';
import { SavepointUnitOfWork } from './unit-of-work.js';

/** How long a pipelined statement waits for a lock. Statements behind it wait, too. */
const PIPELINED_LOCK_MS = 50;

/**
 * Make every statement of bounded cost use an index, whatever the size of the organization, and even
 * before the first statistics exist.
 */
const LANE_SETTINGS = [
  CONNECTION_SETTINGS,
  `set lock_timeout = ${PIPELINED_LOCK_MS}`,
  'set plan_cache_mode = force_generic_plan',
  ...['seqscan', 'bitmapscan', 'sort'].map((method) => `set enable_${method} = off`),
];

/** Name under which the wait for a connection is measured. */
const CONNECTION = 'connection';

/**
 * Runs all SQL on the records of organizations. Row-level security restricts each statement to its
 * organization, in one round trip. Errors of the driver are translated into errors of the application.
 */
@Injectable()
export class TenantDatabase implements OnApplicationShutdown {
  private readonly plan: ConnectionPlan;
  private readonly retryPolicy: RetryPolicy;
  private readonly statements = new TenantStatements();
  private readonly tenantContextSql: string;
  private readonly organizationContextSql: string;
  private readonly lanes: Record<Failure, Lanes>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    timeBudget: TimeBudget,
    private readonly load: Load,
    private readonly changes: ChangeBus,
    settings: Settings,
    context: SessionContext,
  ) {
    this.plan = planConnections(settings.databaseMaxConnections);
    this.retryPolicy = new RetryPolicy(timeBudget, load, this.plan.waiting);
    const timeouts = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'];
    this.organizationContextSql = contextSqlOf(context, [TENANT_SETTING]);
    this.tenantContextSql = contextSqlOf(context, [TENANT_SETTING, ...timeouts]);
    const setUp = LANE_SETTINGS.join('; ');
    this.lanes = {
      query_failed: new Lanes(this.dataSource, this.plan.reads, setUp),
      create_failed: new Lanes(this.dataSource, this.plan.writes, setUp),
    };
  }

  /** Runs after everything that could still send a statement. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.lanes.query_failed.close(), this.lanes.create_failed.close()]);
  }

  /**
   * Runs a read.
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
   * Runs several statements in one transaction. If `work` throws, the transaction is rolled back and
   * the error is rethrown. `work` may run more than once: it is retried after a deadlock, a
   * serialization failure or a lock timeout. Statements for the tenant that `work` gets are part of
   * the transaction, including those of repositories.
   * @throws ApiError `create_failed`, and any error of `work`
   * @throws UniqueViolation
   */
  transaction<T>(
    tenant: Tenant,
    work: (transaction: TenantTransaction, tenant: Tenant) => Promise<T>,
  ): Promise<T> {
    if (tenant.unit) return tenant.unit.runInSavepoint((transaction) => work(transaction, tenant));
    return this.retryPolicy.run('create_failed', (options) =>
      this.attemptTransaction(tenant, work, options),
    );
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
   * Publishes the change or deletion of a record, after commit.
   * @param tenant the tenant that the record was written for
   */
  publishChange({ id: organizationId, unit }: Tenant, id: string): void {
    if (unit) unit.recordChange(id);
    else this.changes.publish(organizationId, [id]);
  }

  private async attemptTransaction<T>(
    tenant: Tenant,
    work: (transaction: TenantTransaction, tenant: Tenant) => Promise<T>,
    options: AttemptOptions,
  ): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    const step = <R>(promise: Promise<R>) => translateErrors(promise, 'create_failed');
    let end = (): void => undefined;
    try {
      const client = (await step(this.load.time(CONNECTION, runner.connect()))) as pg.PoolClient;
      end = options.deadline.destroyWhenExceeded(client);
      await step(runner.startTransaction());
      const transaction: TenantTransaction = {
        query: <Row>(statement: Statement) => {
          const running = this.runOn<Row>(client, tenant.id, statement, options);
          return step(this.load.time(statement.text, running));
        },
      };
      const unit = new SavepointUnitOfWork(transaction);
      const result = await work(transaction, { ...tenant, unit });
      unit.assertComplete();
      await step(runner.commitTransaction());
      this.changes.publish(tenant.id, unit.changedIds);
      return result;
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      end();
      await runner.release();
    }
  }

  private runSingle<Row>(tenant: Tenant, statement: Statement, failure: Failure): Promise<Row[]> {
    const { id: organizationId, unit } = tenant;
    if (unit) return unit.runInSavepoint((transaction) => transaction.query(statement));
    return this.retryPolicy.run(failure, (options) => {
      const inLane = statement.cost === 'bounded' && !options.mayWaitForLocks;
      const running = inLane
        ? this.runInLane<Row>(organizationId, statement, failure)
        : this.runInPool<Row>(organizationId, statement, options);
      return translateErrors(this.load.time(statement.text, running), failure);
    });
  }

  private runInLane<Row>(
    organizationId: string,
    statement: Statement,
    failure: Failure,
  ): Promise<Row[]> {
    const context = { text: this.organizationContextSql, values: [organizationId] };
    return this.statements.run<Row>(context, statement, (query) => {
      this.lanes[failure].submit(query);
    });
  }

  private async runInPool<Row>(
    organizationId: string,
    statement: Statement,
    options: AttemptOptions,
  ): Promise<Row[]> {
    const [client, release] = await acquireClient(this.dataSource);
    const end = options.deadline.destroyWhenExceeded(client);
    try {
      return await this.runOn<Row>(client, organizationId, statement, options);
    } finally {
      end();
      release();
    }
  }

  private runOn<Row>(
    client: pg.PoolClient,
    organizationId: string,
    statement: Statement,
    { deadline, mayWaitForLocks }: AttemptOptions,
  ): Promise<Row[]> {
    const values = [organizationId, ...deadline.timeouts(mayWaitForLocks)];
    return this.statements.run<Row>({ text: this.tenantContextSql, values }, statement, (query) => {
      client.query(query);
    });
  }
}

/** SQL that sets the role and these settings, `$1` onwards, until the transaction ends. */
function contextSqlOf(context: SessionContext, settings: readonly string[]): string {
  const set = settings.map((name, index) => `set_config('${name}', $${index + 1}, true)`);
  return `select ${[...context.calls, ...set].join(', ')}`;
}

/** Rolls back the transaction of a dry run, and carries its result. */
class DryRunRollback extends Error {
  constructor(readonly result: unknown) {
    super();
  }
}

type Failure = 'query_failed' | 'create_failed';

async function translateErrors<T>(step: Promise<T>, failure: ErrorCode): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw translateDriverError(error, failure);
  }
}
