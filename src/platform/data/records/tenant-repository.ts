import type { Type } from '@nestjs/common';
import { changedFields } from '../../fields/changes.js';
import { uuidRangeOf } from '../../fields/kinds/uuid.js';
import { ColumnsOfTenants, type ComputedFields, type RecordColumns } from './record-columns.js';
import { type ChangeItem, changeItemOf } from './record-changes.js';
import { eventTypeOf } from './record-events.js';
import { isRecordSql } from './record-sql.js';
import { type JsonRow, RecordStatements } from './record-statements.js';
import {
  checkPrecondition,
  type DirectChange,
  RecordUpdates,
  type Revision,
} from './record-updates.js';
import { type RequiredReferences, type Row, rowItemOf, type RowItem } from './record-inserts.js';
import type { TenantTable } from './tenant-table.js';
import { ResponseExists } from '../stored-responses.js';
import { UniqueViolation } from '../connection/driver-error.js';
import type { Statement, Tenant, TenantTransaction } from '../gateway/tenant.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';

/** The times of an imported record, which lie before its insertion. */
export interface Times {
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Base class of repositories, with the SQL of single records. */
export abstract class TenantRepository<R extends { id: string }> {
  private readonly columns: ColumnsOfTenants<R>;
  private readonly statements = new Map<RecordColumns<R>, RecordStatements>();
  private readonly updates: RecordUpdates<R>;

  /**
   * @param record the DTO of a record; its fields are columns of the table
   * @param computed additional fields, which records have for tenants `withComputedFields`
   */
  constructor(
    protected readonly database: TenantDatabase,
    readonly table: TenantTable,
    record: Type<R>,
    computed?: ComputedFields,
  ) {
    this.columns = new ColumnsOfTenants(record, computed);
    const statementsOf = (tenant: Tenant) => this.statementsOf(tenant);
    const publish = (tenant: Tenant, id: string) => {
      this.publish(tenant, id);
    };
    this.updates = new RecordUpdates(database, table, this.columns, statementsOf, publish);
  }

  /** @throws ApiError `query_failed` */
  async find(tenant: Tenant, id: string): Promise<R | undefined> {
    return this.recordOf(tenant, await this.findRow(tenant, id, 'query_failed'));
  }

  /**
   * The first records whose ids begin with a prefix, in the order of their ids.
   * @throws ApiError `query_failed`
   */
  async findByIdPrefix(tenant: Tenant, prefix: string, limit: number): Promise<R[]> {
    const range = uuidRangeOf(prefix);
    if (!range) return [];
    const rows = await this.database.read<JsonRow>(tenant, {
      text: `select id, row_to_json(record)::text as json from (
        select ${this.columns.stored.jsonColumns} from ${this.table.name}
        where organization_id = $1 and id between $2 and $3 and ${this.table.notDeleted}
        order by id limit ${limit}) record`,
      values: [tenant.id, range.first, range.last],
    });
    return rows.map(({ json }) => this.columns.stored.parser.fromJson(json));
  }

  /**
   * Inserts a record, together with concurrent ones.
   * @param row values as JSON: dates, arrays and objects are converted to the types of their columns
   * @param references columns with ids of records that must exist, always the same ones for a table
   * @returns undefined if such a record does not exist
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  protected async insertRow(
    tenant: Tenant,
    row: Row & { id: string },
    references: RequiredReferences = {},
  ): Promise<R | undefined> {
    const { inserts } = this.statementsOf(tenant);
    const storesResponse = tenant.response !== undefined;
    const statement = inserts.statement(Object.keys(row), references, storesResponse);
    const running = this.database.runBatched<RowItem, JsonRow>(
      tenant,
      statement,
      rowItemOf(row, tenant),
    );
    const inserted = await (storesResponse ? orResponseExists(running) : running);
    if (inserted) this.database.publishEvents(tenant);
    return this.recordOf(tenant, inserted);
  }

  /**
   * Inserts rows with the same columns in one statement.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  async insertMany(tenant: Tenant, rows: readonly (Row & { id: string })[]): Promise<void> {
    const [first] = rows;
    if (!first) return;
    const items = rows.map((row) => rowItemOf(row, tenant));
    const { inserts } = this.statementsOf(tenant);
    await this.database.write(tenant, inserts.insertAll(tenant.id, Object.keys(first), items));
    this.database.publishEvents(tenant);
  }

  /**
   * Sets columns of a record. `updated_at` keeps its value if nothing changes.
   *
   * A function computes the new values from the stored record. The record is read without a lock and written
   * if nobody has changed it since. After conflicts, or if the function sends statements, it is locked.
   * @param change the new values, of which undefined ones are not set; or the function, which may run more than once
   * @param direct the change of the function, if it needs no stored value. It is then written without reading the
   *   record, and the function runs only if that changed nothing.
   * @returns the record after the change; undefined if it does not exist
   * @throws ApiError `precondition_failed`, `create_failed`, and any error of `revise`
   * @throws UniqueViolation
   */
  update(
    tenant: Tenant,
    id: string,
    change: Partial<R> | Revision<R>,
    direct?: DirectChange,
  ): Promise<R | undefined> {
    if (typeof change === 'function') return this.updates.run(tenant, id, change, direct);
    const revise = (stored: R) => changedFields(stored, change);
    return this.updates.run(tenant, id, revise, { values: change });
  }

