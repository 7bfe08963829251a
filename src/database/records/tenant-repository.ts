import type { Type } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import { uuidRangeOf } from '../../fields/uuid.js';
import { ColumnsOfTenants, type ComputedFields } from './record-columns.js';
import type { TenantTable } from './tenant-table.js';
import type { Statement, Tenant, TenantTransaction } from '../gateway/tenant.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';

/** Columns and values of a row. The names are SQL and must never come from a caller. */
export type Row = Readonly<Record<string, unknown>>;

/** Times of a record that is older than its row. */
export interface Times {
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A record as JSON, written by PostgreSQL. */
interface JsonRow {
  readonly json: string;
}

/** Computes the columns to set from the stored record; undefined changes nothing. */
export type Revision<R> = (
  stored: R,
  transaction: TenantTransaction,
) => Row | undefined | Promise<Row | undefined>;

/** SQL of a new `updated_at`, which is always later than the old one. */
export const NEXT_UPDATED_AT = `greatest(date_trunc('milliseconds', clock_timestamp()),
  updated_at + interval '1 millisecond')`;

/** Base class of repositories, with the SQL of single records. */
export abstract class TenantRepository<R extends { id: string }> {
  private readonly columns: ColumnsOfTenants<R>;

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
    const rows = await this.database.read<JsonRow>(tenant, {
      text: `select row_to_json(record)::text as json from (
        select ${this.columns.of(tenant).jsonFromTable} from ${this.table.name}
        where ${this.isRecord}) record`,
      values: [tenant.id, id],
      cost: 'bounded',
    });
    return this.recordOf(tenant, rows);
  }

  /**
   * The first records whose ids begin with a prefix, in the order of their ids.
   * @throws ApiError `query_failed`
   */
  async findByIdPrefix(tenant: Tenant, prefix: string, limit: number): Promise<R[]> {
    const range = uuidRangeOf(prefix);
    if (!range) return [];
    const rows = await this.database.read<JsonRow>(tenant, {
      text: `select row_to_json(record)::text as json from (
        select ${this.columns.stored.jsonColumns} from ${this.table.name}
        where organization_id = $1 and id between $2 and $3 and ${this.table.notDeleted}
        order by id limit ${limit}) record`,
      values: [tenant.id, range.first, range.last],
    });
    return rows.map(({ json }) => this.columns.stored.parser.fromJson(json));
  }

  /**
   * Inserts a record if a guard finds a row.
   * @param guard a locking SELECT; its parameters are `$1`, the organization, and the values of `row`
   * @returns undefined if the guard found no row
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  protected async insertIf(
    guard: string | undefined,
    tenant: Tenant,
    row: Row,
  ): Promise<R | undefined> {
    const names = ['organization_id', ...Object.keys(row)];
    const parameters = names.map((_, index) => `$${index + 1}`).join(', ');
    const source = guard ? `select ${parameters} from guard` : `values (${parameters})`;
    const rows = await this.database.write<JsonRow>(tenant, {
      text: `with ${guard ? `guard as materialized (${guard}),` : ''} record as (
          insert into ${this.table.name} (${names.join(', ')}) ${source}
          returning ${this.columns.of(tenant).jsonFromTable})
        select row_to_json(record)::text as json from record`,
      values: [tenant.id, ...Object.values(row)],
      cost: 'bounded',
    });
    return this.recordOf(tenant, rows);
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
   * Locks a record and sets the columns that `revise` returns.
   * @returns the record after the change; undefined if it does not exist
   * @throws ApiError `precondition_failed`, `create_failed`, and any error of `revise`
   * @throws UniqueViolation
   */
  update(tenant: Tenant, id: string, revise: Revision<R>): Promise<R | undefined> {
    return this.database.transaction(tenant, async (transaction, own) => {
      const rows = await transaction.query<JsonRow>(this.lock(tenant, id));
      const stored = this.recordOf(tenant, rows);
      const changes = stored && (await revise(stored, transaction));
      if (stored) checkPrecondition(tenant, stored);
      // Parsed again, because `revise` may have changed the other object.
      if (!changes) return this.recordOf(tenant, rows);
      const changed = this.recordOf(tenant, await transaction.query(this.set(tenant, id, changes)));
      this.database.publishChange(own, id);
      return changed;
    });
  }

  /**
   * Sets `deleted_at` of a record.
   * @returns whether the record existed
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  delete(tenant: Tenant, id: string): Promise<boolean> {
    return this.writeOne(tenant, id, {
      text: `update ${this.table.name} set deleted_at = now() where ${this.isRecord} returning id`,
      values: [tenant.id, id],
    });
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
      const stored = this.recordOf(tenant, await transaction.query(this.lock(tenant, id)));
      if (stored) checkPrecondition(tenant, stored);
      return this.publishIfFound(await transaction.query(statement), own, id);
    });
  }

  /** SQL condition of the record with the id `$2` in the organization `$1`. */
  protected get isRecord(): string {
    return `organization_id = $1 and id = $2 and ${this.table.notDeleted}`;
  }

  /** Publishes a change if the statement returned a row. */
  private publishIfFound({ length }: readonly unknown[], tenant: Tenant, id: string): boolean {
    if (length > 0) this.database.publishChange(tenant, id);
    return length > 0;
  }

  private recordOf(tenant: Tenant, [row]: readonly JsonRow[]): R | undefined {
    return row && this.columns.of(tenant).parser.fromJson(row.json);
  }

  /** Reads and locks a record. */
  private lock(tenant: Tenant, id: string): Statement {
    return {
      text: `select row_to_json(record)::text as json from (
        select ${this.columns.of(tenant).jsonFromTable} from ${this.table.name}
        where ${this.isRecord} for update) record`,
      values: [tenant.id, id],
    };
  }

  private set(tenant: Tenant, id: string, changes: Row): Statement {
    const assignments = Object.keys(changes).map((name, index) => `${name} = $${index + 3}`);
    return {
      text: `with record as (
          update ${this.table.name} set ${assignments.join(', ')}, updated_at = ${NEXT_UPDATED_AT}
          where ${this.isRecord} returning ${this.columns.of(tenant).jsonFromTable})
        select row_to_json(record)::text as json from record`,
      values: [tenant.id, id, ...Object.values(changes)],
    };
  }
}

function checkPrecondition({ precondition }: Tenant, stored: object): void {
  if (precondition && !precondition.isMetBy(stored)) throw new ApiError('precondition_failed');
}
