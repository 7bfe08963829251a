import pg from 'pg';
import type { BatchConnections } from './batch-connections.js';
import { type BatchItem, BatchQueue, type TakeItems } from './batch-queue.js';
import type { ConcurrencyLimit } from './concurrency-limit.js';
import { executionsOf, type Statement } from './tenant.js';
import type { TenantContext } from './tenant-context.js';
import type { TenantStatements } from './tenant-statements.js';
import { Deadline } from './time-budget.js';

/** How many groups run at a time. With more, groups become smaller and the throughput lower. */
const CONCURRENCY = 2;

const MAX_STATEMENTS = 16;

/** Maximum number of items, except that each statement has at least one. */
const MAX_ITEMS = 64;

/** A statement of one organization in a group. */
interface GroupStatement {
  readonly statement: Statement;
  readonly deadline: Deadline;
  /** Number of items that it reads or writes. */
  readonly items: number;
}

/** A statement that waits for its group. Its id is that of its organization. */
interface PendingStatement extends BatchItem {
  /**
   * Prepares the statement when its group is sent.
   * @param maxItems the maximum number of items; at least one is possible even if it is lower
   * @param isAlone whether the group has no other statement
   */
  readonly prepare: (maxItems: number, isAlone: boolean) => GroupStatement;
}

/**
 * The rows of a statement, or the error with which PostgreSQL refused it. Undefined if it was rolled back because
 * PostgreSQL refused another statement.
 */
type Outcome = readonly unknown[] | pg.DatabaseError | undefined;

/**
 * Sends the statements of different organizations that wait at the same time in one transaction, with one commit.
 * Each statement is bound to its own organization. If PostgreSQL refuses one of them, the others are sent again,
 * each in a transaction of its own.
 */
export class StatementGroups {
  private readonly queue: BatchQueue<PendingStatement, Outcome>;

  constructor(
    private readonly connections: BatchConnections,
    private readonly statements: TenantStatements,
    private readonly limit: ConcurrencyLimit,
    private readonly context: TenantContext,
  ) {
    const limits = { concurrency: CONCURRENCY, maxItems: MAX_STATEMENTS, allowsEqualIds: true };
    this.queue = new BatchQueue(limits, (take) => this.process(take));
  }

  /**
   * @param prepare returns the statement, when its group is sent
   * @returns the rows of the statement
   * @throws any error of the driver; the outcome of a write is then unknown, unless it is a `pg.DatabaseError`
   */
  async run<Row>(
    organizationId: string,
    prepare: PendingStatement['prepare'],
  ): Promise<readonly Row[]> {
    let prepared: GroupStatement | undefined;
    const pending = {
      id: organizationId,
      prepare: (maxItems: number, isAlone: boolean) => (prepared ??= prepare(maxItems, isAlone)),
    };
    const outcome =
      (await this.queue.add(pending)) ??
      (await this.connections.use((client, limitTo) => this.send(client, limitTo, [pending])))[0];
    if (outcome instanceof pg.DatabaseError) throw outcome;
    return outcome as readonly Row[];
  }

  private process(take: TakeItems<PendingStatement>): Promise<readonly Outcome[]> {
    return this.connections.use(async (client, limitTo) => {
      const pending = take();
      // One order for all groups prevents deadlocks.
      const ordered = [...pending].sort((one, other) => (one.id < other.id ? -1 : 1));
      const outcomes = await this.send(client, limitTo, ordered);
      return pending.map((one) => outcomes[ordered.indexOf(one)]);
    });
  }

  /** @throws any error of the driver that is not an error of one of the statements */
  private async send(
    client: pg.PoolClient,
    limitTo: (deadline: Deadline) => void,
    group: readonly PendingStatement[],
  ): Promise<readonly Outcome[]> {
    let items = 0;
    const prepared = group.map(({ id, prepare }) => {
      const one = prepare(MAX_ITEMS - items, group.length === 1);
      items += one.items;
      return { id, ...one };
    });
    const deadline = Deadline.earliest(prepared.map((one) => one.deadline));
    limitTo(deadline);
    const executions = prepared.reduce((sum, { statement }) => sum + executionsOf(statement), 0);
    const parts = prepared.map(({ id, statement }, index) => {
      if (index > 0) return { contexts: [this.context.next(id)], statement };
      const contexts = [this.context.ofBatch(id, deadline, executions)];
      if (group.length > 1) contexts.push(this.context.checkConstraintsAtOnce());
      return { contexts, statement };
    });
    const pipeline = this.statements.sendAll(client, parts);
    try {
      return await this.limit.count(pipeline.result);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      const { failedPart } = pipeline;
      if (failedPart === undefined && group.length === 1) throw error;
      return group.map((_, index) => (index === failedPart ? error : undefined));
    }
  }
}