  /**
   * Sets `deleted_at` of a record.
   * @returns whether the record existed
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  async delete(tenant: Tenant, id: string): Promise<boolean> {
    const type = eventTypeOf(this.table, 'deleted');
    const item = changeItemOf(id, {}, { type, changed: [], origin: tenant.origin });
    const statement = this.statementsOf(tenant).changes.delete;
    if (tenant.precondition) {
      return this.writeIfMatching(tenant, id, statement.of(tenant.id, [item], true), (inside) => {
        this.publish(inside, id);
      });
    }
    const deleted = await this.database.runBatched<ChangeItem, JsonRow>(tenant, statement, item);
    if (deleted) this.publish(tenant, id);
    return deleted !== undefined;
  }

  /**
   * Sets a reference to null in the records that refer to one of the given ids and are not deleted.
   * @param column SQL; it must never come from a caller
   * @returns the ids of the changed records
   * @throws ApiError `create_failed`
   */
  async clearReference(
    transaction: TenantTransaction,
    tenant: Tenant,
    column: string,
    ids: readonly string[],
  ): Promise<string[]> {
    const type = eventTypeOf(this.table, 'updated');
    const event = { type, changed: [column], origin: tenant.origin };
    const statement = this.statementsOf(tenant).clearReference(tenant.id, column, ids, event);
    const changed = await transaction.query<JsonRow>(statement);
    if (changed.length > 0 && this.table.events) this.database.publishEvents(tenant);
    return changed.map(({ id }) => id);
  }

  /**
   * Runs a statement that changes one record, if the record meets the precondition of the tenant. It notifies the
   * subscribers of the record on this instance. The statement writes no event.
   * @param statement has a `returning` clause, which shows whether the record exists
   * @returns whether the record existed
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  protected async writeOne(tenant: Tenant, id: string, statement: Statement): Promise<boolean> {
    if (tenant.precondition) {
      return this.writeIfMatching(tenant, id, statement, (inside) => {
        this.database.publishChange(inside, id);
      });
    }
    const { length } = await this.database.write(tenant, statement);
    if (length > 0) this.database.publishChange(tenant, id);
    return length > 0;
  }

  private writeIfMatching(
    tenant: Tenant,
    id: string,
    statement: Statement,
    publish: (inside: Tenant) => void,
  ): Promise<boolean> {
    return this.database.transaction(tenant, async (transaction, inside) => {
      const [row] = await transaction.query<JsonRow>(this.statementsOf(tenant).lock(tenant.id, id));
      const stored = this.recordOf(tenant, row);
      if (stored) checkPrecondition(tenant, stored);
      const { length } = await transaction.query(statement);
      if (length > 0) publish(inside);
      return length > 0;
    });
  }

  /** SQL condition of the record with the id `$2` in the organization `$1`. */
  protected get isRecord(): string {
    return isRecordSql(this.table);
  }

  private publish(tenant: Tenant, id: string): void {
    if (this.table.events) this.database.publishEvents(tenant);
    // Only subscribers of this instance are notified.
    else this.database.publishChange(tenant, id);
  }

  private findRow(
    tenant: Tenant,
    id: string,
    failure: 'query_failed' | 'create_failed',
  ): Promise<JsonRow | undefined> {
    const { find } = this.statementsOf(tenant);
    return this.database.runBatched(tenant, find, { id: id.toLowerCase() }, failure);
  }

  private statementsOf(tenant: Tenant): RecordStatements {
    const columns = this.columns.of(tenant);
    let statements = this.statements.get(columns);
    if (!statements) {
      statements = new RecordStatements(this.table, columns, this.database.instance);
      this.statements.set(columns, statements);
    }
    return statements;
  }

  private recordOf(tenant: Tenant, row: JsonRow | undefined): R | undefined {
    return row && this.columns.recordOf(tenant, row.json);
  }
}

/**
 * @throws ResponseExists if nothing was inserted: because of the key, because a reference is missing, or because a
 *   unique index rejected the row, which can be that of another request with the same key
 */
async function orResponseExists<T>(inserting: Promise<T | undefined>): Promise<T> {
  const inserted = await inserting.catch((error: unknown) => {
    if (error instanceof UniqueViolation) return undefined;
    throw error;
  });
  if (!inserted) throw new ResponseExists();
  return inserted;
}
