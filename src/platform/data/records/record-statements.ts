import type { TenantCall } from '../call.js';
import type { Statement } from '../gateway/statement.js';
import { type EventSql, insertEvents } from './event-outbox.js';
import type { IdempotentInsertSql } from './idempotent-insert.js';
import type { RecordColumns } from './stored-record.js';
import {
  columnSql,
  IS_DELETED_RECORD,
  isRecordSql,
  NEXT_UPDATED_AT,
  ONE_BY_ONE,
} from './record-sql.js';
import { eventTypeOf, type TenantTable } from './tenant-entity.js';

/** Columns and values of a row. The names are SQL and must never come from a caller. */
export type Row = Readonly<Record<string, unknown>>;

/** A record as JSON, written by PostgreSQL. */
export interface JsonRow {
  readonly id: string;
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

export interface InsertOptions {
  readonly references?: RequiredReferences;
  /** Whether a row that a unique index rejects is left out, and not an error. */
  readonly omitsDuplicates?: boolean;
  /** A row is left out if another request with its idempotency key is running or was completed. */
  readonly once?: IdempotentInsertSql | undefined;
}

/** The SQL of a statement, and how it is planned. */
export type PlannedSql = Pick<Statement, 'text' | 'plan'>;

/** How many statements are kept. Updates of further sets of columns are planned each time. */
const MAX_PREPARED = 100;

/** The parts of a statement that changes records. */
interface ChangeSql {
  /** The columns that get new values. */
  readonly names?: readonly string[];
  readonly assignments: string;
  /** Columns that are read from the stored record, which the other parts can use. */
  readonly stored?: string;
  /** SQL condition of the records. Default: those that are not deleted. */
  readonly isRecord?: string;
  /** An additional condition, which begins with `and`. */
  readonly condition?: string;
  /** The type of the event. */
  readonly type?: string;
  /** The changed fields of the event. */
  readonly changed?: string;
  /** Columns that only the record of the event has. */
  readonly shown?: readonly string[];
}

/**
 * The ids in the JSON array `$2`. They are converted in a subquery of their own: under row-level security, PostgreSQL 15.20
 * does not use a conversion in the subquery of the record for an index.
 */
const WANTED_IDS = `(select id::uuid as wanted_id from jsonb_array_elements_text($2) id ${ONE_BY_ONE}) wanted`;

/** What an event says about a change. */
type ChangeEventSql = Omit<EventSql, 'organization_id' | 'record_id' | 'record' | 'origin'>;

/** The origin of an event, as columns of `request`. */
const ORIGIN_COLUMNS =
  'key_id text, channel text, request_id text, grant_id text, client_id text, traceparent text';

/** The items of a change: the record, the version that it must have, the event, and the new values. */
const CHANGES = `select * from json_to_recordset($2) as request
    (id uuid, version timestamptz, type text, changed text[], ${ORIGIN_COLUMNS}, "values" json)`;

/**
 * The SQL of single records of a table. Each statement returns the records as JSON and writes their events. The
 * organization is `$1`.
 */
export class RecordStatements {
  /** Reads the records with the ids in the JSON array `$2`, each by the primary key. */
  readonly find: string;
  /** Reads and locks the record with the id `$2`. */
  readonly lock: string;
  /** Reads and locks the record with the id `$2`, deleted or not, and tells whether it is deleted. */
  readonly lockAny: string;
  /** Reads and locks the records with the ids in the array `$2`, in their order. */
  readonly lockMany: string;
  /** The SQL of statements, by their kind and columns. */
  private readonly texts = new Map<string, string>();

  /**
   * @param columns the columns of the returned records
   * @param instance the number of this instance of Latitude, for the events
   */
  constructor(
    private readonly table: TenantTable,
    private readonly columns: Omit<RecordColumns<never>, 'parser'>,
    private readonly instance: number,
  ) {
    const record = (id?: string) =>
      `select ${columns.jsonFromTable} from ${table.name} where ${isRecordSql(table, id)}`;
    const json = 'select record.id, row_to_json(record)::text as json';
    this.find = `${json} from ${WANTED_IDS}, lateral (${record('wanted_id')} ${ONE_BY_ONE}) record`;
    this.lock = `${json} from (${record()} for update) record`;
    this.lockMany = `${json} from (${record('any($2::uuid[])')} order by id for update) record`;
  }

