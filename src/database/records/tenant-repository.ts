import type { Type } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import { uuidRangeOf } from '../../fields/uuid.js';
import { ColumnsOfTenants, type ComputedFields, type RecordColumns } from './record-columns.js';
import {
  isRecordSql,
  type JsonRow,
  RecordStatements,
  type RequiredReferences,
  type Row,
  rowItemOf,
  type RowItem,
} from './record-statements.js';
import type { TenantTable } from './tenant-table.js';
import type { Statement, Tenant, TenantTransaction } from '../gateway/tenant.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';
import { openUnitOf } from '../gateway/unit-of-work.js';

/** Times of a record that is older than its row. */
export interface Times {
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Computes the columns to set from the stored record; undefined changes nothing. */
export type Revision<R> = (
  stored: R,
  transaction: TenantTransaction,
) => Row | undefined | Promise<Row | undefined>;

/** How often an update is tried without a lock. */
const MAX_OPTIMISTIC_UPDATES = 2;

/** Base class of repositories, with the SQL of single records. */
export abstract class TenantRepository<R extends { id: string }> {
  private readonly columns: ColumnsOfTenants<R>;
  private readonly statements = new Map<RecordColumns<R>, RecordStatements>();

  /**
   * @param record the DTO of a record; its fields are columns of the table
   * @param computed further fields, which records have for tenants `withComputedFields`
   */
  constructor(
    protected readonly database: TenantDatabase,
    readonly table: TenantTable,
    record: Type<R>,
    computed?: ComputedFields,
  ) {
    this.columns = new ColumnsOfTenants(record, computed);
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
    const statement = this.statementsOf(tenant).insert(Object.keys(row), references);
    const item = rowItemOf(row);
    const inserted = await this.database.runBatched<RowItem, JsonRow>(tenant, statement, item);
    return this.recordOf(tenant, inserted);
  }

  /**
   * Inserts rows with the same columns in one statement.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  async insertMany(tenant: Tenant, rows: readonly Row[]): Promise<void> {
    const names = Object.keys(rows[0] ?? {}).join(', ');
    if (names === '') return;
    await this.database.write(tenant, {
      text: `insert into ${this.table.name} (organization_id, ${names})
        select $1, ${names} from json_populate_recordset(null::${this.table.name}, $2)`,
      values: [tenant.id, JSON.stringify(rows)],
    });
  }

  /**
   * Sets the columns of a record that `revise` returns. The record is read without a lock and written
   * if nobody has changed it since. After conflicts, or if `revise` sends statements, it is locked.
   * @param revise may run more than once
   * @returns the record after the change; undefined if it does not exist
   * @throws ApiError `precondition_failed`, `create_failed`, and any error of `revise`
   * @throws UniqueViolation
   */
  async update(tenant: Tenant, id: string, revise: Revision<R>): Promise<R | undefined> {
    if (openUnitOf(tenant)) return this.updateLocked(tenant, id, revise);
    for (let attempts = 0; attempts < MAX_OPTIMISTIC_UPDATES; attempts++) {
      const outcome = await this.updateUnlocked(tenant, id, revise);
      if (outcome === 'transaction needed') break;
      if (outcome !== 'conflict') return outcome;
    }
    return this.updateLocked(tenant, id, revise);
  }

  /**
   * Sets `deleted_at` of a record.
   * @returns whether the record existed
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  delete(tenant: Tenant, id: string): Promise<boolean> {
    return this.writeOne(tenant, id, this.statementsOf(tenant).delete(tenant.id, id));
  }

  /**
   * Runs a statement that changes one record, if the record meets the precondition of the tenant.
   * @param statement has a `returning` clause, which shows whether the record exists
   * @returns whether the record existed
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  protected async writeOne(tenant: Tenant, id: string, statement: Statement): Promise<boolean> {
    if (!tenant.precondition) {
      return this.publishIfFound(await this.database.write(tenant, statement), tenant, id);
    }
    return this.database.transaction(tenant, async (transaction, own) => {
      const [row] = await transaction.query<JsonRow>(this.statementsOf(tenant).lock(tenant.id, id));
      const stored = this.recordOf(tenant, row);
      if (stored) checkPrecondition(tenant, stored);
      return this.publishIfFound(await transaction.query(statement), own, id);
    });
  }

  /** SQL condition of the record with the id `$2` in the organization `$1`. */
  protected get isRecord(): string {
    return isRecordSql(this.table);
  }

  /** Publishes a change if the statement returned a row. */
  private publishIfFound({ length }: readonly unknown[], tenant: Tenant, id: string): boolean {
    if (length > 0) this.database.publishChange(tenant, id);
    return length > 0;
  }

  private async updateUnlocked(
    tenant: Tenant,
    id: string,
    revise: Revision<R>,
  ): Promise<R | undefined | 'conflict' | 'transaction needed'> {
    const row = await this.findRow(tenant, id, 'create_failed');
    const stored = this.recordOf(tenant, row);
    if (!stored) return undefined;
    let changes: Row | undefined;
    try {
      changes = await revise(stored, NO_TRANSACTION);
    } catch (error) {
      if (error instanceof TransactionNeeded) return 'transaction needed';
      throw error;
    }
    checkPrecondition(tenant, stored);
    // Parsed again, because `revise` may have changed the other object.
    const before = this.recordOf(tenant, row) as R & { updated_at: unknown };
    if (!changes) return before;
    const statement = this.statementsOf(tenant).set(tenant.id, id, changes, before.updated_at);
    const [changed] = await this.database.write<JsonRow>(tenant, statement);
    if (!changed) return 'conflict';
    this.database.publishChange(tenant, id);
    return this.recordOf(tenant, changed);
  }

  private updateLocked(tenant: Tenant, id: string, revise: Revision<R>): Promise<R | undefined> {
    return this.database.transaction(tenant, async (transaction, own) => {
      const [row] = await transaction.query<JsonRow>(this.statementsOf(tenant).lock(tenant.id, id));
      const stored = this.recordOf(tenant, row);
      const changes = stored && (await revise(stored, transaction));
      if (stored) checkPrecondition(tenant, stored);
      if (!changes) return this.recordOf(tenant, row);
      const [changed] = await transaction.query<JsonRow>(
        this.statementsOf(tenant).set(tenant.id, id, changes),
      );
      this.database.publishChange(own, id);
      return this.recordOf(tenant, changed);
    });
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
      statements = new RecordStatements(this.table, columns);
      this.statements.set(columns, statements);
    }
    return statements;
  }

  private recordOf(tenant: Tenant, row: JsonRow | undefined): R | undefined {
    return row && this.columns.of(tenant).parser.fromJson(row.json);
  }
}

/** `revise` has sent a statement, which needs a transaction. */
class TransactionNeeded extends Error {}

const NO_TRANSACTION: TenantTransaction = {
  query: () => Promise.reject(new TransactionNeeded()),
};

function checkPrecondition({ precondition }: Tenant, stored: object): void {
  if (precondition && !precondition.isMetBy(stored)) throw new ApiError('precondition_failed');
}
