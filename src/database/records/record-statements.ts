import type { BatchItem } from '../gateway/batch-queue.js';
import type { Statement } from '../gateway/tenant.js';
import type { BatchStatement } from '../gateway/tenant-batches.js';
import type { RecordColumns } from './record-columns.js';
import { deletesSoftly, type TenantTable } from './tenant-table.js';

/** Columns and values of a row. The names are SQL and must never come from a caller. */
export type Row = Readonly<Record<string, unknown>>;

/** A record as JSON, written by PostgreSQL. */
export interface JsonRow {
  readonly id: string;
  readonly json: string;
}

/** A row to write, as JSON. */
export interface RowItem extends BatchItem {
  readonly json: string;
}

/**
 * Returns SQL that selects the ids of records that exist, and locks them against deletion until the
 * transaction ends.
 * @param organization parameter of the organization, such as `$1`
 * @param ids subquery that selects the ids
 */
export type ExistingIdsSql = (organization: string, ids: string) => string;

/** Columns with ids of records that must exist. A null refers to no record. */
export type RequiredReferences = Readonly<Record<string, ExistingIdsSql>>;

/** SQL of a new `updated_at`, which is always later than the old one. */
export const NEXT_UPDATED_AT = `greatest(date_trunc('milliseconds', clock_timestamp()),
  updated_at + interval '1 millisecond')`;

/**
 * Ends a subquery that finds one record: PostgreSQL then runs it once for each id, with the primary key.
 * Otherwise it can decide to read all records of the organization, if it takes the organization for small.
 */
export const ONE_BY_ONE = 'offset 0';

/**
 * The condition `deleted_at is null` for a record with a given id. No partial index contains it:
 * without statistics, PostgreSQL would prefer such an index to the primary key, and read all of it.
 */
export const NOT_DELETED_BY_ID = `coalesce(deleted_at, 'infinity') = 'infinity'`;

/** SQL of single records of a table, for several records of one organization at once. */
export class RecordStatements {
  readonly find: BatchStatement<BatchItem>;
  private readonly inserts = new Map<string, BatchStatement<RowItem>>();

  /** @param columns the columns of the returned records */
  constructor(
    private readonly table: TenantTable,
    private readonly columns: Pick<RecordColumns<never>, 'jsonFromTable'>,
  ) {
    const { name } = table;
    const text = `select id, row_to_json(record)::text as json from unnest($2::uuid[]) "wanted id"
      cross join lateral (select ${columns.jsonFromTable} from ${name}
        where organization_id = $1 and id = "wanted id" and ${notDeletedSql(table)} ${ONE_BY_ONE}) record`;
    this.find = {
      name: `${name} find`,
      kind: 'read',
      of: (organizationId, items) => ({
        text,
        values: [organizationId, [...new Set(items.map(({ id }) => id))]],
        plan: 'index',
      }),
    };
  }

  /**
   * Inserts rows. Of several rows, those that a unique index rejects are left out; the rejection of a
   * single row is an error.
   * @param names the columns of the rows
   * @param references always the same ones for a table
   */
  insert(names: readonly string[], references: RequiredReferences): BatchStatement<RowItem> {
    const columns = names.join(', ');
    let statement = this.inserts.get(columns);
    if (!statement) {
      statement = this.createInsert(columns, references);
      this.inserts.set(columns, statement);
    }
    return statement;
  }

  /** Reads and locks a record. */
  lock(organizationId: string, id: string): Statement {
    return {
      text: `select id, row_to_json(record)::text as json from (
        select ${this.columns.jsonFromTable} from ${this.table.name}
        where ${this.isRecord} for update) record`,
      values: [organizationId, id],
    };
  }

  /**
   * Sets columns of a record.
   * @param version the `updated_at` that the record must still have; undefined for a locked record
   */
  set(organizationId: string, id: string, changes: Row, version?: unknown): Statement {
    const values = [organizationId, id, ...Object.values(changes)];
    const assignments = Object.keys(changes).map((name, index) => `${name} = $${index + 3}`);
    const isVersion = version === undefined ? '' : `and updated_at = $${values.length + 1}`;
    return {
      text: `with record as (
          update ${this.table.name} set ${assignments.join(', ')}, updated_at = ${NEXT_UPDATED_AT}
          where ${this.isRecord} ${isVersion} returning ${this.columns.jsonFromTable})
        select id, row_to_json(record)::text as json from record`,
      values: version === undefined ? values : [...values, version],
      plan: 'index',
    };
  }

  /** Sets `deleted_at` of a record. */
  delete(organizationId: string, id: string): Statement {
    return {
      text: `update ${this.table.name} set deleted_at = now() where ${this.isRecord} returning id`,
      values: [organizationId, id],
      plan: 'index',
    };
  }

  private createInsert(columns: string, references: RequiredReferences): BatchStatement<RowItem> {
    const { name } = this.table;
    const existing = Object.entries(references).map(([column, sql]) => {
      return `existing_${column} as materialized (${sql('$1', `select ${column} from input`)}),`;
    });
    const conditions = Object.keys(references).map((column) => {
      return `(${column} is null or ${column} in (select id from existing_${column}))`;
    });
    const text = (onConflict: string) => `
      with input as materialized (
          select ${columns} from json_populate_recordset(null::${name}, $2)),
        ${existing.join(' ')}
        record as (
          insert into ${name} (organization_id, ${columns})
          select $1, ${columns} from input where ${['true', ...conditions].join(' and ')}
          ${onConflict} returning ${this.columns.jsonFromTable})
      select id, row_to_json(record)::text as json from record`;
    const single = text('');
    const several = text('on conflict do nothing');
    return {
      name: `${name} insert`,
      kind: 'write',
      of: (organizationId, items) => ({
        text: items.length === 1 ? single : several,
        values: [organizationId, `[${items.map(({ json }) => json).join(',')}]`],
        plan: 'index',
      }),
    };
  }

  private get isRecord(): string {
    return isRecordSql(this.table);
  }
}

/** SQL condition of the record with the id `$2` in the organization `$1`. */
export function isRecordSql(table: TenantTable): string {
  return `organization_id = $1 and id = $2 and ${notDeletedSql(table)}`;
}

function notDeletedSql(table: TenantTable): string {
  return deletesSoftly(table) ? NOT_DELETED_BY_ID : 'true';
}

/**
 * Converts a row to an item. Its values are JSON, which PostgreSQL converts to the types of the columns.
 * @throws TypeError if a value has no JSON
 */
export function rowItemOf(row: Row & { id: string }): RowItem {
  const json = JSON.stringify(
    Object.values(row).some((value) => Buffer.isBuffer(value)) ? withHex(row) : row,
  );
  return { id: row.id.toLowerCase(), json, size: json.length };
}

/** Replaces buffers, which JSON cannot hold, by the input format of `bytea`. */
function withHex(row: Row): Row {
  const hexOf = (value: unknown) =>
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, hexOf(value)]));
}
