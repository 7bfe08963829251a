import type { BatchItem } from '../gateway/batch-queue.js';
import type { Statement } from '../gateway/tenant.js';
import type { BatchStatement } from '../gateway/tenant-batches.js';
import type { RecordColumns } from './record-columns.js';
import { RecordChanges } from './record-changes.js';
import { EventSql, type EventValues } from './record-events.js';
import { RecordInserts } from './record-inserts.js';
import { isRecordSql, NEXT_UPDATED_AT, ONE_BY_ONE } from './record-sql.js';
import type { TenantTable } from './tenant-table.js';

/** A record as JSON, written by PostgreSQL. */
export interface JsonRow {
  readonly id: string;
  readonly json: string;
}

/** SQL of single records of a table, for several records of one organization at once. */
export class RecordStatements {
  readonly find: BatchStatement<BatchItem>;
  readonly inserts: RecordInserts;
  readonly changes: RecordChanges;
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
    this.changes = new RecordChanges(table, columns, this.events);
    const recordOf = (id: string) =>
      `(select ${columns.jsonFromTable} from ${name} where ${isRecordSql(table, id)} ${ONE_BY_ONE}) record`;
    const single = `select id, row_to_json(record)::text as json from ${recordOf('$2')}`;
    const several = `select id, row_to_json(record)::text as json from unnest($2::uuid[]) "wanted id"
      cross join lateral ${recordOf('"wanted id"')}`;
    this.find = {
      kind: 'read',
      retriesOmitted: false,
      of: (organizationId, items) => {
        const ids = [...new Set(items.map(({ id }) => id))];
        return ids.length === 1
          ? { text: single, values: [organizationId, ...ids], plan: 'index' }
          : { text: several, values: [organizationId, ids], plan: 'index' };
      },
    };
  }

  /** Reads and locks a record. */
  lock(organizationId: string, id: string): Statement {
    return {
      text: `select id, row_to_json(record)::text as json from (
        select ${this.columns.jsonFromTable} from ${this.table.name}
        where ${isRecordSql(this.table)} for update) record`,
      values: [organizationId, id],
    };
  }

  /** Sets a reference to null in the records that are not deleted, and writes their events. */
  clearReference(
    organizationId: string,
    column: string,
    ids: readonly string[],
    event: EventValues,
  ): Statement {
    const { name, notDeleted } = this.table;
    const { type, changed, origin } = event;
    const values = [organizationId, ids];
    const eventValues = [type, changed, origin?.keyId, origin?.channel, origin?.requestId];
    return {
      text: `with record as (
          update ${name} set ${column} = null, updated_at = ${NEXT_UPDATED_AT}
          where organization_id = $1 and ${column} = any($2) and ${notDeleted}
          returning ${this.columns.completeJsonFromTable}),
        ${this.events.written('$3, $4, $5, $6, $7').join(', ')}
        select id, json from written`,
      values: this.table.events ? [...values, ...eventValues] : values,
      plan: 'index',
    };
  }
}
