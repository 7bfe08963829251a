import type { Type } from '@nestjs/common';
import type { TenantCall } from '../call.js';
import { UniqueViolation } from '../connection/driver-error.js';
import type { Statement } from '../gateway/statement.js';
import { openTransactionOf, type TenantDatabase } from '../gateway/tenant-database.js';
import { NothingInserted } from './idempotent-insert.js';
import {
  type InsertOptions,
  type JsonRow,
  originOf,
  RecordStatements,
  type RequiredReferences,
  type Row,
  rowJsonOf,
} from './record-statements.js';
import {
  ColumnsOfCalls,
  type ComputedFields,
  RecordPromise,
  type Stored,
} from './stored-record.js';
import { tableOf, type TenantTable } from './tenant-entity.js';

/** Inserts of records, and what their other statements share: the columns, the SQL and the events. */
export abstract class RecordInserts<R extends { id: string }> {
  readonly table: TenantTable;
  protected readonly columns: ColumnsOfCalls<R>;
  private readonly stored: RecordStatements;
  private readonly computed: RecordStatements | undefined;

  /**
   * @param entity the class of the records, with `@TenantEntity()`
   * @param computed additional fields, which the records of some calls have
   */
  constructor(
    protected readonly database: TenantDatabase,
    protected readonly entity: Type<R>,
    computed?: ComputedFields,
  ) {
    this.table = tableOf(entity);
    this.columns = new ColumnsOfCalls(entity, computed);
    const { stored, computed: more } = this.columns;
    this.stored = new RecordStatements(this.table, stored, database.instance);
    this.computed = more && new RecordStatements(this.table, more, database.instance);
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
      // In a batch, a row that a unique index rejects must not fail the others.
      const isBatched = openTransactionOf(call) === undefined;
      // A transaction has locked the values before, or has other locks already.
      const uniqueNames = () => (isBatched ? this.uniqueNamesOf(call, [row]) : []);
      const insert = (omitsDuplicates: boolean) => {
        const options = { references, once: once?.sql, omitsDuplicates };
        const text = this.statementsOf(call).insert(Object.keys(row), options);
        const values = [call.tenant.id];
        const statement: Statement = {
          ...{ text, plan: 'index', values, items, recordId },
          // Read only by an attempt that waits long for locks.
          get locks() {
            return uniqueNames();
          },
        };
        return this.database.write<JsonRow>(call, statement);
      };
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

  /** The keys of records, by which their writers of this instance wait for each other. */
  protected keysOf({ tenant }: TenantCall, ids: readonly string[]): string[] {
    return ids.map((id) => `${tenant.id} ${this.table.name} ${id.toLowerCase()}`);
  }

  protected statementsOf(call: TenantCall): RecordStatements {
    return this.computed && this.columns.of(call).hasComputed ? this.computed : this.stored;
  }

  protected storedOf(call: TenantCall, row: JsonRow): Stored<R> {
    return this.columns.of(call).parser.stored(row);
  }

  protected publish(call: TenantCall, id: string): void {
    if (this.table.events) this.database.publishEvents(call);
    // Only subscribers of this instance are notified.
    else this.database.publishChange(call, id);
  }
}
