import type { Type } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import { uuidRangeOf } from '../../fields/uuid.js';
import type { CountedTable } from './record-counts.js';
import { jsonColumnsOf, RecordParser } from './stored-record.js';
import type { Statement, Tenant, TenantTransaction } from '../gateway/tenant.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';

/** Columns and values of a row; the names come from code, never from a caller. */
export type Row = Readonly<Record<string, unknown>>;

/** When a record was made and last changed, for records that are older than their row. */
export interface Times {
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A table of records that belong to organizations. */
export interface TenantTable {
  readonly name: string;
  /** The fields of a record as it is answered, which are its columns. */
  readonly record: Type<object>;
  /** The condition of records that exist; deleted ones may still be in the table. */
  readonly notDeleted: CountedTable['notDeleted'];
  /**
   * The columns by whose values its migration counts records; undefined where none are counted, and
   * a list's total takes a scan.
   */
  readonly counted?: CountedTable['counted'];
}

/** A record that PostgreSQL has written as JSON. */
interface JsonRow {
  readonly json: string;
}

/** What becomes of a stored record: the columns to set, or undefined to leave it as it is. */
export type Revision<R> = (
  stored: R,
  transaction: TenantTransaction,
) => Row | undefined | Promise<Row | undefined>;

/** Moves forward with every change, also within one millisecond of the last. */
export const NEXT_UPDATED_AT = `greatest(date_trunc('milliseconds', clock_timestamp()),
  updated_at + interval '1 millisecond')`;

/** The SQL of single records, which every resource shares; its lists and its own SQL extend it. */
export abstract class TenantRepository<R extends { id: string }> {
  private readonly records: RecordParser<R>;
  private readonly jsonColumns: string;
  private readonly findText: string;

  constructor(
    protected readonly database: TenantDatabase,
    protected readonly table: TenantTable & { readonly record: Type<R> },
  ) {
    this.jsonColumns = jsonColumnsOf(table.record);
    this.records = new RecordParser(table.record);
    this.findText = `select row_to_json(record)::text as json from (
      select ${this.jsonColumns} from ${table.name} where ${this.isRecord}) record`;
  }

  /** @throws ApiError `query_failed` */
  async find(tenant: Tenant, id: string): Promise<R | undefined> {
    const rows = await this.database.read<JsonRow>(tenant, {
      text: this.findText,
      values: [tenant.id, id],
      cost: 'bounded',
    });
    return this.recordOf(rows);
  }

  /**
   * The first records whose ids begin so.
   * @throws ApiError `query_failed`
   */
  async findByIdPrefix(tenant: Tenant, beginning: string, most: number): Promise<R[]> {
    const range = uuidRangeOf(beginning);
    if (!range) return [];
    const rows = await this.database.read<JsonRow>(tenant, {
      text: `select row_to_json(record)::text as json from (
        select ${this.jsonColumns} from ${this.table.name}
        where organization_id = $1 and id between $2 and $3 and ${this.table.notDeleted}
        order by id limit ${most}) record`,
      values: [tenant.id, range.first, range.last],
    });
    return rows.map(({ json }) => this.records.fromJson(json));
  }

  /**
   * @param guard a locking SELECT that must find a row for the insert to happen; it may use the
   *   parameters of `row`, in their order behind `$1`, the organization
   * @returns undefined where the guard found nothing
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
          returning ${this.jsonColumns})
        select row_to_json(record)::text as json from record`,
      values: [tenant.id, ...Object.values(row)],
      cost: 'bounded',
    });
    return this.recordOf(rows);
  }

  /**
   * Inserts rows that all have the same columns, in one statement.
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
   * Changes a record by what `revise` makes of it, while no one else can.
   * @returns undefined where there is no such record
   * @throws ApiError `precondition_failed`, `create_failed`, and whatever `revise` throws
   * @throws UniqueViolation
   */
  update(tenant: Tenant, id: string, revise: Revision<R>): Promise<R | undefined> {
    return this.database.transaction(tenant, async (transaction, own) => {
      const rows = await transaction.query<JsonRow>(this.lock(tenant, id));
      const stored = this.recordOf(rows);
      const changes = stored && (await revise(stored, transaction));
      if (stored) checkPrecondition(tenant, stored);
      // Anew, as it was stored: who looked into the other one may have changed it.
      if (!changes) return this.recordOf(rows);
      const changed = this.recordOf(await transaction.query(this.set(tenant, id, changes)));
      this.database.publishChange(own, id);
      return changed;
    });
  }

  /**
   * Deletes a record softly: from then on it is found no more.
   * @returns whether there was such a record
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  delete(tenant: Tenant, id: string): Promise<boolean> {
    return this.writeOne(tenant, id, {
      text: `update ${this.table.name} set deleted_at = now() where ${this.isRecord} returning id`,
      values: [tenant.id, id],
    });
  }

  /**
   * Runs a statement that changes one record, if the record is the one that its caller means.
   * @param statement with `returning`, so that it tells whether there was such a record
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  protected async writeOne(tenant: Tenant, id: string, statement: Statement): Promise<boolean> {
    if (!tenant.precondition) {
      return this.publishIfFound(await this.database.write(tenant, statement), tenant, id);
    }
    return this.database.transaction(tenant, async (transaction, own) => {
      const stored = this.recordOf(await transaction.query(this.lock(tenant, id)));
      if (stored) checkPrecondition(tenant, stored);
      return this.publishIfFound(await transaction.query(statement), own, id);
    });
  }

  get tableName(): string {
    return this.table.name;
  }

  /** The table, where its records are counted. */
  get countedTable(): CountedTable | undefined {
    const { name, notDeleted, counted } = this.table;
    return counted && { name, notDeleted, counted };
  }

  /** Whether deleted records stay in the table until a purge. */
  get deletesSoftly(): boolean {
    return this.table.notDeleted !== 'true';
  }

  /** The one record of `$1`, the organization, and `$2`, the id. */
  protected get isRecord(): string {
    return `organization_id = $1 and id = $2 and ${this.table.notDeleted}`;
  }

  /** Announces a change where a statement found the record that it was to change. */
  private publishIfFound({ length }: readonly unknown[], tenant: Tenant, id: string): boolean {
    if (length > 0) this.database.publishChange(tenant, id);
    return length > 0;
  }

  private recordOf([row]: readonly JsonRow[]): R | undefined {
    return row && this.records.fromJson(row.json);
  }

  /** Reads a record that no one else can change until the transaction ends. */
  private lock(tenant: Tenant, id: string): Statement {
    return {
      text: `select row_to_json(record)::text as json from (
        select ${this.jsonColumns} from ${this.table.name} where ${this.isRecord} for update) record`,
      values: [tenant.id, id],
    };
  }

  private set(tenant: Tenant, id: string, changes: Row): Statement {
    const assignments = Object.keys(changes).map((name, index) => `${name} = $${index + 3}`);
    return {
      text: `with record as (
          update ${this.table.name} set ${assignments.join(', ')}, updated_at = ${NEXT_UPDATED_AT}
          where ${this.isRecord} returning ${this.jsonColumns})
        select row_to_json(record)::text as json from record`,
      values: [tenant.id, id, ...Object.values(changes)],
    };
  }
}

function checkPrecondition({ precondition }: Tenant, stored: object): void {
  if (precondition && !precondition.isMetBy(stored)) throw new ApiError('precondition_failed');
}
