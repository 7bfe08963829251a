import { validationError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { changedFields, isEqual, withoutUndefined } from '../../fields/changes.js';
import type { InTransaction, TenantCall } from '../call.js';
import type { Statement } from '../gateway/statement.js';
import { openTransactionOf } from '../gateway/tenant-database.js';
import type { Transaction } from '../gateway/transaction.js';
import { LockedRows } from './locked-rows.js';
import { assertPrecondition, RecordPromise, type Stored } from './stored-record.js';
import { RecordInserts } from './record-inserts.js';
import {
  type JsonRow,
  originOf,
  type PlannedSql,
  type Row,
  rowJsonOf,
} from './record-statements.js';
import { ANY_VALUE, eventTypeOf } from './tenant-entity.js';

/** A change of a record that does not depend on its stored values. */
export interface DirectChange {
  /** The new values by column. Columns that are undefined keep their value. */
  readonly values: object;
  /** Whether `updated_at` is set even if the record has all values already. Default: false. */
  readonly touches?: boolean;
  /** A column that must be null. If it has a value, the function of the update runs. */
  readonly unless?: string;
}

/** An event that a change writes. */
export interface ChangeEvent {
  readonly type: string;
  /** The fields that have another value now. */
  readonly changed: readonly string[];
}

/**
 * Computes the columns to set from the stored record; undefined changes nothing. Columns that are undefined or
 * keep their value are not written, but `updated_at` is.
 * @param inner the call in the transaction that locks the record, for statements
 */
export type Revision<R> = (
  stored: R,
  inner: InTransaction,
) => Row | undefined | Promise<Row | undefined>;

/** Updates of single records: by compare-and-set, and with a lock after a conflict. */
export abstract class RecordUpdates<R extends { id: string }> extends RecordInserts<R> {
  private readonly lockedRows = new LockedRows();

  /** Whether records have an `updated_at`, by which a concurrent change is detected. */
  private readonly hasVersion = this.columns.stored.storedNames.includes('updated_at');

  /**
   * Sets columns of a record. `updated_at` keeps its value if nothing changes.
   *
   * A function computes the new values from the stored record. The record is read without a lock and written
   * if nobody has changed it since. After a conflict, or if the function sends statements, it is locked.
   * @param change the new values, of which undefined ones are not set; or the function, which may run more than once
   * @param direct the change of the function, if it needs no stored value. It is then written without reading the
   *   record, and the function runs only if that changed nothing.
   * @param lockOthers locks records to which it will refer, before the record itself is locked
   * @returns the record after the change; undefined if it does not exist
   * @throws ApiError `precondition_failed`, `create_failed`, and any error of the function
   * @throws UniqueViolation
   */
  update(
    call: TenantCall,
    id: string,
    change: Partial<R> | Revision<R>,
    direct?: DirectChange,
    lockOthers?: (inner: InTransaction) => Promise<unknown>,
  ): RecordPromise<R, undefined> {
    return RecordPromise.of<R, undefined>(async () => {
      const isFunction = typeof change === 'function';
      const revise: Revision<R> = isFunction ? change : (stored) => changedFields(stored, change);
      const row = this.lockedRows.take(call, id);
      if (row) return this.updateLocked(call as InTransaction, row, revise);
      const keys = this.keysOf(call, [id]);
      openTransactionOf(call)?.takeTurn(keys);
      // What needs no write does not wait for writers.
      const isUnchanged = this.database.isBusy(keys) && (await this.ifUnchanged(call, id, revise));
      if (isUnchanged) return isUnchanged;
      // Concurrent updates of a record would conflict and be tried several times.
      return this.database.inTurn(call, keys, async (inner) => {
        if (!openTransactionOf(inner) && this.hasVersion) {
          const changes = isFunction ? direct : { values: change };
          const updated = await this.runUpdate(inner, id, revise, changes);
          if (updated !== 'needs a lock') return updated;
        }
        return this.runLocked(inner, id, revise, lockOthers);
      });
    });
  }

  /** @returns the record if the function leaves it as it is */
  private async ifUnchanged(
    call: TenantCall,
    id: string,
    revise: Revision<R>,
  ): Promise<Stored<R> | undefined> {
    if (openTransactionOf(call) || !this.hasVersion) return undefined;
    const [row] = await this.database.readForWrite<JsonRow>(call, this.findStatement(call, id));
    if (!row) return undefined;
    const tried = this.revise({ ...call, transaction: NO_TRANSACTION }, row, revise);
    return (await tried.catch(isNeeded)) ? undefined : this.unchanged(call, row);
  }

  /**
   * Locks records until the transaction ends, in the order of their ids, and reads them. Their next updates by the same
   * transaction need no other statement.
   * @throws ApiError `create_failed`
   */
  async lockAndRead(call: InTransaction, ids: readonly string[]): Promise<void> {
    const { transaction, tenant } = call;
    transaction.takeTurn(this.keysOf(call, ids));
    const { lockMany: text } = this.statementsOf(call);
    const rows = await transaction.query<JsonRow>({ text, values: [tenant.id, ids] });
    this.lockedRows.add(transaction, rows);
  }

  private async updateLocked(
    call: InTransaction,
    row: JsonRow,
    revise: Revision<R>,
  ): Promise<Stored<R> | undefined> {
    const statement = await this.revise(call, row, revise);
    return statement ? this.write(call, row.id, statement) : this.unchanged(call, row);
  }

  /** Writes a change without a lock if possible: in one statement, or by compare-and-set. */
  private async runUpdate(
    call: TenantCall,
    id: string,
    revise: Revision<R>,
    direct: DirectChange | undefined,
  ): Promise<Stored<R> | undefined | 'needs a lock'> {
    const directly = direct && !call.precondition && this.directChange(call, id, direct);
    const changed = directly && (await this.write(call, id, directly));
    if (changed) return changed;
    const [row] = await this.database.readForWrite<JsonRow>(call, this.findStatement(call, id));
    if (!row) return undefined;
    try {
      const statement = await this.revise({ ...call, transaction: NO_TRANSACTION }, row, revise);
      if (!statement) return this.unchanged(call, row);
      const updated = await this.write(call, id, statement);
      if (updated) return updated;
    } catch (error) {
      if (!(error instanceof TransactionNeeded)) throw error;
    }
    return 'needs a lock';
  }

  /**
   * Writes a change.
   * @returns undefined if the record was not changed
   */
  protected async write(
    call: TenantCall,
    id: string,
    statement: Statement,
  ): Promise<Stored<R> | undefined> {
    const [changed] = await this.database.write<JsonRow>(call, statement);
    if (changed) this.publish(call, id);
    return changed && this.storedOf(call, changed);
  }

  /**
   * The statement of a change that does not depend on the stored record.
   * @returns undefined if the record must be read first
   */
  private directChange(
    call: TenantCall,
    id: string,
    { values, touches = false, unless }: DirectChange,
  ): Statement | undefined {
    const changes = withoutUndefined(values);
    // A stored record may have these values already.
    if (this.problemsOf(changes, Object.keys(changes)).length > 0) return undefined;
    // One order for all requests, so that few statements are prepared.
    const names = this.columns.stored.storedNames.filter((name) => name in changes);
    // The statement finds out whether the fields of one transition have changed.
    const [transition, ...others] = this.transitionsOf(changes);
    if (names.length === 0 || names.length < Object.keys(changes).length || others.length > 0)
      return undefined;
    const event = transition ?? { type: eventTypeOf(this.table, 'updated'), changed: [] };
    const sql = this.statementsOf(call).set(names, touches, unless);
    return this.changeStatement(call, id, sql, event, changes);
  }

  private runLocked(
    call: TenantCall,
    id: string,
    revise: Revision<R>,
    lockOthers?: (inner: InTransaction) => Promise<unknown>,
  ): Promise<Stored<R> | undefined> {
    return this.database.transaction(call, async (inner) => {
      await lockOthers?.(inner);
      const { lock: text } = this.statementsOf(call);
      const values = [call.tenant.id, id];
      const [row] = await inner.transaction.query<JsonRow>({ text, values });
      return row && this.updateLocked(inner, row, revise);
    });
  }

  /**
   * @param call the call in the transaction that locks the record. Without one, its version is compared.
   * @returns undefined if nothing changes
   */
  private async revise(
    call: InTransaction,
    row: JsonRow,
    revise: Revision<R>,
  ): Promise<Statement | undefined> {
    const record = this.storedOf(call, row);
    const revised = await revise(record.value(), call);
    assertPrecondition(call, record);
    if (!revised) return undefined;
    const changes = withoutUndefined(revised);
    const before: Row = record.value();
    const { storedNames } = this.columns.stored;
    // Columns outside the record cannot be compared, and are always written.
    const isSame = (name: string) =>
      storedNames.includes(name) && isEqual(before[name], changes[name]);
    const written = Object.fromEntries(Object.entries(changes).filter(([name]) => !isSame(name)));
    const changed = storedNames.filter((name) => name in written);
    const problems = this.problemsOf(changes, changed);
    if (problems.length > 0) throw validationError(problems);
    const version = call.transaction === NO_TRANSACTION ? (before.updated_at as Date) : undefined;
    const [transition] = this.transitionsOf(changes).filter((each) =>
      each.changed.every((name) => changed.includes(name)),
    );
    const event = { type: transition?.type ?? eventTypeOf(this.table, 'updated'), changed };
    const sql = this.statementsOf(call).update(Object.keys(written));
    return this.changeStatement(call, row.id, sql, event, written, version);
  }

  /**
   * @param changes the new values of columns, none for a deletion
   * @param version the `updated_at` that the record must still have
   */
  protected changeStatement(
    call: TenantCall,
    id: string,
    { text, plan }: PlannedSql,
    event: ChangeEvent,
    changes: Row = {},
    version?: Date,
  ): Statement {
    const recordId = id.toLowerCase();
    const items = [changeJsonOf(call, { id: recordId, version, ...event }, changes)];
    return { text, values: [call.tenant.id], items, plan, recordId, changesRecord: true };
  }

  /** The types other than `updated` that an update can have, each with the fields that must change for it. */
  private transitionsOf(changes: Row): ChangeEvent[] {
    return Object.entries(this.table.events?.transitions ?? {})
      .filter(([, values]) =>
        Object.entries(values).every(([name, value]) =>
          value === ANY_VALUE ? (changes[name] ?? null) !== null : changes[name] === value,
        ),
      )
      .map(([name, values]) => ({
        type: eventTypeOf(this.table, name),
        changed: Object.keys(values),
      }));
  }

  /** The problems of new values that only stored records may have. */
  private problemsOf(changes: Row, changed: readonly string[]): FieldProblem[] {
    return this.columns.stored.restricted.flatMap(({ name, newTextProblem }) => {
      const value = changed.includes(name) ? changes[name] : undefined;
      const message = typeof value === 'string' ? newTextProblem?.(value) : undefined;
      return message === undefined ? [] : [{ field: name, message }];
    });
  }

  protected findStatement(call: TenantCall, id: string): Statement {
    const { find: text } = this.statementsOf(call);
    const recordId = id.toLowerCase();
    const items = [JSON.stringify(recordId)];
    return { text, values: [call.tenant.id], items, recordId, plan: 'index' };
  }

  protected unchanged(call: TenantCall, row: JsonRow): Stored<R> {
    return Object.assign(this.storedOf(call, row), { isUnchanged: true });
  }
}

/** The function of an update has sent a statement, which needs a transaction. */
class TransactionNeeded extends Error {}

/** @throws any other error */
function isNeeded(error: unknown): true {
  if (error instanceof TransactionNeeded) return true;
  throw error;
}

/**
 * The transaction of the call with which the function of an update is first tried. Most functions do not use it. If one
 * does, the update begins again in a real transaction.
 */
const NO_TRANSACTION = new Proxy({} as Transaction, {
  get() {
    throw new TransactionNeeded();
  },
});

/**
 * The JSON of a change of a record with its event, for the statements that change records.
 * @param change with the version that the record must have, if it must have one
 */
function changeJsonOf(
  call: TenantCall,
  change: ChangeEvent & { readonly id: string; readonly version?: Date },
  values: Row,
): string {
  const json = JSON.stringify({ ...change, ...originOf(call) });
  return `${json.slice(0, -1)},"values":${rowJsonOf(values)}}`;
}
