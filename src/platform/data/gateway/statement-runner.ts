import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { translateErrors } from '../connection/driver-error.js';
import { acquireClient } from '../connection/driver-pool.js';
import type { BatchConnections } from './batch-connections.js';
import type { ConcurrencyLimit } from './concurrency-limit.js';
import type { ReadReplicas } from './read-replicas.js';
import type { AttemptOptions } from './retry-policy.js';
import { executionsOf, type Failure, type Statement } from './tenant.js';
import type { TenantContext } from './tenant-context.js';
import type { TenantStatements } from './tenant-statements.js';

/** Runs single statements of an organization. */
export class StatementRunner {
  constructor(
    private readonly dataSource: DataSource,
    private readonly connections: BatchConnections,
    private readonly statements: TenantStatements,
    private readonly limit: ConcurrencyLimit,
    private readonly context: TenantContext,
    private readonly replicas: ReadReplicas,
  ) {}

  /**
   * Runs a statement in a transaction of its own. If `mayUseReplica` is set and a read replica has every
   * earlier write, the replica runs it.
   * @throws ApiError with the code `failure`
   * @throws UniqueViolation
   */
  async runAlone<Row>(
    organizationId: string,
    statement: Statement,
    failure: Failure,
    options: AttemptOptions,
  ): Promise<Row[]> {
    const { mayUseReplica = false } = statement;
    const rows =
      mayUseReplica && !options.mayWaitForLocks
        ? await this.replicas.read<Row>(organizationId, statement, options.deadline)
        : undefined;
    return rows ?? this.runOnPrimary(organizationId, statement, failure, options);
  }

  private runOnPrimary<Row>(
    organizationId: string,
    statement: Statement,
    failure: Failure,
    options: AttemptOptions,
  ): Promise<Row[]> {
    const isShort = statement.plan === 'index' && !options.mayWaitForLocks;
    const running = isShort
      ? this.connections.use((client, limitTo) => {
          limitTo(options.deadline);
          const executions = executionsOf(statement);
          const context = this.context.ofBatch(organizationId, options.deadline, executions);
          return this.statements.run<Row>(client, context, statement);
        })
      : this.runInPool<Row>(organizationId, statement, options);
    return translateErrors(this.limit.count(running), failure);
  }

  private async runInPool<Row>(
    organizationId: string,
    statement: Statement,
    options: AttemptOptions,
  ): Promise<Row[]> {
    const [client, release] = await acquireClient(this.dataSource);
    const cancelTimer = options.deadline.destroyWhenExceeded(client, this.connections.closeIdle);
    try {
      return await this.runOn<Row>(client, organizationId, statement, options);
    } finally {
      cancelTimer();
      release();
    }
  }

  /**
   * Runs a statement on a connection, in its transaction if one is open.
   * @throws any error of the driver
   */
  runOn<Row>(
    client: pg.PoolClient,
    organizationId: string,
    statement: Statement,
    { deadline, mayWaitForLocks }: AttemptOptions,
  ): Promise<Row[]> {
    const wait = mayWaitForLocks ? 'long' : 'brief';
    const context = this.context.of(statement, organizationId, deadline, wait);
    return this.statements.run<Row>(client, context, statement);
  }
}
