import type { BatchItem } from '../gateway/batch-queue.js';
import type { Statement } from '../gateway/tenant.js';
import type { BatchStatement } from '../gateway/tenant-batches.js';
import type { RecordColumns } from './record-columns.js';
import { EventSql, type EventValues } from './record-events.js';
import { RecordInserts, type Row } from './record-inserts.js';
import { deletesSoftly, type TenantTable } from './tenant-table.js';

/** A record as JSON, written by PostgreSQL. */
export interface JsonRow {
  readonly id: string;
  readonly json: string;
}

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
  readonly inserts: RecordInserts;
  private readonly events: EventSql;

  /**
   * @param columns the columns of the returned records
   * @param instance the number of this instance of Latitude, for the events
   */
  constructor(
    private readonly table: TenantTable,
    private readonly columns: Omit<RecordColumns<never>, 'parser'>,
    instance: number,
  ) {
    const { name } = table;
    this.events = new EventSql(table, columns, instance);
    this.inserts = new RecordInserts(table, columns, this.events);
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
   * Sets columns of a record, and writes its event.
   * @param version the `updated_at` that the record must still have; undefined for a locked record
   */
  set(
    organizationId: string,
    id: string,
    changes: Row,
    event: EventValues,
    version?: unknown,
  ): Statement {
    const names = Object.keys(changes);
    const values = [organizationId, id, ...Object.values(changes)];
    const assignments = names.map((name, index) => `${name} = $${index + 3}`);
    let isVersion = '';
    if (version !== undefined) isVersion = `and updated_at = $${values.push(version)}`;
    const update = `update ${this.table.name}
      set ${assignments.join(', ')}, updated_at = ${NEXT_UPDATED_AT}
      where ${this.isRecord} ${isVersion}`;
    return this.change(update, values, event);
  }

  /** Sets `deleted_at` of a record, and writes its event. */
  delete(organizationId: string, id: string, event: EventValues): Statement {
    const update = `update ${this.table.name} set deleted_at = now() where ${this.isRecord}`;
    return this.change(update, [organizationId, id], event);
  }

  /** Sets a reference to null in the records that are not deleted, and writes their events. */
  clearReference(
    organizationId: string,
    column: string,
    ids: readonly string[],
    event: EventValues,
  ): Statement {
    const { name, notDeleted } = this.table;
    const update = `update ${name} set ${column} = null, updated_at = ${NEXT_UPDATED_AT}
      where organization_id = $1 and ${column} = any($2) and ${notDeleted}`;
    return this.change(update, [organizationId, ids], event);
  }

  /** Changes records, and writes their events. */
  private change(update: string, values: readonly unknown[], event: EventValues): Statement {
    const { type, changed, origin } = event;
    const parameters = [1, 2, 3, 4, 5].map((n) => `$${values.length + n}`).join(', ');
    const written = this.events.written(parameters);
    const record = `record as (${update} returning ${this.columns.completeJsonFromTable})`;
    const eventValues = [type, changed, origin?.keyId, origin?.channel, origin?.requestId];
    return {
      text: `with ${[record, ...written].join(', ')} select id, json from written`,
      values: this.table.events ? [...values, ...eventValues] : values,
      plan: 'index',
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
