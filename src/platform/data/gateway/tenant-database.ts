import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { activeSpan, inSpan, statementSpan, transactionSpan } from '../../tracing.js';
import { overloaded } from '../../errors/overload.js';
import type { InTransaction, TenantCall } from '../call.js';
import { ConnectionFailure } from '../connection/driver-error.js';
import { BatchConnections, type Outcome } from './batch-connections.js';
import { BatchQueue } from './queues.js';
import { Bulkhead } from './bulkhead.js';
import { ChangeBus } from './change-bus.js';
import { EventWriteSignal } from './event-write-signal.js';
import {
  type Attempt,
  batchSize,
  ConcurrencyLimit,
  type Deadline,
  nextAttempt,
  pauseBefore,
  type PendingStatement,
  refusalOf,
  TimeBudget,
} from './policies.js';
import { ReadReplicas } from './replicas/read-replicas.js';
import { failureOf, type Operation, READ, READ_FOR_WRITE, SCAN, WRITE } from './operation.js';
import { ScanLimit } from './scan-limit.js';
import type { Statement } from './statement.js';
import { runAfterCommit, type Transaction } from './transaction.js';
import { TransactionRunner, type Work } from './transaction-runner.js';
import { KeyedQueue, Turn, TurnNeeded } from './turns.js';

/** Two batches run at a time. With more, batches become smaller and the throughput lower. */
const BATCHES = { concurrency: 2, batchSize };

/**
 * How many callers of a write continue in one turn of the event loop. If all of them did, their clients would send
 * the next requests at the same time, and this process and PostgreSQL would wait for each other.
 */
const WRITERS_PER_TURN = 8;

/** Maximum number of operations of an organization that queue for a long wait for locks. */
const MAX_WAITING = 256;

/**
 * Runs all SQL on the records of organizations. Row-level security restricts each statement to its
 * organization, in one round trip. Errors of the driver are translated into errors of the application.
 */
