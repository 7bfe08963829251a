import type { BatchItem } from '../gateway/batch-queue.js';
import type { ChangeOrigin, Statement, Tenant } from '../gateway/tenant.js';
import type { BatchStatement } from '../gateway/tenant-batches.js';
import {
  CLAIM_SQL,
  type CreatedResponse,
  RESPONSE_COLUMNS,
  responseValues,
  STORE_SQL,
} from '../stored-responses.js';
import type { RecordColumns } from './record-columns.js';
import {
  type EventSql,
  eventTypeOf,
  ORIGIN_COLUMNS,
  ORIGIN_SQL,
  originColumnsOf,
} from './record-events.js';
import type { TenantTable } from './tenant-table.js';

/** Columns and values of a row. The names are SQL and must never come from a caller. */
export type Row = Readonly<Record<string, unknown>>;

/** A row to insert. */
export interface RowItem extends BatchItem {
  /** The row as JSON. */
  readonly json: string;
  readonly origin: ChangeOrigin | undefined;
  /** The response to the request with an `Idempotency-Key`, which is stored with the row. */
  readonly response?: CreatedResponse;
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

interface InsertOptions {
  readonly names: readonly string[];
  readonly references?: RequiredReferences;
  readonly onConflict?: string;
  readonly storesResponses?: boolean;
}

/** SQL that inserts rows of a table, with their events and responses. */
export class RecordInserts {
  private readonly statements = new Map<string, BatchStatement<RowItem>>();

  /** @param columns the columns of the returned records */
  constructor(
    private readonly table: TenantTable,
    private readonly columns: Pick<RecordColumns<never>, 'completeJsonFromTable'>,
    private readonly events: EventSql,
  ) {}

  /**
   * Inserts rows. Of several rows, those that a unique index rejects are left out; the rejection of a
   * single row is an error.
   * @param references always the same ones for a table
   * @param storesResponses whether all items have a response. A row is left out if another request
   *   with its idempotency key is running or was completed.
   */
  statement(
    names: readonly string[],
    references: RequiredReferences,
    storesResponses: boolean,
  ): BatchStatement<RowItem> {
    const key = `${storesResponses} ${names.join()}`;
    let statement = this.statements.get(key);
    if (!statement) {
      const options = { names, references, storesResponses };
      const single = this.text(options);
      const several = this.text({ ...options, onConflict: 'on conflict do nothing' });
      statement = {
        kind: 'write',
        retriesOmitted: true,
        of: (organizationId, items, isSingle) => ({
          text: isSingle ? single : several,
          values: valuesOf(organizationId, items),
          plan: 'index',
        }),
      };
      this.statements.set(key, statement);
    }
    return statement;
  }

  /** Inserts rows with the same columns. If a unique index rejects one of them, none is inserted. */
  insertAll(
    organizationId: string,
    names: readonly string[],
    items: readonly RowItem[],
  ): Statement {
    return { text: this.text({ names }), values: valuesOf(organizationId, items) };
  }

  private text({
    names,
    references = {},
    onConflict = '',
    storesResponses,
  }: InsertOptions): string {
    const { name } = this.table;
    const columns = names.join(', ');
    const existing = Object.entries(references).map(([column, sql]) => {
      return `existing_${column} as materialized (${sql('$1', `select ${column} from input`)})`;
    });
    const conditions = Object.keys(references).map((column) => {
      return `(${column} is null or ${column} in (select id from existing_${column}))`;
    });
    if (storesResponses) conditions.push('id in (select id from claim)');
    const event = `'${eventTypeOf(this.table, 'created')}', '{}', ${ORIGIN_SQL}`;
    const parts = [
      `input as materialized (select ${columns} from json_populate_recordset(null::${name}, $2))`,
      `request as materialized (select * from json_to_recordset($3) as request
        (id uuid, ${ORIGIN_COLUMNS}, ${RESPONSE_COLUMNS}))`,
      ...existing,
      ...(storesResponses ? [CLAIM_SQL] : []),
      `record as (
        insert into ${name} (organization_id, ${columns}) select $1, ${columns} from input
        where ${['true', ...conditions].join(' and ')} ${onConflict}
        returning ${this.columns.completeJsonFromTable})`,
      ...this.events.written(event, 'record join request using (id)'),
      ...(storesResponses ? [STORE_SQL] : []),
    ];
    return `with ${parts.join(', ')} select id, json from written`;
  }
}

/** @returns the organization, the rows and the requests */
function valuesOf(organizationId: string, items: readonly RowItem[]): unknown[] {
  const rows = `[${items.map(({ json }) => json).join(',')}]`;
  return [organizationId, rows, JSON.stringify(items.map(requestOf))];
}

function requestOf({ id, json, origin, response }: RowItem): object {
  return { id, ...originColumnsOf(origin), ...(response && responseValues(response, id, json)) };
}

/** @throws TypeError if a value has no JSON */
export function rowItemOf(row: Row & { id: string }, { origin, response }: Tenant): RowItem {
  const json = rowJsonOf(row);
  return { id: row.id.toLowerCase(), json, size: json.length, origin, response };
}

/**
 * A row as JSON, which PostgreSQL converts to the types of the columns.
 * @throws TypeError if a value has no JSON
 */
export function rowJsonOf(row: Row): string {
  const hasBuffers = Object.values(row).some((value) => Buffer.isBuffer(value));
  return JSON.stringify(hasBuffers ? withHex(row) : row);
}

/** Replaces buffers, which JSON cannot hold, by the input format of `bytea`. */
function withHex(row: Row): Row {
  const hexOf = (value: unknown) =>
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, hexOf(value)]));
}
