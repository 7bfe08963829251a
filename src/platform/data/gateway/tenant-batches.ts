import pg from 'pg';
import { type BatchItem, BatchQueue, type TakeItems } from './batch-queue.js';
import type { ConcurrencyLimit } from './concurrency-limit.js';
import type { StatementGroups } from './statement-groups.js';
import type { Statement } from './tenant.js';
import { Deadline } from './time-budget.js';

/**
 * How many callers of a write continue in one turn of the event loop. If all of them did, their clients would send
 * the next requests at the same time, and this process and PostgreSQL would wait for each other.
 */
const WRITERS_PER_TURN = 8;

const MAX_CHARACTERS = 262_144;

/** A row that a batch returns: at most one for each item. */
export interface BatchRow {
  readonly id: string;
}

/** A statement that processes items of one organization. */
export interface BatchStatement<I extends BatchItem> {
  readonly kind: 'read' | 'write';
  /** Whether an item without a row in the result gets a statement of its own, which reports the error. */
  readonly retriesOmitted: boolean;
  /**
   * The statement for some items, with the organization as `$1`. It returns a row with the id of each
   * item that it finds or writes.
   * @param isSingle whether it has one item, and an error of that item affects no others
   */
  of(organizationId: string, items: readonly I[], isSingle: boolean): Statement;
}

/** The batch has written nothing for the item, which needs a statement of its own. */
export const NEEDS_OWN_STATEMENT = Symbol('needs a statement of its own');

type Outcome = BatchRow | undefined | typeof NEEDS_OWN_STATEMENT;

interface TimedItem<I> extends BatchItem {
  readonly item: I;
  readonly deadline: Deadline;
}

type Queue<I> = BatchQueue<TimedItem<I>, Outcome>;

/**
 * Processes concurrent items of one organization in one statement. Row-level security restricts each
 * batch to its organization.
 */
export class TenantBatches {
  private readonly queues = new WeakMap<object, Map<string, Queue<never>>>();

  constructor(
    private readonly groups: Readonly<Record<BatchStatement<never>['kind'], StatementGroups>>,
    private readonly limit: ConcurrencyLimit,
  ) {}

  /**
   * @returns the row of the item; undefined if there is none
   * @throws any error of the driver; the outcome of a write is then unknown
   */
  run<I extends BatchItem>(
    statement: BatchStatement<I>,
    organizationId: string,
    item: I,
    deadline: Deadline,
  ): Promise<Outcome> {
    const { id, size } = item;
    return this.queueOf(statement, organizationId).add({ id, size, item, deadline });
  }

  private queueOf<I extends BatchItem>(
    statement: BatchStatement<I>,
    organizationId: string,
  ): Queue<I> {
    let byOrganization = this.queues.get(statement);
    if (!byOrganization)
      this.queues.set(statement, (byOrganization = new Map<string, Queue<never>>()));
    const existing = byOrganization.get(organizationId);
    if (existing) return existing as unknown as Queue<I>;
    const queue: Queue<I> = new BatchQueue(
      {
        maxSize: MAX_CHARACTERS,
        allowsEqualIds: statement.kind === 'read',
        // It waits for its group, which takes the items as late as possible.
        startsAtOnce: true,
        ...(statement.kind === 'write' && { callersPerTurn: () => this.writersPerTurn }),
      },
      (take) => this.process(statement, organizationId, take),
      () => byOrganization.delete(organizationId),
    );
    byOrganization.set(organizationId, queue as unknown as Queue<never>);
    return queue;
  }

  /** Under overload, all writers continue, because requests that wait for admission fill the next batch. */
  private get writersPerTurn(): number {
    return this.limit.isReached ? Infinity : WRITERS_PER_TURN;
  }

  private async process<I extends BatchItem>(
    statement: BatchStatement<I>,
    organizationId: string,
    take: TakeItems<TimedItem<I>>,
  ): Promise<readonly Outcome[]> {
    const taken: { batch: readonly TimedItem<I>[]; isSingle: boolean } = {
      batch: [],
      isSingle: false,
    };
    const prepare = (maxItems: number, isAlone: boolean) => {
      const batch = take(maxItems);
      const isSingle = isAlone && batch.length === 1;
      Object.assign(taken, { batch, isSingle });
      const items = batch.map(({ item }) => item);
      return {
        statement: statement.of(organizationId, items, isSingle),
        deadline: Deadline.earliest(batch.map((timed) => timed.deadline)),
        items: items.length,
      };
    };
    try {
      const rows = await this.groups[statement.kind].run<BatchRow>(organizationId, prepare);
      const byId = new Map(rows.map((row) => [row.id, row]));
      const isRetried = statement.retriesOmitted && !taken.isSingle;
      const missing = isRetried ? NEEDS_OWN_STATEMENT : undefined;
      return taken.batch.map(({ id }) => byId.get(id) ?? missing);
    } catch (error) {
      if (taken.batch.length <= 1 || !(error instanceof pg.DatabaseError)) throw error;
      return taken.batch.map(() => NEEDS_OWN_STATEMENT);
    }
  }
}
