import { ApiError, validationError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import type { Tenant, TenantTransaction } from '../gateway/tenant.js';
import type { BatchStatement } from '../gateway/tenant-batches.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';
import { openUnitOf } from '../gateway/unit-of-work.js';
import { KeyedQueue } from './keyed-queue.js';
import { type ChangeItem, changeItemOf } from './record-changes.js';
import type { ColumnsOfTenants } from './record-columns.js';
import { changedNames, eventTypeOf, possibleTypesOf, typeOfUpdate } from './record-events.js';
import type { Row } from './record-inserts.js';
import type { JsonRow, RecordStatements } from './record-statements.js';
import type { TenantTable } from './tenant-table.js';

/**
 * Computes the columns to set from the stored record; undefined changes nothing. Columns that are undefined or
 * keep their value are not written, but `updated_at` is.
 */
export type Revision<R> = (
  stored: R,
  transaction: TenantTransaction,
) => Row | undefined | Promise<Row | undefined>;

/** A change of a record that does not depend on its stored values. */
export interface DirectChange {
  /** The new values by column. Columns that are undefined keep their value. */
  readonly values: object;
  /** Whether `updated_at` is set even if the record has all values already. Default: false. */
  readonly touches?: boolean;
}

/** A statement for a record. */
interface Change {
  readonly statement: BatchStatement<ChangeItem>;
  readonly item: ChangeItem;
}

/** How often an update is tried without a lock. */
const MAX_UNLOCKED_ATTEMPTS = 2;

/** Changes single records of a table: by compare-and-set, and with a lock after conflicts. */
export class RecordUpdates<R extends { id: string }> {
  /** Whether records have an `updated_at`, by which a concurrent change is detected. */
  private readonly hasVersion: boolean;
  /** Runs the updates of one record one after another. Concurrent ones would conflict and be tried several times. */
  private readonly updates = new KeyedQueue();

  constructor(
    private readonly database: TenantDatabase,
    private readonly table: TenantTable,
    private readonly columns: ColumnsOfTenants<R>,
    private readonly statementsOf: (tenant: Tenant) => RecordStatements,
    private readonly publish: (tenant: Tenant, id: string) => void,
  ) {
    this.hasVersion = columns.stored.storedNames.includes('updated_at');
  }

  /** @see TenantRepository.update */
  async run(
    tenant: Tenant,
    id: string,
    revise: Revision<R>,
    direct?: DirectChange,
  ): Promise<R | undefined> {
    if (openUnitOf(tenant) || !this.hasVersion) return this.runLocked(tenant, id, revise);
    const key = `${tenant.id} ${id.toLowerCase()}`;
    return this.updates.run(key, () => this.runAlone(tenant, id, revise, direct));
  }

  private async runAlone(
    tenant: Tenant,
    id: string,
    revise: Revision<R>,
    direct: DirectChange | undefined,
  ): Promise<R | undefined> {
    const change = direct && !tenant.precondition && this.directChange(tenant, id, direct);
    if (change) {
      const changed = await this.write(tenant, id, change);
      if (changed) return changed;
    }
    for (let attempts = 0; attempts < MAX_UNLOCKED_ATTEMPTS; attempts++) {
      const outcome = await this.runUnlocked(tenant, id, revise);
      if (outcome === 'transaction needed') break;
      if (outcome !== 'conflict') return outcome;
    }
    return this.runLocked(tenant, id, revise);
  }

  private async runUnlocked(
    tenant: Tenant,
    id: string,
    revise: Revision<R>,
  ): Promise<R | undefined | 'conflict' | 'transaction needed'> {
    const { find } = this.statementsOf(tenant);
    const item = { id: id.toLowerCase() };
    const row = await this.database.runBatched<typeof item, JsonRow>(
      tenant,
      find,
      item,
      'create_failed',
    );
    if (!row) return undefined;
    try {
      const change = await this.revise(tenant, row, revise);
      if (!change) return this.columns.recordOf(tenant, row.json);
      return (await this.write(tenant, id, change)) ?? 'conflict';
    } catch (error) {
      if (error instanceof TransactionNeeded) return 'transaction needed';
      throw error;
    }
  }

  /**
   * Writes a change without a lock.
   * @returns undefined if the record was not changed
   */
  private async write(
    tenant: Tenant,
    id: string,
    { statement, item }: Change,
  ): Promise<R | undefined> {
    const changed = await this.database.runBatched<ChangeItem, JsonRow>(tenant, statement, item);
    if (!changed) return undefined;
    this.publish(tenant, id);
    return this.columns.recordOf(tenant, changed.json);
  }

  /**
   * The statement of a change that does not depend on the stored record.
   * @returns undefined if the record must be read first
   */
  private directChange(
    tenant: Tenant,
    id: string,
    { values, touches = false }: DirectChange,
  ): Change | undefined {
    const changes = withoutUndefined(values);
    // A stored record may have these values already.
    if (this.problemsOf(changes, Object.keys(changes)).length > 0) return undefined;
    // One order for all requests, so that few statements are prepared.
    const names = this.columns.stored.storedNames.filter((name) => name in changes);
    const [possible, ...others] = possibleTypesOf(this.table, changes);
    if (names.length === 0 || names.length < Object.keys(changes).length || others.length > 0)
      return undefined;
    const { type, fields } = possible ?? { type: eventTypeOf(this.table, 'updated'), fields: [] };
    const item = changeItemOf(id, changes, { type, changed: fields, origin: tenant.origin });
    return { statement: this.statementsOf(tenant).changes.set(names, touches), item };
  }

  private runLocked(tenant: Tenant, id: string, revise: Revision<R>): Promise<R | undefined> {
    return this.database.transaction(tenant, async (transaction, inside) => {
      const [row] = await transaction.query<JsonRow>(this.statementsOf(tenant).lock(tenant.id, id));
      if (!row) return undefined;
      const change = await this.revise(tenant, row, revise, transaction);
      if (!change) return this.columns.recordOf(tenant, row.json);
      const { statement, item } = change;
      const [changed] = await transaction.query<JsonRow>(statement.of(tenant.id, [item], true));
      this.publish(inside, id);
      return changed && this.columns.recordOf(tenant, changed.json);
    });
  }

  /**
   * @param transaction in which the record is locked; without one, its version is compared
   * @returns undefined if nothing changes
   */
  private async revise(
    tenant: Tenant,
    row: JsonRow,
    revise: Revision<R>,
    transaction = NO_TRANSACTION,
  ): Promise<Change | undefined> {
    const { parser } = this.columns.of(tenant);
    const stored = parser.fromJson(row.json);
    const revised = await revise(stored, transaction);
    checkPrecondition(tenant, stored);
    if (!revised) return undefined;
    const changes = withoutUndefined(revised);
    // Parsed again, because `revise` may have changed the other object.
    const before = parser.fromJson(row.json);
    const { storedNames } = this.columns.stored;
    const changed = changedNames(before, changes, storedNames);
    const problems = this.problemsOf(changes, changed);
    if (problems.length > 0) throw validationError(problems);
    // Columns outside the record cannot be compared.
    const written = Object.fromEntries(
      Object.entries(changes).filter(
        ([name]) => changed.includes(name) || !storedNames.includes(name),
      ),
    );
    const type = typeOfUpdate(this.table, changes, changed);
    const event = { type, changed, origin: tenant.origin };
    const { updated_at } = before as { updated_at?: Date };
    const version = transaction === NO_TRANSACTION ? updated_at : undefined;
    const item = changeItemOf(row.id, written, event, version);
    const statement = this.statementsOf(tenant).changes.update(Object.keys(written));
    return { statement, item };
  }

  /** The problems of new values that only stored records may have. */
  private problemsOf(changes: Row, changed: readonly string[]): FieldProblem[] {
    return this.columns.stored.restricted.flatMap(({ name, newTextProblem }) => {
      const value = changed.includes(name) ? changes[name] : undefined;
      const message = typeof value === 'string' ? newTextProblem?.(value) : undefined;
      return message === undefined ? [] : [{ field: name, message }];
    });
  }
}

function withoutUndefined(values: object): Row {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** `revise` has sent a statement, which needs a transaction. */
class TransactionNeeded extends Error {}

const NO_TRANSACTION: TenantTransaction = {
  query: () => Promise.reject(new TransactionNeeded()),
};

/** @throws ApiError `precondition_failed` */
export function checkPrecondition({ precondition }: Tenant, stored: object): void {
  if (!precondition || precondition.isMetBy(stored)) return;
  const { failure: message } = precondition;
  throw new ApiError('precondition_failed', message === undefined ? {} : { message });
}
