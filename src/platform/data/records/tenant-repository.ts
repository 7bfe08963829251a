import type { SelectQueryBuilder } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { DELETED_AT, eventTypeOf } from './tenant-entity.js';
import { isEqual } from '../../fields/changes.js';
import { uuidRangeOf } from '../../fields/kinds/uuid.js';
import type { InTransaction, TenantCall } from '../call.js';
import { entitiesOf, type EntityRow } from '../gateway/entity-rows.js';
import type { Statement } from '../gateway/statement.js';
import { isRecordSql } from './record-sql.js';
import { type JsonRow, originOf, type Row } from './record-statements.js';
import { writeScheduledEvents, type WrittenEvents } from './scheduled-events.js';
import { type ChangeEvent, RecordUpdates } from './record-updates.js';
import { assertPrecondition, RecordPromise } from './stored-record.js';

/** The times of an imported record, which lie before its insertion. */
export interface Times {
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The row of a record that was created in the past, with an id of that time. */
export function importedRow<R extends object>(row: R, { created_at, updated_at }: Times) {
  return { ...row, id: uuidv7({ msecs: created_at.getTime() }), created_at, updated_at };
}

/** Base class of repositories. It builds the SQL of single records once, from their entity. */
export abstract class TenantRepository<R extends { id: string }> extends RecordUpdates<R> {
  /** @throws ApiError `query_failed` */
  find(call: TenantCall, id: string): RecordPromise<R, undefined> {
    return RecordPromise.of(async () => {
      const [row] = await this.database.read<JsonRow>(call, this.findStatement(call, id));
      return row && this.storedOf(call, row);
    });
  }

  /**
   * The first records whose ids begin with a prefix, in the order of their ids.
   * @throws ApiError `query_failed`
   */
  async findByIdPrefix(call: TenantCall, prefix: string, limit: number): Promise<R[]> {
    const range = uuidRangeOf(prefix);
    if (!range) return [];
    return this.query(call, (records) =>
      records.where('id between :first and :last', range).orderBy('id').limit(limit),
    );
  }

  /**
   * Returns the records that a query builder of TypeORM selects, as entities. The builder selects only records of the
   * organization that are not deleted, and its alias is the name of the table. The statement is built and planned at
   * each call. Use it for rare queries: single records have SQL that is built once, and lists have SQL in a form that
   * PostgreSQL plans well (ADR 7 and 8).
   * @param build adds conditions, an order and a limit
   * @throws ApiError `query_failed`
   */
  protected async query(
    call: TenantCall,
    build: (records: SelectQueryBuilder<R>) => SelectQueryBuilder<R>,
  ): Promise<R[]> {
    const { name } = this.table;
    const builder = build(this.database.queryBuilder(this.entity, name));
    // In addition to row-level security. TypeORM puts the other conditions in brackets, so that they can contain OR.
    builder.expressionMap.extraAppendedAndWhereCondition = `${name}.organization_id = :ofCall`;
    const [text, values] = builder.setParameter('ofCall', call.tenant.id).getQueryAndParameters();
    const rows = await this.database.read<EntityRow>(call, { text, values, plan: 'custom' });
    return entitiesOf(builder, this.entity, rows);
  }

  /**
   * Locks records until the transaction ends. All callers lock in the order of the ids, so that two of them do not
   * wait for each other.
   * @throws ApiError `create_failed`
   */
  async lockAll(call: InTransaction, ids: readonly string[]): Promise<void> {
    call.transaction.takeTurn(this.keysOf(call, ids));
    await call.transaction.query({
      text: `select from ${this.table.name} where organization_id = $1 and id = any($2) order by id for update`,
      values: [call.tenant.id, ids],
    });
  }

  /**
   * Locks the values of rows that no two records share, until the transaction ends, whether records have them or not.
   * Call it before records are locked.
   * @throws ApiError `create_failed`
   */
  async lockValues(call: InTransaction, rows: readonly Row[]): Promise<void> {
    const locks = this.uniqueNamesOf(call, rows);
    if (locks.length === 0) return;
    call.transaction.takeTurn(locks);
    await call.transaction.query({ text: 'select', values: [], locks });
  }

  /**
   * Sets `deleted_at` of a record.
   * @param marks values of hidden columns that are set with it. They are part of the record in the event.
   * @returns whether the record existed
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  async delete(call: TenantCall, id: string, marks: Row = {}): Promise<boolean> {
    const event = { type: eventTypeOf(this.table, 'deleted'), changed: [] };
    const text = this.statementsOf(call).deletion(Object.keys(marks));
    const statement = this.changeStatement(call, id, { text, plan: 'index' }, event, marks);
    return this.database.inTurn(call, this.keysOf(call, [id]), (turn) =>
      this.writeIfMatching(turn, id, statement, (inner) => {
        this.publish(inner, id);
      }),
    );
  }

  /**
   * Clears `deleted_at` of a record, in a transaction that locks the record before it reads it. A record that is not deleted
   * stays as it is. The event is an update whose changed fields begin with `deleted_at`.
   * @param revise computes the columns to set beside, and throws if the record must stay deleted. Default: none
   * @returns undefined if the record does not exist
   * @throws ApiError `precondition_failed`, `create_failed`, and any error of `revise`
   * @throws UniqueViolation
   */
  restore(
    call: TenantCall,
    id: string,
    revise: (deleted: R, inner: InTransaction) => Row | Promise<Row> = () => ({}),
  ): RecordPromise<R, undefined> {
    const run = async (inner: InTransaction) => {
      await this.lockAll(inner, [id]);
      const values = [call.tenant.id, id.toLowerCase()];
      const { findDeleted: text } = this.statementsOf(call);
      const [deleted] = await inner.transaction.query<JsonRow>({ text, values });
      const [row] = deleted
        ? [deleted]
        : await this.database.readForWrite<JsonRow>(inner, this.findStatement(inner, id));
      if (!row) return undefined;
      const record = this.storedOf(inner, row);
      assertPrecondition(call, record);
      if (!deleted) return this.unchanged(inner, row);
      const before = record.value();
      return this.writeRestored(inner, before, await revise(before, inner));
    };
    return RecordPromise.of<R, undefined>(() => this.database.transaction(call, run));
  }

