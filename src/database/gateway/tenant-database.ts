import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { Settings } from '../../config/settings.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import { Changes } from '../../events/changes.js';
import { Attempts, type Terms } from './attempts.js';
import { type ConnectionPlan, planConnections } from '../connection/connection-plan.js';
import { CONNECTION_SETTINGS } from '../connection/data-source-options.js';
import { translateDriverError } from '../connection/driver-error.js';
import { Lanes } from './lanes.js';
import { Load } from './load.js';
import { Patience } from './patience.js';
import type { Statement, Tenant, TenantTransaction } from './tenant.js';
import { SessionContext } from '../connection/session-context.js';
import { TENANT_SETTING } from '../tenant-role/tenant-role.js';
import { TenantStatements } from './tenant-statements.js';
import { SavepointUnit } from './unit-of-work.js';

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
  private readonly attempts: Attempts;
  private readonly statements = new TenantStatements();
  private readonly enterTenant: string;
  private readonly enterOrganization: string;
  private readonly lanes: Record<Failure, Lanes>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    patience: Patience,
    private readonly load: Load,
    private readonly changes: Changes,
    settings: Settings,
    context: SessionContext,
  ) {
    this.plan = planConnections(settings.databaseMaxConnections);
    this.attempts = new Attempts(patience, load, this.plan.waiting);
    const timeouts = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'];
    this.enterOrganization = enter(context, [TENANT_SETTING]);
    this.enterTenant = enter(context, [TENANT_SETTING, ...timeouts]);
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
    return this.single<Row>(tenant, statement, 'query_failed');
  }

  /**
   * Runs a statement that writes, in a transaction of its own.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  write<Row>(tenant: Tenant, statement: Statement): Promise<Row[]> {
    return this.single<Row>(tenant, statement, 'create_failed');
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
    if (tenant.unit) return tenant.unit.part((transaction) => work(transaction, tenant));
    return this.attempts.make('create_failed', (terms) => this.attempt(tenant, work, terms));
  }

  /**
   * Runs `work` as `transaction` does, and undoes all that it has written.
   * @throws ApiError `create_failed`, and whatever `work` throws
   * @throws UniqueViolation
   */
  async rehearse<T>(tenant: Tenant, work: (tenant: Tenant) => Promise<T>): Promise<T> {
    try {
      return await this.transaction<never>(tenant, async (_, inside) => {
        throw new Rehearsed(await work(inside));
      });
    } catch (thrown) {
      if (thrown instanceof Rehearsed) return thrown.result as T;
      throw thrown;
    }
  }

  /**
   * Says that a record was changed or deleted, so that whoever listens is told once that is committed.
   * @param tenant the one for which it was written
   */
  announce({ id: organizationId, unit }: Tenant, id: string): void {
    if (unit) unit.announce(id);
    else this.changes.publish(organizationId, [id]);
  }

  private async attempt<T>(
    tenant: Tenant,
    work: (transaction: TenantTransaction, tenant: Tenant) => Promise<T>,
    terms: Terms,
  ): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    const step = <R>(taken: Promise<R>) => translating(taken, 'create_failed');
    let end = (): void => undefined;
    try {
      const client = (await step(this.load.time(CONNECTION, runner.connect()))) as pg.PoolClient;
      end = terms.deadline.watch(client);
      await step(runner.startTransaction());
      const transaction: TenantTransaction = {
        query: <Row>(statement: Statement) => {
          const running = this.runOn<Row>(client, tenant.id, statement, terms);
          return step(this.load.time(statement.text, running));
        },
      };
      const unit = new SavepointUnit(transaction);
      const result = await work(transaction, { ...tenant, unit });
      unit.assertWhole();
      await step(runner.commitTransaction());
      this.changes.publish(tenant.id, unit.changed);
      return result;
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      end();
      await runner.release();
    }
  }

  private single<Row>(tenant: Tenant, statement: Statement, failure: Failure): Promise<Row[]> {
    const { id: organizationId, unit } = tenant;
    if (unit) return unit.part((transaction) => transaction.query(statement));
    return this.attempts.make(failure, (terms) => {
      const inLane = statement.cost === 'bounded' && !terms.isPatient;
      const running = inLane
        ? this.runInLane<Row>(organizationId, statement, failure)
        : this.runInPool<Row>(organizationId, statement, terms);
      return translating(this.load.time(statement.text, running), failure);
    });
  }

  private runInLane<Row>(
    organizationId: string,
    statement: Statement,
    failure: Failure,
  ): Promise<Row[]> {
    const entrance = { text: this.enterOrganization, values: [organizationId] };
    return this.statements.run<Row>(entrance, statement, (query) => {
      this.lanes[failure].submit(query);
    });
  }

  private async runInPool<Row>(
    organizationId: string,
    statement: Statement,
    terms: Terms,
  ): Promise<Row[]> {
    const driver = this.dataSource.driver as PostgresDriver;
    const obtaining = driver.obtainMasterConnection();
    const [client, release] = (await obtaining) as [pg.PoolClient, () => void];
    const end = terms.deadline.watch(client);
    try {
      return await this.runOn<Row>(client, organizationId, statement, terms);
    } finally {
      end();
      release();
    }
  }

  private runOn<Row>(
    client: pg.PoolClient,
    organizationId: string,
    statement: Statement,
    { deadline, isPatient }: Terms,
  ): Promise<Row[]> {
    const values = [organizationId, ...deadline.timeouts(isPatient)];
    return this.statements.run<Row>({ text: this.enterTenant, values }, statement, (query) => {
      client.query(query);
    });
  }
}

/** The statement that sets, for its transaction, the context and the settings of `$1` onwards. */
function enter(context: SessionContext, settings: readonly string[]): string {
  const set = settings.map((name, index) => `set_config('${name}', $${index + 1}, true)`);
  return `select ${[...context.calls, ...set].join(', ')}`;
}

/** Ends a transaction that was only to be rehearsed. */
class Rehearsed extends Error {
  constructor(readonly result: unknown) {
    super();
  }
}

type Failure = 'query_failed' | 'create_failed';

async function translating<T>(step: Promise<T>, failure: ErrorCode): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw translateDriverError(error, failure);
  }
}
