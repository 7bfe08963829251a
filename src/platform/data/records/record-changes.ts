import type { BatchItem } from '../gateway/batch-queue.js';
import type { Statement } from '../gateway/tenant.js';
import type { BatchStatement } from '../gateway/tenant-batches.js';
import type { RecordColumns } from './record-columns.js';
import { type EventSql, eventTypeOf, type EventValues, ORIGIN_SQL } from './record-events.js';
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

/** The parts of a statement that changes a record. */
interface ChangeSql {
  /** The columns that get new values. */
  readonly names?: readonly string[];
  readonly assignments: string;
  /** Query of one row about the stored record, whose columns the other parts can use. */
  readonly stored?: string;
  /** An additional condition, which begins with `and`. */
  readonly condition?: string;
  /** The type of the event. */
  readonly type?: string;
  /** The changed fields of the event. */
  readonly changed?: string;
  readonly plan?: Statement['plan'];
}

/** How many sets of columns have a prepared update. Updates of other sets are planned each time. */
const MAX_PREPARED_UPDATES = 100;

/** SQL that changes rows of a table by their ids, with their events. It returns the changed records. */
export class RecordChanges {
  /** Sets `deleted_at`. */
  readonly delete: BatchStatement<ChangeItem>;
  /** Prepared statements, by the kind of update and the columns it sets. */
  private readonly updates = new Map<string, BatchStatement<ChangeItem>>();

  /** @param columns the columns of the returned records */
  constructor(
    private readonly table: TenantTable,
    private readonly columns: Pick<RecordColumns<never>, 'completeJsonFromTable'>,
    private readonly events: EventSql,
  ) {
    this.delete = this.statement({ assignments: 'deleted_at = now()' });
  }

  /**
   * Sets columns of records that still have the version of the item.
   * @param names the columns
   */
  update(names: readonly string[]): BatchStatement<ChangeItem> {
    return this.prepared(`update ${names.join()}`, names, {});
  }

  /**
   * Sets columns of records, and finds out which of them get another value. It changes no record that already has
   * all values, or that another transaction changes at the same time.
   *
   * The event of an item has its type only if all its changed fields have changed, otherwise `updated`.
   * @param names the columns
   * @param touches whether it also sets `updated_at` of records that already have all values
   */
  set(names: readonly string[], touches: boolean): BatchStatement<ChangeItem> {
    const differences = names.map(
      (name) => `case when row(${name})::record *<> row("new ${name}")::record then '${name}' end`,
    );
    return this.prepared(`set ${touches} ${names.join()}`, names, {
      stored: `select updated_at as "stored updated_at",
          array_remove(array[${differences.join(', ')}]::text[], null) as "changed names"
        from ${this.table.name}, input where ${isRecordSql(this.table)}`,
      condition: `and updated_at = "stored updated_at" ${touches ? '' : `and "changed names" <> '{}'`}`,
      type: `case when request.changed <@ "changed names" then request.type
        else '${eventTypeOf(this.table, 'updated')}' end`,
      changed: '"changed names"',
    });
  }

  /** A statement that sets columns and `updated_at`, of which a limited number is prepared. */
  private prepared(
    key: string,
    names: readonly string[],
    options: Omit<ChangeSql, 'assignments'>,
  ): BatchStatement<ChangeItem> {
    const known = this.updates.get(key);
    if (known) return known;
    const values = names.map((name) => `${name} = "new ${name}"`);
    const assignments = [...values, `updated_at = ${NEXT_UPDATED_AT}`].join(', ');
    const isPrepared = this.updates.size < MAX_PREPARED_UPDATES;
    const plan = isPrepared ? 'index' : 'custom';
    const statement = this.statement({ names, assignments, plan, ...options });
    if (isPrepared) this.updates.set(key, statement);
    return statement;
  }

  /**
   * One execution changes one record, so that PostgreSQL finds it with the primary key in organizations of
   * any size. The names of the new values contain spaces, so that they differ from all columns.
   */
  private statement({
    names = [],
    assignments,
    stored,
    condition = '',
    type = 'request.type',
    changed = 'request.changed',
    plan = 'index',
  }: ChangeSql): BatchStatement<ChangeItem> {
    const { name: table } = this.table;
    const newValues = names.map((column) => `${column} as "new ${column}"`).join(', ');
    const event = `${type}, ${changed}, ${ORIGIN_SQL}`;
    const sources = [...(names.length > 0 ? ['input'] : []), ...(stored ? ['stored'] : [])];
    const events = this.events.written(
      event,
      `record join request using (id) ${stored ? 'cross join stored' : ''}`,
    );
    const text = `with request as (
        select $2::uuid as id, $5::text as type, $6::text[] as changed,
           $7::text as key_id, $8::text as channel, $9::text as request_id),
      input as (select ${newValues} from json_populate_record(null::${table}, $3::json)),
      ${stored ? `stored as (${stored}),` : ''}
      record as (
        update ${table} set ${assignments} ${sources.length > 0 ? `from ${sources.join(', ')}` : ''}
        where ${isRecordSql(this.table)} and ($4::timestamptz is null or updated_at = $4) ${condition}
        returning ${this.columns.completeJsonFromTable}),
      ${events.join(', ')}
      select id, json from written`;
    return {
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