  private writeRestored(call: InTransaction, before: R, values: Row) {
    const { storedNames } = this.columns.stored;
    const isChanged = (name: string) =>
      name in values && !isEqual((before as Row)[name], values[name]);
    const changed = [DELETED_AT, ...storedNames.filter(isChanged)];
    const event = { type: eventTypeOf(this.table, 'updated'), changed };
    const sql = this.statementsOf(call).restoration(Object.keys(values));
    return this.write(call, before.id, this.changeStatement(call, before.id, sql, event, values));
  }

  /**
   * Sets a reference to null in the records that refer to one of the given ids and are not deleted.
   * @param column SQL; it must never come from a caller
   * @returns the ids of the changed records
   * @throws ApiError `create_failed`
   */
  clearReference(call: InTransaction, column: string, ids: readonly string[]): Promise<string[]> {
    return this.setReference(call, column, ids, null);
  }

  /**
   * The records with one of these ids in a column, deleted ones too.
   * @param column SQL; it must never come from a caller
   * @throws ApiError `query_failed`
   */
  async findReferring(call: TenantCall, column: string, ids: readonly string[]): Promise<R[]> {
    const rows = await this.database.read<JsonRow>(call, {
      text: `select id, row_to_json(record)::text as json from (
          select ${this.columns.stored.jsonFromTable} from ${this.table.name}
          where organization_id = $1 and ${column} = any($2::uuid[]) order by id) record`,
      values: [call.tenant.id, ids],
    });
    return rows.map((row) => this.columns.stored.parser.stored(row).value());
  }

  /**
   * Like `clearReference`, with the id of another record.
   * @param changed the changed fields of the events
   * @throws UniqueViolation
   */
  async setReference(
    call: InTransaction,
    column: string,
    ids: readonly string[],
    to: string | null,
    changed: readonly string[] = [column],
  ): Promise<string[]> {
    const event = { type: eventTypeOf(this.table, 'updated'), changed };
    const { events } = this.table;
    const values = [call.tenant.id, ids, to, ...(events ? eventValuesOf(call, event) : [])];
    const text = this.statementsOf(call).setReference(column);
    const rows = await call.transaction.query<JsonRow>({ text, values });
    for (const { id } of rows) this.publish(call, id);
    return rows.map(({ id }) => id);
  }

  /**
   * Writes the events of a type in `scheduled` that are due in an organization, or the first of them.
   * @returns whether more events can be due
   * @throws ApiError `create_failed`
   */
  async writeScheduled(call: TenantCall, change: string): Promise<boolean> {
    const text = writeScheduledEvents(
      this.table,
      this.columns.stored,
      change,
      this.database.instance,
    );
    const values = [call.tenant.id];
    const statement = { text, values, plan: 'index' } as const;
    const [written] = await this.database.write<WrittenEvents>(call, statement);
    if (written && written.events > 0) this.database.publishEvents(call);
    return written?.isFull ?? false;
  }

  /**
   * Runs a statement that changes one record, if the record meets the precondition of the call. It notifies the
   * subscribers of the record on this instance. The statement writes no event.
   * @param statement has a `returning` clause, which shows whether the record exists
   * @returns whether the record existed
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  protected writeOne(call: TenantCall, id: string, statement: Statement): Promise<boolean> {
    return this.writeIfMatching(call, id, statement, (inner) => {
      this.database.publishChange(inner, id);
    });
  }

  private async writeIfMatching(
    call: TenantCall,
    id: string,
    statement: Statement,
    publish: (call: TenantCall) => void,
  ): Promise<boolean> {
    const write = async (inner: TenantCall) => {
      const { length } = await this.database.write(inner, statement);
      if (length > 0) publish(inner);
      return length > 0;
    };
    if (!call.precondition) return write(call);
    return this.database.transaction(call, async (inner) => {
      const { lock } = this.statementsOf(call);
      const values = [call.tenant.id, id];
      const [row] = await inner.transaction.query<JsonRow>({ text: lock, values });
      if (row) assertPrecondition(call, this.storedOf(call, row));
      return write(inner);
    });
  }

  /** SQL condition of the record with the id `$2` in the organization `$1`. */
  protected get isRecord(): string {
    return isRecordSql(this.table);
  }
}

/** The parameters of an event: its type, the changed fields, and the origin. */
function eventValuesOf(call: TenantCall, { type, changed }: ChangeEvent): unknown[] {
  // Names of fields need no quotes in the literal of an array.
  return [type, `{${changed.join()}}`, ...Object.values(originOf(call))];
}