  /**
   * Inserts rows: `$2` is a JSON array of rows, and `$3` one of the requests that insert them.
   * @param names the columns
   * @param options with the same references at each call
   */
  insert(
    names: readonly string[],
    { references = {}, omitsDuplicates = false, once }: InsertOptions = {},
  ): string {
    const key = `insert ${omitsDuplicates} ${once !== undefined} ${names.join()}`;
    return this.planned(key, () => {
      const { name } = this.table;
      const columns = names.map(columnSql).join(', ');
      const existing = Object.entries(references).map(([column, sql]) => {
        return `existing_${column} as materialized (${sql('$1', `select ${column} from input`)})`;
      });
      const conditions = Object.keys(references).map((column) => {
        return `(${column} is null or ${column} in (select id from existing_${column}))`;
      });
      if (once) conditions.push('id in (select id from claim)');
      const parts = [
        `input as materialized (select ${columns} from json_populate_recordset(null::${name}, $2))`,
        `request as materialized (select * from json_to_recordset($3) as request
          (id uuid, ${ORIGIN_COLUMNS}${once ? `, ${once.columns}` : ''}))`,
        ...existing,
        ...(once ? [once.claim] : []),
        `record as (
          insert into ${name} (organization_id, ${columns}) select $1, ${columns} from input
          where ${['true', ...conditions].join(' and ')} ${omitsDuplicates ? 'on conflict do nothing' : ''}
          returning ${this.columns.jsonFromTable})`,
        ...this.written(
          { type: `'${eventTypeOf(this.table, 'created')}'`, changed: `'{}'`, ...ORIGIN },
          'record join request using (id)',
        ),
        ...(once ? [once.store] : []),
      ];
      return `with ${parts.join(', ')} select id, json from written`;
    }).text;
  }

  /**
   * Sets columns of records that still have their versions. `$2` is a JSON array of changes, in the order of the ids.
   * @param names the columns
   */
  update(names: readonly string[]): PlannedSql {
    return this.planned(`update ${names.join()}`, () =>
      this.change({ names, assignments: assignmentsOf(names) }),
    );
  }

  /**
   * Like `update`, and finds out which columns get another value. It does not change a record that has all values
   * already, or that another transaction changes at the same time.
   *
   * An event has its type only if all its changed fields have changed, otherwise `updated`.
   * @param names the columns
   * @param touches whether it also sets `updated_at` of a record that has all values already
   * @param unless a column that must be null
   */
  set(names: readonly string[], touches: boolean, unless?: string): PlannedSql {
    return this.planned(`set ${touches} ${unless} ${names.join()}`, () => {
      const differences = names.map(
        (name) =>
          `case when row(${columnSql(name)})::record *<> row("new ${name}")::record then '${name}' end`,
      );
      return this.change({
        names,
        assignments: assignmentsOf(names),
        stored: `array_remove(array[${differences.join(', ')}]::text[], null) as "changed names"`,
        condition: [
          touches ? '' : `and "changed names" <> '{}'`,
          unless === undefined ? '' : `and ${unless} is null`,
        ].join(' '),
        type: `case when request.changed <@ "changed names" then request.type
          else '${eventTypeOf(this.table, 'updated')}' end`,
        changed: '"changed names"',
      });
    });
  }

  /**
   * Like `update`, and sets `deleted_at`.
   * @param names further columns to set, which the record of the event has as well
   */
  deletion(names: readonly string[]): string {
    const values = ['deleted_at = now()', ...names.map((name) => `${name} = "new ${name}"`)];
    const assignments = values.join(', ');
    const build = () => this.change({ names, assignments, shown: names });
    return this.planned(`delete ${names.join()}`, build).text;
  }

  /** Reads the deleted record with the id `$2`. */
  get findDeleted(): string {
    const { jsonFromTable } = this.columns;
    return `select record.id, row_to_json(record)::text as json from (
      select ${jsonFromTable} from ${this.table.name} where ${IS_DELETED_RECORD}) record`;
  }

  /**
   * Like `update`, and clears `deleted_at`. The caller has locked the records.
   * @param names further columns to set
   */
  restoration(names: readonly string[]): PlannedSql {
    const assignments = `deleted_at = null, ${assignmentsOf(names)}`;
    const isRecord = 'organization_id = $1 and id = "record id"';
    return this.planned(`restore ${names.join()}`, () =>
      this.change({ names, assignments, isRecord }),
    );
  }

  /** Builds a statement once. Only a limited number of updates is prepared. */
  private planned(key: string, build: () => string): PlannedSql {
    const known = this.texts.get(key);
    const text = known ?? build();
    const isPrepared = known !== undefined || this.texts.size < MAX_PREPARED;
    if (isPrepared) this.texts.set(key, text);
    return { text, plan: isPrepared ? 'index' : 'custom' };
  }

  /**
   * Sets a reference to `$3` in the records that refer to one of the ids `$2`. It locks them in the order of their ids.
   * `$4` to `$11` are the type, the changed fields and the origin of the event, if the table has events.
   */
  setReference(column: string): string {
    const { name, notDeleted } = this.table;
    return `with record as (
        update ${name} set ${column} = $3::uuid, updated_at = ${NEXT_UPDATED_AT}
        where organization_id = $1 and id = any(array(
          select id from ${name} where organization_id = $1 and ${column} = any($2) and ${notDeleted}
          order by id for update))
        returning ${this.columns.jsonFromTable}),
      ${this.written(GIVEN_EVENT).join(', ')}
      select id, json from written`;
  }

