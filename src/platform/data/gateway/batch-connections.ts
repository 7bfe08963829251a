import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { batchSpan, inContextOf, inSpan } from '../../tracing.js';
import { Settings } from '../../config/settings.js';
import { planConnections } from '../connection/connection-plan.js';
import { setUpConnection } from '../connection/data-source-options.js';
import { QUERY_CANCELED } from '../connection/driver-error.js';
import { ConnectionPool, poolOf, ResilientClient } from '../connection/driver-pool.js';
import {
  parameterizedCalls,
  SessionContext,
  TENANT_SETTING,
} from '../connection/session-context.js';
import {
  type PipelineStatement,
  StatementPipeline,
  statementName,
} from '../connection/statement-pipeline.js';
import type { Statement } from './statement.js';
import {
  BATCH_TIMEOUTS,
  Deadline,
  type PendingStatement,
  statementsOf,
  TIMEOUT_SETTINGS,
  TimeBudget,
  type LockWait,
} from './policies.js';

/** Whether the statements are those of the entity manager of TypeORM, which cannot write to the tables of Latitude. */
export const ENTITY_MANAGER_SETTING = 'latitude.entity_manager';

/** The settings that differ between statements, as parameters. */
const PARAMETERS = [TENANT_SETTING, ...TIMEOUT_SETTINGS];

/**
 * Settings that make PostgreSQL use an index for organizations of any size, even before the first statistics
 * exist.
 */
export const INDEX_PLAN = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/**
 * Locks names until the transaction ends. All transactions lock in the order of the hashes, so that two of them do not
 * wait for each other.
 */
const LOCK_NAMES = `select pg_advisory_xact_lock(key) from (
  select distinct hashtextextended(name, 0) as key from unnest($1::text[]) name order by key) keys`;

/**
 * Creates the statements that set the role, the organization, the timeouts and the plans of a transaction. They are
 * sent in front of its first statement, and apply until it ends.
 */
export class TenantSettings {
  private readonly text: string;
  /** Sets all of them, and those of `INDEX_PLAN`. */
  readonly indexText: string;
  /** Sets only the role and the organization. */
  readonly batchText: string;

  constructor(private readonly context: SessionContext) {
    this.text = context.selectWith(PARAMETERS, { [ENTITY_MANAGER_SETTING]: 'off' });
    this.indexText = context.selectWith(PARAMETERS, INDEX_PLAN);
    this.batchText = context.selectWith([TENANT_SETTING]);
  }

  /** The settings of a transaction. With the plan `index`, it has one statement only. */
  of(
    organizationId: string,
    plan: Statement['plan'],
    deadline: Deadline,
    wait: LockWait,
  ): PipelineStatement {
    const [name, text] = plan === 'index' ? ['index', this.indexText] : ['tenant', this.text];
    return this.setting(name, text, [organizationId, ...deadline.timeouts(wait)]);
  }

  /**
   * A statement to send after its settings. Several statements with the same text become one: the parameters after
   * `values` are then JSON arrays with the items of all.
   */
  message(statements: readonly [Statement, ...Statement[]]): PipelineStatement {
    const [{ text, values, items = [], plan }] = statements;
    const arrays = items.map((_, index) => {
      return `[${statements.map((each) => each.items?.[index]).join()}]`;
    });
    const isPrepared = this.context.preparesStatements && plan !== 'custom';
    const name = isPrepared ? statementName(text) : '';
    return { name, text, values: [...values, ...arrays] };
  }

  /** A statement whose text is one of a few. */
  fixed(text: string, values: readonly unknown[]): PipelineStatement {
    const name = this.context.preparesStatements ? statementName(text, true) : '';
    return { name, text, values };
  }

  /** The statement that locks the names of a statement before it; none if it has no names. */
  locksOf({ locks = [] }: Statement): PipelineStatement[] {
    if (locks.length === 0) return [];
    return [{ ...this.fixed(LOCK_NAMES, [locks]), isSetting: true }];
  }

  setting(name: string, text: string, values: readonly string[]): PipelineStatement {
    return { name: this.context.preparesStatements ? name : '', text, values, isSetting: true };
  }
}

/** The settings of the sessions. Each transaction sets the role and the organization. */
const SESSION: Readonly<Record<string, string>> = {
  ...INDEX_PLAN,
  ...Object.fromEntries(TIMEOUT_SETTINGS.map((name, index) => [name, BATCH_TIMEOUTS[index]])),
};

/** Sets the organization of the next statements of a batch. */
const SET_ORGANIZATION = `select ${parameterizedCalls([TENANT_SETTING]).join()}`;

/**
 * Makes PostgreSQL check deferred constraints at the end of each statement, and not at the commit. The organization
 * of the statement is still set then, and PostgreSQL reports an error for that statement.
 */
const CHECK_CONSTRAINTS_AT_ONCE = 'set constraints all immediate';

/**
 * The rows of a statement of a batch, or the error with which PostgreSQL refused it. Undefined if it was rolled
 * back because PostgreSQL refused another statement.
 */
export type Outcome = readonly unknown[] | pg.DatabaseError | undefined;

/** A message of a batch, with the positions of the calls whose statement it is. Settings have none. */
interface BatchMessage extends PipelineStatement {
  readonly calls?: readonly number[];
}

