import type { SelectQueryBuilder } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { eventTypeOf } from './tenant-entity.js';
import { uuidRangeOf } from '../../fields/kinds/uuid.js';
import type { InTransaction, TenantCall } from '../call.js';
import { UniqueViolation } from '../connection/driver-error.js';
import type { Statement } from '../gateway/statement.js';
import { openTransactionOf } from '../gateway/tenant-database.js';
import { entitiesOf, type EntityRow } from './entity-rows.js';
import { NothingInserted } from './idempotent-insert.js';
import { isRecordSql } from './record-sql.js';
import type { InsertOptions, JsonRow, RequiredReferences } from './record-statements.js';
import {
  assertPrecondition,
  eventValuesOf,
  originOf,
  type Row,
  rowJsonOf,
} from './record-changes.js';
import { RecordUpdates } from './record-updates.js';
import { RecordPromise, type Stored } from './stored-record.js';

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
   * Inserts a record. Outside a transaction, one statement inserts the records of concurrent calls.
   * @param row values as JSON: dates, arrays and objects are converted to the types of their columns
   * @param references columns with ids of records that must exist, always the same ones for a table
   * @returns undefined if such a record does not exist
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  insertRow(
    call: TenantCall,
    row: Row & { id: string },
    references?: RequiredReferences,
  ): RecordPromise<R, undefined> {
    return RecordPromise.of<R, undefined>(async () => {
      const { once } = call;
      const recordId = row.id.toLowerCase();
      const json = rowJsonOf(row);
      const request = { id: recordId, ...originOf(call), ...once?.valuesOf(recordId, json) };
      const items = [json, JSON.stringify(request)];
      const insert = (omitsDuplicates: boolean) => {
        const options = { references, once: once?.sql, omitsDuplicates };
        const text = this.statementsOf(call).insert(Object.keys(row), options);
        const values = [call.tenant.id];
        const statement = { text, plan: 'index', values, items, recordId, locks } as const;
        return this.database.write<JsonRow>(call, statement);
      };
      // In a batch, a row that a unique index rejects must not fail the others.
      const isBatched = openTransactionOf(call) === undefined;
      // A transaction has locked the values before, or has other locks already.
      const locks = isBatched ? this.uniqueNamesOf(call, [row]) : [];
      let [inserted] = await insert(isBatched).catch((error: unknown) => {
        if (once && error instanceof UniqueViolation) return [];
        throw error;
      });
      // The idempotency key has a response, a reference is missing, or the row is a duplicate, perhaps of a request with
      // the same key. The caller finds out which.
      if (!inserted && once) throw new NothingInserted();
      // The error of a second insert says why the row was left out.
      if (!inserted && isBatched) [inserted] = await insert(false);
      if (inserted) this.database.publishEvents(call);
      return inserted && this.storedOf(call, inserted);
    });
  }

  /**
   * Inserts rows with the same columns in one statement.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  async insertMany(call: TenantCall, rows: readonly (Row & { id: string })[]): Promise<void> {
    await this.insertRows(call, rows);
  }

  /**
   * Inserts rows with the same columns in one statement. It leaves out those that a unique index rejects, and those
   * with a missing reference.
   * @returns the record of each row, undefined if it was left out
   * @throws ApiError `create_failed`
   */
  protected async insertEach(
    call: TenantCall,
    rows: readonly (Row & { id: string })[],
    references?: RequiredReferences,
  ): Promise<(Stored<R> | undefined)[]> {
    const inserted = await this.insertRows(call, rows, { references, omitsDuplicates: true });
    const records = new Map(inserted.map((row) => [row.id, this.storedOf(call, row)]));
    return rows.map(({ id }) => records.get(id.toLowerCase()));
  }

  private async insertRows(
    call: TenantCall,
    rows: readonly (Row & { id: string })[],
    options?: InsertOptions,
  ): Promise<JsonRow[]> {
    const [first] = rows;
    if (!first) return [];
    const json = `[${rows.map(rowJsonOf).join()}]`;
    const requests = JSON.stringify(rows.map(({ id }) => ({ id, ...originOf(call) })));
    const text = this.statementsOf(call).insert(Object.keys(first), options);
    const values = [call.tenant.id, json, requests];
    const inserted = await this.database.write<JsonRow>(call, { text, values });
    if (inserted.length > 0) this.database.publishEvents(call);
    return inserted;
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

  /** The columns whose values no two records share, for writers that wait for each other. */
  protected readonly uniqueColumns: readonly string[] = [];

  /** The names of the values in these columns, for `locks` of statements and for turns. */
  protected uniqueNamesOf({ tenant }: TenantCall, rows: readonly Row[]): string[] {
    const names = rows.flatMap((row) =>
      this.uniqueColumns.flatMap((column) => {
        const value = row[column];
        const name = `value ${tenant.id} ${this.table.name} ${column}`;
        return typeof value === 'string' ? `${name} ${value}` : [];
      }),
    );
    return [...new Set(names)];
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