  /**
   * Changes records, each of which is looked up once, and thus in the order of the changes. The names of the new values
   * contain spaces, so that they differ from all columns.
   */
  private change({
    names = [],
    assignments,
    stored,
    isRecord = isRecordSql(this.table, '"record id"'),
    condition = '',
    type = 'request.type',
    changed = 'request.changed',
    shown = [],
  }: ChangeSql): string {
    const { name: table } = this.table;
    const newValues = names.map((column) => `new.${column} as "new ${column}"`);
    const input = [
      'request.id as "record id"',
      'request.version as "record version"',
      ...newValues,
    ];
    const hasVersion = '("record version" is null or updated_at = "record version")';
    // The second look at a record is by its place. Another transaction has not changed it if it has the same version.
    const found = `select ctid as "record place", updated_at as "stored updated_at", ${stored}
      from ${table} where ${isRecord} and ${hasVersion} ${ONE_BY_ONE}`;
    const isFound = `organization_id = $1 and id = "record id" and ctid = "record place"
      and updated_at = "stored updated_at"`;
    const parts = [
      `request as materialized (${CHANGES})`,
      `input as materialized (select ${input.join(', ')}
        from request, json_populate_record(null::${table}, request.values) new)`,
      ...(stored ? [`stored as materialized (select * from input, lateral (${found}) found)`] : []),
      `record as (
        update ${table} set ${assignments} from ${stored ? 'stored' : 'input'}
        where ${stored ? isFound : `${isRecord} and ${hasVersion}`} ${condition}
        returning ${[this.columns.jsonFromTable, ...shown].join(', ')})`,
      ...this.written(
        { type, changed, ...ORIGIN },
        `record join request using (id) ${stored ? 'join stored on "record id" = id' : ''}`,
        shown,
      ),
    ];
    return `with ${parts.join(', ')} select id, json from written`;
  }

  /**
   * The CTE `written`, with the id and the JSON of the rows of `record`, and the CTE that writes their events. One CTE
   * is both if the records have no computed fields, which those of events never have: the insert into the outbox then
   * returns the records that it stores, so that PostgreSQL converts each to JSON once.
   * @param event what differs between the statements
   * @param from `record`, and what `event` refers to
   * @param more columns that the records of these events have in addition
   */
  private written(event: ChangeEventSql, from = 'record', more: readonly string[] = []): string[] {
    const written = 'written as (select id, row_to_json(record)::text as json from record)';
    if (!this.table.events) return [written];
    const { hasComputed, storedNames } = this.columns;
    const stored = `select ${[...storedNames, ...more].map((name) => `record.${name}`).join(', ')}`;
    const json = hasComputed
      ? `(select row_to_json(stored) from (${stored}) stored)`
      : 'row_to_json(record)';
    const record = { organization_id: '$1', record_id: 'record.id', record: json };
    const insert = insertEvents({ ...record, ...event, origin: String(this.instance) }, from);
    return hasComputed
      ? [`event as (${insert})`, written]
      : [`written as (${insert} returning record_id as id, record::text as json)`];
  }
}

/** Who changed a record. Qualified, because the table can have columns with the same names. */
const ORIGIN = {
  key_id: 'request.key_id',
  channel: 'request.channel',
  request_id: 'request.request_id',
  grant_id: 'request.grant_id',
  client_id: 'request.client_id',
  traceparent: 'request.traceparent',
};

/** The event of a statement that has its values as parameters. */
const GIVEN_EVENT = {
  ...{ type: '$4', changed: '$5', key_id: '$6', channel: '$7' },
  ...{ request_id: '$8', grant_id: '$9', client_id: '$10', traceparent: '$11' },
};

function assignmentsOf(names: readonly string[]): string {
  const values = names.map((name) => `${columnSql(name)} = "new ${name}"`);
  return [...values, `updated_at = ${NEXT_UPDATED_AT}`].join(', ');
}

/** Who changes a record, for its event. Jobs and commands have no request, and only imports have a channel then. */
export function originOf({ actor, requestId, traceparent }: TenantCall) {
  const isRequest = requestId !== undefined;
  return {
    key_id: isRequest ? actor?.key.id : undefined,
    channel: isRequest || actor?.channel === 'import' ? actor?.channel : undefined,
    request_id: requestId,
    grant_id: isRequest ? actor?.key.grant?.id : undefined,
    client_id: isRequest ? actor?.key.grant?.clientId : undefined,
    traceparent,
  };
}

/**
 * A row as JSON, which PostgreSQL converts to the types of the columns.
 * @throws TypeError if a value has no JSON
 */
export function rowJsonOf(row: Row): string {
  if (!Object.values(row).some((value) => Buffer.isBuffer(value))) return JSON.stringify(row);
  const entries = Object.entries(row).map(([name, value]) => {
    // JSON cannot hold buffers. PostgreSQL reads `bytea` in hexadecimal digits.
    return [name, Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value];
  });
  return JSON.stringify(Object.fromEntries(entries));
}
