import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { logger } from '../config/logger.js';
import type { ErrorCode } from '../errors/error-catalogue.js';
import { CONNECTION_SETTINGS } from './data-source-options.js';
import { BrokenOff, isLockTimeout, translateDriverError } from './driver-error.js';
import { Lanes } from './lanes.js';
import { Patience } from './patience.js';
import { QueryWithPreamble } from './tenant-query.js';
import type { Statement, Tenant, TenantTransaction } from './tenant.js';
import { MAY_SWITCH_TO_TENANT_ROLE, TENANT_ROLE, TENANT_SETTING } from './tenant-role.js';
import { SavepointUnit } from './unit-of-work.js';

/** Reads keep one another company; writes wait for the disk, which takes several at a time. */
const READ_LANES = 4;
const WRITE_LANES = 8;

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

/** Distinct statement texts that a connection keeps prepared; further ones run unprepared. */
const MOST_PREPARED_STATEMENTS = 500;

/**
 * The one gateway of all SQL of a tenant. Each statement runs bound to its organization by
 * row-level security, in one round trip, and fails only with errors that the application knows.
 */
@Injectable()
export class TenantDatabase implements OnModuleInit, OnApplicationShutdown {
  private readonly names = new Map<string, string>();
  private enterTenant = '';
  private enterOrganization = '';
  private lanes: Record<Failure, Lanes> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly patience: Patience,
  ) {}

  async onModuleInit(): Promise<void> {
    const role = (await this.canUseTenantRole()) ? TENANT_ROLE : undefined;
    const settings = [`set_config('${TENANT_SETTING}', $1, true)`];
    this.enterOrganization = `select ${settings.join(', ')}`;
    if (role) settings.unshift(`set_config('role', '${role}', true)`);
    this.enterTenant = `select ${[...settings, ...this.patience.settings].join(', ')}`;
    // Lanes serve nothing but statements of tenants, so that they keep the role.
    const setUp = [...(role ? [`set role ${role}`] : []), ...LANE_SETTINGS].join('; ');
    this.lanes = {
      query_failed: new Lanes(this.dataSource, READ_LANES, setUp),
      create_failed: new Lanes(this.dataSource, WRITE_LANES, setUp),
    };
  }

  /** Behind everything that could still ask for a statement. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.lanes?.query_failed.close(), this.lanes?.create_failed.close()]);
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
   * runs again where PostgreSQL broke the transaction off for the sake of another one. What is read
   * and written for the tenant that it is given, also by repositories, is part of the transaction.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  transaction<T>(
    tenant: Tenant,
    work: (transaction: TenantTransaction, tenant: Tenant) => Promise<T>,
  ): Promise<T> {
    if (tenant.unit) return tenant.unit.part((transaction) => work(transaction, tenant));
    return retryOnce(async () => {
      const runner = this.dataSource.createQueryRunner();
      const attempt = <R>(step: Promise<R>) => translating(step, 'create_failed');
      let end = (): void => undefined;
      try {
        const client = (await attempt(runner.connect())) as pg.PoolClient;
        end = this.patience.begin(client);
        await attempt(runner.startTransaction());
        const transaction: TenantTransaction = {
          query: (statement) => attempt(this.runOn(client, tenant.id, statement)),
        };
        const unit = new SavepointUnit(transaction);
        const result = await work(transaction, { ...tenant, unit });
        unit.assertWhole();
        await attempt(runner.commitTransaction());
        return result;
      } catch (error) {
        if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
        throw error;
      } finally {
        end();
        await runner.release();
      }
    });
  }

  private single<Row>(
    { id: organizationId, unit }: Tenant,
    statement: Statement,
    failure: Failure,
  ): Promise<Row[]> {
    if (unit) return unit.part((transaction) => transaction.query(statement));
    const alone = () =>
      statement.cost === 'bounded'
        ? this.runInLane<Row>(organizationId, statement, failure)
        : this.runInPool<Row>(organizationId, statement);
    return retryOnce(() => translating(alone(), failure));
  }

  private async runInLane<Row>(
    organizationId: string,
    statement: Statement,
    failure: Failure,
  ): Promise<Row[]> {
    try {
      return await this.run<Row>(this.enterOrganization, organizationId, statement, (query) => {
        this.lanes?.[failure].submit(query);
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      // Who has to wait for a lock waits where no one stands behind.
      return this.runInPool(organizationId, statement);
    }
  }

  private async runInPool<Row>(organizationId: string, statement: Statement): Promise<Row[]> {
    const driver = this.dataSource.driver as PostgresDriver;
    const [client, release] = (await driver.obtainMasterConnection()) as [
      pg.PoolClient,
      () => void,
    ];
    const end = this.patience.begin(client);
    try {
      return await this.runOn<Row>(client, organizationId, statement);
    } finally {
      end();
      release();
    }
  }

  private runOn<Row>(client: pg.PoolClient, organizationId: string, statement: Statement) {
    return this.run<Row>(this.enterTenant, organizationId, statement, (query) => {
      client.query(query);
    });
  }

  private run<Row>(
    enter: string,
    organizationId: string,
    statement: Statement,
    submit: (query: TenantQuery) => void,
  ): Promise<Row[]> {
    const preamble = { name: 'tenant', text: enter, values: [organizationId] };
    const { text, values } = statement;
    const name = statement.plan === 'custom' ? '' : this.nameOf(text);
    return new Promise<Row[]>((resolve, reject) => {
      const query = new QueryWithPreamble(preamble, { name, text, values }, (error, result) => {
        if (error) reject(error);
        else resolve(result?.rows as Row[]);
      });
      submit(query as unknown as TenantQuery);
    });
  }

  private nameOf(text: string): string {
    const known = this.names.get(text);
    if (known !== undefined) return known;
    if (this.names.size >= MOST_PREPARED_STATEMENTS) return '';
    const name = `s${this.names.size}`;
    this.names.set(text, name);
    return name;
  }

  /** Whether statements switch to the tenant role; without it, the policies must bind the user. */
  private async canUseTenantRole(): Promise<boolean> {
    const [user] = await this.dataSource.query<{ bypasses: boolean; may_switch: boolean }[]>(
      `select rolsuper or rolbypassrls as bypasses, ${MAY_SWITCH_TO_TENANT_ROLE} as may_switch
       from pg_roles where rolname = current_user`,
    );
    if (user?.may_switch) return true;
    if (user?.bypasses !== false) {
      throw new Error(
        `The database user bypasses row-level security and may not use role ${TENANT_ROLE}.`,
      );
    }
    logger.warn(`role ${TENANT_ROLE} is not available: policies bind the database user itself`);
    return false;
  }
}

type Failure = 'query_failed' | 'create_failed';

type TenantQuery = pg.Submittable & { fail(error: Error): void };

async function translating<T>(step: Promise<T>, failure: ErrorCode): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw translateDriverError(error, failure);
  }
}

/** A deadlock or a failed serialization is no one's fault and is over by now. */
async function retryOnce<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw error;
    return work();
  }
}
