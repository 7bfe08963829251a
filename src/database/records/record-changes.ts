import type { BatchItem } from '../gateway/batch-queue.js';
import type { Statement } from '../gateway/tenant.js';
import type { BatchStatement } from '../gateway/tenant-batches.js';
import type { RecordColumns } from './record-columns.js';
import { type EventSql, type EventValues, ORIGIN_SQL } from './record-events.js';
import { type Row, rowJsonOf } from './record-inserts.js';
import { isRecordSql, NEXT_UPDATED_AT } from './record-sql.js';
import type { TenantTable } from './tenant-table.js';

/** A change of a record. */
export interface ChangeItem extends BatchItem {
  /** The id and the new values as JSON. */
  readonly json: string;
  /** The `updated_at` that the record must still have; undefined for a locked record. */
  readonly version?: string;
  readonly event: EventValues;
}

/** How many sets of columns have a prepared update. Updates of further sets are planned each time. */
const MAX_PREPARED_UPDATES = 100;

/** SQL that changes rows of a table by their ids, with their events. It returns the changed records. */
export class RecordChanges {
  /** Sets `deleted_at`. */
  readonly delete: BatchStatement<ChangeItem>;
  private readonly updates = new Map<string, BatchStatement<ChangeItem>>();

  /** @param columns the columns of the returned records */
  constructor(
    private readonly table: TenantTable,
    private readonly columns: Pick<RecordColumns<never>, 'completeJsonFromTable'>,
    private readonly events: EventSql,
  ) {
    this.delete = this.statement('delete', [], 'deleted_at = now()', 'index');
  }

  /**
   * Sets columns of records that still have the version of the item.
   * @param names the columns
   */
  update(names: readonly string[]): BatchStatement<ChangeItem> {
    const key = names.join();
    let statement = this.updates.get(key);
    if (!statement) {
      const isPrepared = this.updates.size < MAX_PREPARED_UPDATES;
      const values = names.map((name) => `${name} = "new ${name}"`);
      const assignments = [...values, `updated_at = ${NEXT_UPDATED_AT}`].join(', ');
      statement = this.statement('update', names, assignments, isPrepared ? 'index' : 'custom');
      if (isPrepared) this.updates.set(key, statement);
    }
    return statement;
  }

  /**
   * One execution changes one record, so that PostgreSQL finds it with the primary key in organizations of
   * any size. The names of the new values contain spaces, so that they differ from all columns.
   */
  private statement(
    name: string,
    names: readonly string[],
    assignments: string,
    plan: Statement['plan'],
  ): BatchStatement<ChangeItem> {
    const { name: table } = this.table;
    const newValues = names.map((column) => `${column} as "new ${column}"`).join(', ');
    const event = `request.type, request.changed, ${ORIGIN_SQL}`;
    const text = `with request as (
        select $2::uuid as id, $5::text as type, $6::text[] as changed,
           $7::text as key_id, $8::text as channel, $9::text as request_id),
      input as (select ${newValues} from json_populate_record(null::${table}, $3::json)),
      record as (
        update ${table} set ${assignments} ${names.length > 0 ? 'from input' : ''}
        where ${isRecordSql(this.table)} and ($4::timestamptz is null or updated_at = $4)
        returning ${this.columns.completeJsonFromTable}),
      ${this.events.written(event, 'record join request using (id)').join(', ')}
      select id, json from written`;
    return {
      name: `${table} ${name}`,
      kind: 'write',
      retriesOmitted: false,
      of: (organizationId, items) => {
        // One order for all batches prevents deadlocks.
        const ordered = [...items].sort((one, other) => (one.id < other.id ? -1 : 1));
        const executions = ordered.map((item) => valuesOf(organizationId, item));
        // The repeats are executed first.
        const values = executions.at(-1) ?? [];
        return { text, values, repeats: executions.slice(0, -1), plan };
      },
    };
  }
}

function valuesOf(
  organizationId: string,
  { id, json, version, event }: ChangeItem,
): (string | null)[] {
  const { type, changed, origin } = event;
  // Names of fields need no quotes in the literal of an array.
  const names = `{${changed.join()}}`;
  const origins = [origin?.keyId ?? null, origin?.channel ?? null, origin?.requestId ?? null];
  return [organizationId, id, json, version ?? null, type, names, ...origins];
}

/** @param changes the new values of columns, none for a deletion */
export function changeItemOf(
  id: string,
  changes: Row,
  event: EventValues,
  version?: Date,
): ChangeItem {
  const json = rowJsonOf({ ...changes, id });
  return { id: id.toLowerCase(), json, size: json.length, version: version?.toJSON(), event };
}