/** The pools of this instance. Statements run as the database user unless they set a role. */
@Injectable()
export class BatchConnections implements OnApplicationShutdown {
  /**
   * For statements that read or write a few rows by an index, which form batches. Transactions and slow statements have
   * another pool, so that they do not delay these statements.
   */
  readonly batches: ConnectionPool;
  /** For other statements of requests: that of the data source. */
  readonly requests: ConnectionPool;
  /** For background work and commands. */
  readonly background: ConnectionPool;
  /** How many connections there are for each purpose. */
  readonly plan: ReturnType<typeof planConnections>;
  /** The settings of the statements that it sends. */
  readonly settings: TenantSettings;
  /** All of them. A closed pool has no connections. */
  readonly pools: readonly ConnectionPool[];

  constructor(
    @InjectDataSource() dataSource: DataSource,
    { databaseMaxConnections }: Settings,
    private readonly context: SessionContext,
    timeBudget: TimeBudget,
  ) {
    this.settings = new TenantSettings(context);
    this.requests = poolOf(dataSource);
    this.plan = planConnections(databaseMaxConnections);
    const { options } = this.requests;
    const ofBackground = { ...options, max: this.plan.background, Client: ResilientClient };
    const ofBatches = {
      ...ofBackground,
      max: this.plan.batches,
      idleTimeoutMillis: 0,
      ...(context.hasOwnSessions && {
        onConnect: setUpConnection(timeBudget.connectionMs, SESSION),
      }),
    };
    this.background = new ConnectionPool(ofBackground).reportLostConnections();
    this.batches = new ConnectionPool(ofBatches).reportLostConnections();
    this.pools = [this.batches, this.requests, this.background];
    for (const pool of this.pools) pool.onUnresponsive = this.closeIdle;
  }

  /**
   * Sends a batch in one transaction. Each statement is bound to its own organization.
   * @param take returns the batch, once a connection is free
   * @returns the outcome of each call
   * @throws any error of the driver that is not an error of one statement; the outcome of writes is then unknown
   */
  sendBatch(take: () => readonly PendingStatement[]): Promise<readonly Outcome[]> {
    return this.batches.use(async (client, limitTo) => {
      const batch = take();
      const deadline = Deadline.earliest(batch.map((pending) => pending.deadline));
      limitTo(deadline.connectionMs);
      const messages = this.messagesOf(batch, deadline);
      const pipeline = new StatementPipeline<{ id?: string }>(messages);
      const outcomes: Outcome[] = batch.map(() => undefined);
      try {
        const results = await inBatchSpan(batch, () => {
          client.query(pipeline);
          return pipeline.result;
        });
        for (const [index, { calls = [] }] of messages.entries()) {
          for (const call of calls) {
            outcomes[call] = rowsOf(results[index] ?? [], batch[call], calls.length);
          }
        }
      } catch (error) {
        if (!(error instanceof pg.DatabaseError) || batch.length === 1) throw error;
        // The statements share the time of the batch. One that exceeds its part is sent again, with all of the time.
        if (error.code === QUERY_CANCELED) return outcomes;
        const { calls = [] } = messages[pipeline.failedStatement ?? -1] ?? {};
        // A statement for several calls is sent again for each of them, as are all calls after an error of a setting.
        if (calls.length === 1) outcomes[calls[0] ?? 0] = error;
      }
      return outcomes;
    });
  }

  /**
   * Closes all idle connections after one was lost, because a network failure usually affects all of them. A
   * connection that a firewall dropped reports no error.
   */
  readonly closeIdle = (): void => {
    for (const pool of this.pools) pool.closeIdle();
  };

  private messagesOf(batch: readonly PendingStatement[], deadline: Deadline): BatchMessage[] {
    const { settings } = this;
    const sent = statementsOf(batch);
    const messages: BatchMessage[] = [];
    let current: string | undefined;
    for (const calls of sent) {
      const pending = calls.flatMap((call) => batch[call] ?? []);
      const [{ organizationId: id }] = pending as [PendingStatement];
      if (current === undefined) {
        messages.push(this.firstSettings(id, deadline, sent.length));
        if (sent.length > 1)
          messages.push(settings.setting('constraints', CHECK_CONSTRAINTS_AT_ONCE, []));
      } else if (id !== current) {
        messages.push(settings.setting('organization', SET_ORGANIZATION, [id]));
      }
      current = id;
      const statements = pending.map(({ statement }) => statement);
      messages.push({ ...settings.message(statements as [Statement, ...Statement[]]), calls });
    }
    return messages;
  }

  /** The settings of the first statement. Those of the session need not be set. */
  private firstSettings(id: string, deadline: Deadline, statements: number): PipelineStatement {
    const timeouts = deadline.timeouts('brief', statements);
    const areSet =
      this.context.hasOwnSessions &&
      timeouts.every((timeout, index) => timeout === BATCH_TIMEOUTS[index]);
    return areSet
      ? this.settings.setting('batch', this.settings.batchText, [id])
      : this.settings.setting('index', this.settings.indexText, [id, ...timeouts]);
  }

  /** Runs after all services that could still send statements have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.batches.end(), this.background.end()]);
  }
}

/** Sends a batch in a span that is part of its first call and linked to all, and the calls to it. */
function inBatchSpan<T>(batch: readonly PendingStatement[], send: () => Promise<T>): Promise<T> {
  const callers = batch.flatMap(({ span }) => span ?? []);
  const [first, ...others] = callers;
  if (!first) return send();
  return inContextOf(first, () =>
    inSpan(batchSpan(callers, batch.length), (span) => {
      const link = span && { context: span.spanContext() };
      if (link) for (const caller of others) caller.addLink(link);
      return send();
    }),
  );
}

/** The rows of a call among those of a statement for several calls. */
function rowsOf(
  rows: readonly { id?: string }[],
  pending: PendingStatement | undefined,
  calls: number,
) {
  return calls === 1 ? rows : rows.filter(({ id }) => id === pending?.statement.recordId);
}
