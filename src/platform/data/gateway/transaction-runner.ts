import type pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { inSpan, statementSpan } from '../../tracing.js';
import { ApiError } from '../../errors/api-error.js';
import type { InTransaction, TenantCall } from '../call.js';
import { StatementTimeout, translateErrors } from '../connection/driver-error.js';
import { connectedWithin, poolOf, destroyAfter } from '../connection/driver-pool.js';
import { type PipelineStatement, sendStatements } from '../connection/statement-pipeline.js';
import type { Attempt, ConcurrencyLimit } from './policies.js';
import { ENTITY_MANAGER_SETTING, type TenantSettings } from './batch-connections.js';
import {
  type CommitCallback,
  OpenTransaction,
  type Send,
  TransactionState,
} from './transaction.js';
import type { Turn } from './turns.js';

/** Begins the statements of the entity manager. */
const SET_ENTITY_MANAGER = `select set_config('${ENTITY_MANAGER_SETTING}', 'on', true)`;

const NO_TIME = new Error('no time is left for the next statement of the transaction');

/** The work of a transaction. It may run more than once. */
export type Work<C extends TenantCall, T> = (
  call: InTransaction<C>,
  manager: EntityManager,
) => Promise<T>;

/** Runs transactions of an organization. */
export class TransactionRunner {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: TenantSettings,
    private readonly limit: ConcurrencyLimit,
  ) {}

  /**
   * @returns the result of `work`, and the callbacks to run now, after the commit
   * @throws ApiError `create_failed`, and any error of `work`
   * @throws UniqueViolation
   */
  async attempt<C extends TenantCall, T>(
    call: C,
    work: Work<C, T>,
    { deadline, waitsForLocks }: Attempt,
    turn: Turn | undefined,
  ): Promise<{ result: T; callbacks: readonly CommitCallback[] }> {
    const runner = this.dataSource.createQueryRunner();
    runner.data.tenantId = call.tenant.id;
    const step = <R>(promise: Promise<R>) => translateErrors(promise, 'create_failed');
    let cancelTimer = (): void => undefined;
    let isOpen = false;
    try {
      const client = (await step(
        connectedWithin(runner.connect(), deadline.remainingMs, () => runner.release()),
      )) as pg.PoolClient;
      isOpen = true;
      const { onUnresponsive } = poolOf(this.dataSource);
      const limitTime = () => {
        cancelTimer();
        cancelTimer = destroyAfter(deadline.connectionMs, client, onUnresponsive);
      };
      limitTime();
      await step(runner.startTransaction());
      const wait = waitsForLocks ? 'long' : 'brief';
      const { settings } = this;
      const send: Send = async <Row>({
        statement,
        savepoint,
        organizationId,
      }: Parameters<Send>[0]) => {
        if (!isOpen) throw new Error('a statement was sent after the end of its transaction');
        if (deadline.waitMs < 0) throw new StatementTimeout('create_failed', NO_TIME);
        limitTime();
        const settingsOf = (id: string) => settings.of(id, 'prepared', deadline, wait);
        const ofCaller = settingsOf(call.tenant.id);
        const sent: PipelineStatement[] = savepoint === undefined ? [] : [{ text: savepoint }];
        sent.push(organizationId === undefined ? ofCaller : settingsOf(organizationId));
        if (statement) sent.push(...settings.locksOf(statement), settings.message([statement]));
        // For the statements of the entity manager.
        if (organizationId !== undefined) sent.push(ofCaller);
        sent.push(settings.setting('entity manager', SET_ENTITY_MANAGER, []));
        const sending = () => sendStatements<Row>(client, sent);
        const rows = await step(
          statement ? inSpan(statementSpan(statement.text), sending) : sending(),
        );
        this.limit.completed++;
        return rows.flat();
      };
      const state = new TransactionState(runner.manager, send, turn);
      // For the statements of the entity manager.
      await send({});
      const result = await work(
        { ...call, transaction: new OpenTransaction(state) },
        runner.manager,
      );
      if (turn?.needed) throw turn.needed;
      // PostgreSQL would answer the commit of a failed transaction with a rollback, and not with an error.
      if (state.isBroken || client.getTransactionStatus() === 'E')
        throw new ApiError('create_failed');
      await step(runner.commitTransaction());
      state.isCommitted = true;
      return { result, callbacks: state.remainingCallbacks };
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      cancelTimer();
      // A connection that comes too late is released then.
      if (isOpen) await runner.release();
      isOpen = false;
    }
  }
}