@Injectable()
export class TenantDatabase {
  private readonly bulkhead: Bulkhead;
  private readonly scans = new ScanLimit(this.connections.plan.scans, this.timeBudget);
  private readonly transactions: TransactionRunner;
  private readonly turns = new KeyedQueue();
  private readonly reads = new BatchQueue<PendingStatement, Outcome>(BATCHES, (take) =>
    this.connections.sendBatch(take),
  );
  private readonly writes = new BatchQueue<PendingStatement, Outcome>(
    // Under overload, all writers continue, because requests that wait for admission fill the next batch.
    { ...BATCHES, callersPerTurn: () => (this.limit.isReached ? Infinity : WRITERS_PER_TURN) },
    (take) => this.connections.sendBatch(take),
  );

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly timeBudget: TimeBudget,
    private readonly limit: ConcurrencyLimit,
    private readonly changes: ChangeBus,
    private readonly connections: BatchConnections,
    private readonly eventWrites: EventWriteSignal,
    private readonly replicas: ReadReplicas,
  ) {
    this.bulkhead = new Bulkhead(connections.plan.waiting, MAX_WAITING);
    this.transactions = new TransactionRunner(dataSource, connections.settings, limit);
  }

  /**
   * Runs a read. If its connection is lost, it runs once more on another one.
   * @throws ApiError `query_failed`
   */
  read<Row>(call: TenantCall, statement: Statement): Promise<Row[]> {
    return this.submit<Row>(call, statement, READ);
  }

  /**
   * Runs a read that may read all records of the organization. A few run at a time, and each has little time.
   * @throws ScanTimeout if its time was over
   * @throws ApiError `overloaded` if too many others run; `query_failed`
   */
  scan<Row>(call: TenantCall, statement: Statement): Promise<Row[]> {
    return this.scans.run(call, (inTime) => this.submit<Row>(inTime, statement, SCAN));
  }

  /**
   * Runs a read that is part of a write.
   * @throws ApiError `create_failed`
   */
  readForWrite<Row>(call: TenantCall, statement: Statement): Promise<Row[]> {
    return this.submit<Row>(call, statement, READ_FOR_WRITE);
  }

  /**
   * Runs a write in a transaction of its own.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  write<Row>(call: TenantCall, statement: Statement): Promise<Row[]> {
    return this.submit<Row>(call, statement, WRITE);
  }

  /**
   * Runs `work` in one transaction. If it throws, the transaction is rolled back and the error is rethrown. `work`
   * may run more than once: until the deadline, it is retried after a deadlock, a serialization failure or a lock
   * timeout. In the transaction of another call, it runs in a savepoint.
   * @param work receives the call inside the transaction, for services and repositories, and the entity manager of
   *   TypeORM, whose statements are part of the transaction. It writes only tables of extensions.
   * @throws ApiError `create_failed`, and any error of `work`
   * @throws UniqueViolation
   */
  async transaction<C extends TenantCall, T>(call: C, work: Work<C, T>): Promise<T> {
    const open = openTransactionOf(call);
    if (open) {
      return open.runInSavepoint((transaction) =>
        work({ ...call, transaction }, transaction.manager),
      );
    }
    const turn = call.hasTurn ? undefined : new Turn(this.turns);
    const attempt = (next: Attempt) => this.transactions.attempt(call, work, next, turn);
    const run = () => this.run(call, WRITE, attempt, turn).finally(() => turn?.end());
    const { result, callbacks } = await inSpan(transactionSpan, run);
    await Promise.all(callbacks.map(({ run }) => runAfterCommit(run)));
    return result;
  }

  /** Whether work of this instance has one of the keys, or waits for it. */
  isBusy(keys: readonly string[]): boolean {
    return this.turns.isBusy(keys);
  }

  /** Starts the deadline of all operations of a call, unless it has one. */
  withDeadline<C extends TenantCall>(call: C): C & { readonly deadline: Deadline } {
    return { ...call, deadline: call.deadline ?? this.timeBudget.startDeadline() };
  }

  /**
   * Runs `work` after earlier work of this instance that has one of the keys, without a connection while it waits. Work that
   * has its turn, or runs in a transaction, does not wait, because others could wait for it.
   * @param work receives the call that has its turn
   * @throws ApiError `overloaded`, and any error of `work`
   */
  async inTurn<C extends TenantCall, T>(
    call: C,
    keys: readonly string[],
    work: (call: C) => Promise<T>,
  ): Promise<T> {
    if (call.hasTurn || openTransactionOf(call)) return work(call);
    const inner = this.withDeadline({ ...call, hasTurn: true });
    const turn = new Turn(this.turns);
    if (!this.isBusy(keys)) turn.take(keys);
    else if (!(await turn.wait(keys, inner.deadline.waitMs))) throw overloaded();
    return work(inner).finally(() => {
      turn.end();
    });
  }

  /**
   * Like `inTurn`, for work that may be superfluous after that of others.
   * @returns undefined if others had the keys. They have ended then, and `work` did not run.
   */
  async ifFree<C extends TenantCall, T>(
    call: C,
    keys: readonly string[],
    work: (call: C) => Promise<T>,
  ): Promise<T | undefined> {
    const waits = !call.hasTurn && !openTransactionOf(call) && this.isBusy(keys);
    if (!waits) return this.inTurn(call, keys, work);
    await this.turns
      .untilEnded(keys, this.withDeadline(call).deadline.waitMs)
      .catch((cause: unknown) => {
        throw overloaded(cause);
      });
    return undefined;
  }

  /**
   * Runs `work` in a transaction that is always rolled back.
   * @throws ApiError `create_failed`, and any error of `work`
   * @throws UniqueViolation
   */
  async dryRun<C extends TenantCall, T>(
    call: C,
    work: (call: InTransaction<C>) => Promise<T>,
  ): Promise<T> {
    const rollback = new Error('the transaction of a dry run is rolled back');
    let result: T | undefined;
    try {
      await this.transaction(call, async (inner) => {
        result = await work(inner);
        throw rollback;
      });
    } catch (error) {
      if (error !== rollback) throw error;
    }
    return result as T;
  }

  /**
   * Runs a callback after the outermost commit. It does not run in a dry run, or if the transaction or the
   * part of it that added the callback is rolled back. Outside a transaction it runs at once. Callbacks start
   * in their order. The outermost `transaction` resolves, and a request is answered, when all of them have
   * finished. An error of a callback is logged and changes nothing else.
   * @param call the call that the data was written with
   * @returns outside a transaction: resolves when the callback has finished; otherwise at once
   */
  async afterCommit(call: TenantCall, callback: () => unknown): Promise<void> {
    const transaction = openTransactionOf(call);
    if (transaction) transaction.afterCommit({ run: callback });
    else await runAfterCommit(callback);
  }

  /**
   * Publishes the change or deletion of a record, after commit.
   * @param call the call that the record was written with
   */
  publishChange(call: TenantCall, id: string): void {
    this.publishAfterCommit(call, `change of ${id.toLowerCase()}`, () => {
      this.changes.publish(call.tenant.id, id);
    });
  }

  /** A query builder of TypeORM, whose statement `read` runs. Its own methods, such as `getMany()`, have no organization. */
  queryBuilder<E extends ObjectLiteral>(entity: Type<E>, alias: string): SelectQueryBuilder<E> {
    return this.dataSource.createQueryBuilder(entity, alias);
  }

  /** The number of this instance in the events that it writes. */
  get instance(): number {
    return this.eventWrites.origin;
  }

  /** Publishes the written events, after the commit of their transaction. */
  publishEvents(call: TenantCall): void {
    this.publishAfterCommit(call, 'events', this.eventWrites.notify);
  }

  /** @param key of several publications of a transaction with one key, the first one is carried out */
  private publishAfterCommit(call: TenantCall, key: string, publish: () => void): void {
    const transaction = openTransactionOf(call);
    if (transaction) transaction.afterCommit({ key, run: publish });
    else publish();
  }

  /** Runs a statement in the transaction of the call, otherwise in one of its own. */
  private submit<Row>(
    call: TenantCall,
    statement: Statement,
    operation: Operation,
  ): Promise<Row[]> {
    const transaction = openTransactionOf(call);
    if (transaction) return transaction.queryInSavepoint<Row>(statement);
    const attempt = async (next: Attempt) => {
      try {
        const rows = await this.send<Row>(call.tenant.id, statement, next);
        this.limit.completed++;
        return rows;
      } catch (error) {
        throw failureOf(operation, error);
      }
    };
    return inSpan(statementSpan(statement.text), () => this.run(call, operation, attempt));
  }

  /**
   * Runs an operation within its deadline and the concurrency limit, and repeats it as `nextAttempt` says, or when it
   * has its turn.
   */
  private async run<T>(
    call: TenantCall,
    { isRead, isScan }: Operation,
    work: (attempt: Attempt) => Promise<T>,
    turn?: Turn,
  ): Promise<T> {
    const deadline = call.deadline ?? this.timeBudget.startDeadline();
    let attempt: Attempt = { deadline, isRead, waitsForLocks: false, retries: 0 };
    const runAttempt = async () => {
      const { waitsForLocks } = attempt;
      const startedAt = this.limit.acquire();
      try {
        return await work(attempt);
      } finally {
        // A wait for a lock says nothing about the load.
        this.limit.release(waitsForLocks || isScan ? undefined : startedAt);
      }
    };
    const refusal = () => overloaded(attempt.cause);
    for (;;) {
      try {
        if (!attempt.waitsForLocks) return await runAttempt();
        return await this.bulkhead.run(call.tenant.id, deadline.waitMs, runAttempt, refusal);
      } catch (error) {
        if (error instanceof TurnNeeded && turn) {
          if (!(await turn.waitAfter(error, deadline.waitMs))) throw overloaded(error);
          continue;
        }
        const next = nextAttempt(attempt, error);
        if (!next) throw refusalOf(error, deadline);
        if (error instanceof ConnectionFailure) this.connections.closeIdle();
        if (next.retries > 1) await pause(pauseBefore(next));
        attempt = next;
      }
    }
  }

  private async send<Row>(id: string, statement: Statement, attempt: Attempt): Promise<Row[]> {
    const { deadline, waitsForLocks, isRead } = attempt;
    const { plan, mayUseReplica = false } = statement;
    const rows =
      mayUseReplica && !waitsForLocks && (await this.replicas.read<Row>(id, statement, deadline));
    if (rows) return rows;
    if (plan !== 'index' || waitsForLocks) return this.sendInPool<Row>(id, statement, attempt);
    const pending = { organizationId: id, statement, deadline, span: activeSpan() };
    // A list would delay the look-ups of a batch.
    const batched = mayUseReplica
      ? undefined
      : await (isRead ? this.reads : this.writes).add(pending);
    // A statement without an outcome was rolled back, because PostgreSQL refused another one of its batch.
    const outcome = batched ?? (await this.connections.sendBatch(() => [pending]))[0];
    if (outcome instanceof pg.DatabaseError) throw outcome;
    return outcome as Row[];
  }

  private async sendInPool<Row>(
    id: string,
    statement: Statement,
    attempt: Attempt,
  ): Promise<Row[]> {
    const { deadline, waitsForLocks } = attempt;
    const { requests, settings } = this.connections;
    const messages = () => [
      settings.of(id, statement.plan, deadline, waitsForLocks ? 'long' : 'brief'),
      ...(waitsForLocks ? settings.locksOf(statement) : []),
      settings.message([statement]),
    ];
    return (await requests.send<Row>(deadline, messages, deadline.remainingMs)).flat();
  }
}

/** The transaction of a call. After its commit, statements run in transactions of their own. */
export function openTransactionOf({ transaction }: TenantCall): Transaction | undefined {
  return transaction?.isCommitted ? undefined : transaction;
}
