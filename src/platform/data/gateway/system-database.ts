import { Injectable, type Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { inSpan, statementSpan } from '../../tracing.js';
import { translateErrors } from '../connection/driver-error.js';
import type { ConnectionPool } from '../connection/driver-pool.js';
import { parameterizedCalls, TENANT_SETTING } from '../connection/session-context.js';
import { LostConnectionError, type PipelineStatement } from '../connection/statement-pipeline.js';
import { WORKER_SETTING } from '../tenant-role/tenant-role.js';
import { BatchConnections } from './batch-connections.js';
import { entitiesOf, type EntityRow } from './entity-rows.js';
import {
  type Deadline,
  type LockWait,
  refusalOf,
  TIMEOUT_SETTINGS,
  TimeBudget,
} from './policies.js';

/** How long a transaction of background work may take. A connection that is silent for longer was lost. */
const BACKGROUND_MS = 10_000;

/** Shows the rows of all organizations, and sets the timeouts to `$1`, `$2` and `$3`. */
const SET_SYSTEM = `select ${parameterizedCalls(TIMEOUT_SETTINGS).join(', ')},
  set_config('${TENANT_SETTING}', '', true), set_config('${WORKER_SETTING}', 'on', true)`;

/** Also does not wait until the commit is on disk or on a standby. */
const SET_UNSAFE = `${SET_SYSTEM}, set_config('synchronous_commit', 'off', true)`;

interface BackgroundOptions {
  /** Whether a crash of PostgreSQL may undo the statements. */
  readonly mayBeUndone?: boolean;
  readonly timeoutMs?: number;
}

type SystemStatement = Pick<PipelineStatement, 'text' | 'values'>;

/**
 * Runs statements on what is before or above an organization, as the database user: the look-up of keys, operators, leases,
 * clean-ups, the state of the database. The rows of one organization are read and written by `TenantDatabase`.
 * docs/security.md lists the uses.
 */
@Injectable()
export class SystemDatabase {
  constructor(
    private readonly connections: BatchConnections,
    private readonly timeBudget: TimeBudget,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  /**
   * Reads the entities that a query builder of TypeORM selects. Its alias is the name of the table.
   * @param build adds conditions, an order and a limit
   * @throws ApiError `query_failed`
   */
  async select<E extends ObjectLiteral>(
    entity: Type<E>,
    build: (entities: SelectQueryBuilder<E>) => SelectQueryBuilder<E>,
  ): Promise<E[]> {
    const { tableName } = this.dataSource.getMetadata(entity);
    const builder = build(this.dataSource.createQueryBuilder(entity, tableName));
    const [text, values] = builder.getQueryAndParameters();
    return entitiesOf(builder, entity, await this.read<EntityRow>(text, values));
  }

  /**
   * Reads a few rows for a request, and once more if the connection is lost.
   * @param deadline when it must end. Default: after the time of one operation.
   * @throws ApiError `query_failed`
   */
  read<Row>(
    text: string,
    values: readonly unknown[] = [],
    deadline = this.timeBudget.startDeadline(),
  ): Promise<Row[]> {
    const { batches, closeIdle, settings } = this.connections;
    const statement = settings.fixed(text, values);
    const attempt = () => this.send<Row>(batches, deadline, 'brief', [statement]);
    const rows = attempt().catch((error: unknown) => {
      if (!(error instanceof LostConnectionError) || !deadline.allowsNewConnection) throw error;
      closeIdle();
      return attempt();
    });
    return refused(translateErrors(rows, 'query_failed'), deadline);
  }

  /**
   * Runs statements for a request in one transaction, in one round trip. They are planned each time, because a plan for an
   * empty table would be slow later.
   * @returns the rows of the last statement
   * @throws ApiError `create_failed`
   */
  write<Row>(...statements: readonly SystemStatement[]): Promise<Row[]> {
    const deadline = this.timeBudget.startDeadline();
    const rows = this.send<Row>(this.connections.requests, deadline, 'long', statements);
    return refused(translateErrors(rows, 'create_failed'), deadline);
  }

  /**
   * Runs statements of background work in one transaction, in one round trip, on connections of their own. Each sees what
   * was committed before it. They have no caller, so that errors of the driver are not translated.
   * @returns the rows of the last one
   * @throws any error of the driver
   */
  async allInBackground<Row>(
    statements: readonly SystemStatement[],
    { mayBeUndone = false, timeoutMs = BACKGROUND_MS }: BackgroundOptions = {},
  ): Promise<Row[]> {
    const text = mayBeUndone ? SET_UNSAFE : SET_SYSTEM;
    const ms = String(timeoutMs);
    const sent = [{ text, values: [ms, ms, ms], isSetting: true }, ...statements];
    const { background } = this.connections;
    return (await background.send<Row>({ connectionMs: timeoutMs }, () => sent)).at(-1) ?? [];
  }

  /** Runs one statement of background work. @see allInBackground */
  inBackground<Row>(
    text: string,
    values: readonly unknown[] = [],
    options?: BackgroundOptions,
  ): Promise<Row[]> {
    return this.allInBackground<Row>([{ text, values }], options);
  }

  private async send<Row>(
    pool: ConnectionPool,
    deadline: Deadline,
    wait: LockWait,
    statements: readonly PipelineStatement[],
  ): Promise<Row[]> {
    const { settings } = this.connections;
    const messages = () => [
      settings.setting('system', SET_SYSTEM, deadline.timeouts(wait)),
      ...statements,
    ];
    const span = statementSpan(statements.at(-1)?.text ?? '');
    const rows = await inSpan(span, () => pool.send<Row>(deadline, messages));
    return rows.at(-1) ?? [];
  }
}

/** @throws the error of an operation that is not repeated */
async function refused<T>(running: Promise<T>, deadline: Deadline): Promise<T> {
  try {
    return await running;
  } catch (error) {
    throw refusalOf(error, deadline);
  }
}
