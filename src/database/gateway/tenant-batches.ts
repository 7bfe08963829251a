import pg from 'pg';
import type { BatchConnections, ConnectionWork } from './batch-connections.js';
import { type BatchItem, BatchQueue } from './batch-queue.js';
import type { ConcurrencyLimit } from './concurrency-limit.js';
import type { Statement } from './tenant.js';
import type { TenantContext } from './tenant-context.js';
import type { TenantStatements } from './tenant-statements.js';
import { Deadline } from './time-budget.js';

/**
 * How many batches of a statement may run at a time for one organization. With more, batches become
 * smaller and the throughput lower.
 */
const CONCURRENCY = 2;

const MAX_ITEMS = 64;
const MAX_CHARACTERS = 262_144;

/** A row that a batch returns: at most one for each item. */
export interface BatchRow {
  readonly id: string;
}

/** A statement that processes items of one organization. */
export interface BatchStatement<I extends BatchItem> {
  /** Short name, under which its times are recorded. */
  readonly name: string;
  readonly kind: 'read' | 'write';
  /** Whether an item without a row in the result of a larger batch is run alone, to get its own error. */
  readonly retriesOmitted: boolean;
  /**
   * The statement for some items, with the organization as `$1`. It returns a row with the id of each
   * item that it finds or writes.
   */
  of(organizationId: string, items: readonly I[]): Statement;
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
    private readonly connections: BatchConnections,
    private readonly statements: TenantStatements,
    private readonly limit: ConcurrencyLimit,
    private readonly context: TenantContext,
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
        concurrency: CONCURRENCY,
        maxItems: MAX_ITEMS,
        maxSize: MAX_CHARACTERS,
        allowsEqualIds: statement.kind === 'read',
      },
      (take) => this.process(statement, organizationId, take),
      () => byOrganization.delete(organizationId),
    );
    byOrganization.set(organizationId, queue as unknown as Queue<never>);
    return queue;
  }

  private process<I extends BatchItem>(
    statement: BatchStatement<I>,
    organizationId: string,
    take: () => readonly TimedItem<I>[],
  ): Promise<readonly Outcome[]> {
    const work: ConnectionWork<readonly Outcome[]> = async (client, limitTo) => {
      const batch = take();
      const deadline = Deadline.earliest(batch.map((timed) => timed.deadline));
      limitTo(deadline);
      try {
        const items = batch.map(({ item }) => item);
        const sent = statement.of(organizationId, items);
        const context = this.context.ofBatch(sent, organizationId, deadline);
        const running = this.statements.run<BatchRow>(client, context, sent);
        // Larger batches take longer, so times are recorded by the size of the batch.
        const rows = await this.limit.time(`${statement.name} ${sizeClassOf(items)}`, running);
        const byId = new Map(rows.map((row) => [row.id, row]));
        const isRetried = statement.retriesOmitted && batch.length > 1;
        const missing = isRetried ? NEEDS_OWN_STATEMENT : undefined;
        return batch.map(({ id }) => byId.get(id) ?? missing);
      } catch (error) {
        if (batch.length === 1 || !(error instanceof pg.DatabaseError)) throw error;
        return batch.map(() => NEEDS_OWN_STATEMENT);
      }
    };
    return this.connections.share(statement.kind, work);
  }
}

/** The number of binary digits of the number of items. */
function sizeClassOf({ length }: readonly unknown[]): number {
  return 32 - Math.clz32(length);
}
