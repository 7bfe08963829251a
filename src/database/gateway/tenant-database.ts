import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { Settings } from '../../config/settings.js';
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

/** How long a statement may keep those behind it in its lane waiting for a lock. */
const LONGEST_LOCK_MS = 50;

/**
 * A statement of bounded cost has one plan, by an index: whatever the size of the organization, and
 * before the first statistics are there.
 */
const LANE_SETTINGS = [
  CONNECTION_SETTINGS,
  `set lock_timeout = ${LONGEST_LOCK_MS}`,
  'set plan_cache_mode = force_generic_plan',
  ...['seqscan', 'bitmapscan', 'sort'].map((costly) => `set enable_${costly} = off`),
];

/** What is waited for before the statements of a transaction. */
const CONNECTION = 'connection';

/**
 * The one gateway of all SQL of a tenant. Each statement runs bound to its organization by
 * row-level security, in one round trip, and fails only with errors that the application knows.
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

  /** Behind everything that could still ask for a statement. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.lanes.query_failed.close(), this.lanes.create_failed.close()]);
  }

  /**
   * Runs a statement that reads.
   * @throws ApiError `query_failed`
   */
  read<Row>(tenant: Tenant, statement: Statement): Promise<Row[]> {
    return this.runSingle<Row>(tenant, statement, 'query_failed');
  }

  /**
   * Runs a statement that writes, in a transaction of its own.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  write<Row>(tenant: Tenant, statement: Statement): Promise<Row[]> {
    return this.runSingle<Row>(tenant, statement, 'create_failed');
  }

  /**
   * Runs several statements as one; rolls back whatever `work` throws on, and passes that on. `work`
   * runs again where PostgreSQL broke the transaction off for the sake of another one, or a lock was
   * not free at once. What is read and written for the tenant that it is given, also by
   * repositories, is part of the transaction.
   * @throws ApiError `create_failed`
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
   * Runs `work` as `transaction` does, and undoes all that it has written.
   * @throws ApiError `create_failed`, and whatever `work` throws
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
   * Says that a record was changed or deleted, so that whoever listens is told once that is committed.
   * @param tenant the one for which it was written
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
    const step = <R>(taken: Promise<R>) => translateErrors(taken, 'create_failed');
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
    const entrance = { text: this.organizationContextSql, values: [organizationId] };
    return this.statements.run<Row>(entrance, statement, (query) => {
      this.lanes[failure].submit(query);
    });
  }

  private async runInPool<Row>(
    organizationId: string,
    statement: Statement,
    options: AttemptOptions,
  ): Promise<Row[]> {
    const driver = this.dataSource.driver as PostgresDriver;
    const obtaining = driver.obtainMasterConnection();
    const [client, release] = (await obtaining) as [pg.PoolClient, () => void];
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

/** The statement that sets, for its transaction, the context and the settings of `$1` onwards. */
function contextSqlOf(context: SessionContext, settings: readonly string[]): string {
  const set = settings.map((name, index) => `set_config('${name}', $${index + 1}, true)`);
  return `select ${[...context.calls, ...set].join(', ')}`;
}

/** Ends a transaction that was only to be rehearsed. */
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
