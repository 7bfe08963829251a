import type { Type } from '@nestjs/common';
import { Column, type ColumnOptions, DeleteDateColumn, Entity, ForeignKey } from 'typeorm';
import { fieldsOf } from '../../fields/field.js';
import { columnOf } from './field-column.js';
import type { EventSql } from './event-outbox.js';
import type { CountedTable } from './record-counts.js';

/** A column with the id of a record of another entity. */
export interface RecordReference {
  readonly entity: () => Type<object>;
  /** What happens to this record when a purge removes the referenced one. */
  readonly onDelete: 'cascade' | 'set null';
}

export interface TenantEntityOptions {
  /** Whether deleted records stay, with a `deleted_at`, until a purge. Default: true. */
  readonly softDelete?: boolean;
  /**
   * Columns by whose values triggers count records, in addition to the total. Lists that filter by one of them
   * have an exact total without a scan. Without this option, nothing is counted.
   */
  readonly counted?: readonly string[];
  /** Columns with ids of records, such as `lead_id`. */
  readonly references?: Readonly<Record<string, RecordReference>>;
  /** A column with the id of a record of any table. A purge of that record removes this one as well. */
  readonly about?: string;
  /**
   * SQL of what is set in records about an erased record, for a table with `about`. Without it, they are removed. It must
   * never come from a caller.
   */
  readonly erased?: string;
  /** The column of the default order of lists. Default: `created_at`. */
  readonly order?: string;
  /** Other columns by which lists can be ordered. Each needs an index. */
  readonly sorts?: readonly string[];
  /**
   * Whether the table `<name>_update_times` has the `updated_at` of each record that is not deleted, kept by triggers of a
   * migration. Lists are then sorted and filtered by it without an index on `updated_at`, which each update would write.
   */
  readonly updateTimes?: boolean;
  /** The events that changes of records write. Without this option, they write none. */
  readonly events?: TableEvents;
}

/** The events of a table's records: `created`, `updated`, `deleted` and others. */
export interface TableEvents {
  /** What the types begin with: `task` for `task.created`. */
  readonly name: string;
  /**
   * Types in place of `updated`, by the values that an update gives to fields: with
   * `{ completed: { status: 'completed' } }`, the update that completes a task writes `task.completed`. `ANY_VALUE` stands
   * for all values but null.
   */
  readonly transitions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Events that no change writes, but a moment: with `{ overdue: … }`, a task writes `task.overdue` when it is due. */
  readonly scheduled?: Readonly<Record<string, ScheduledEvent>>;
  /** The changes that write an event. Default: `created`, `updated`, the transitions, and `deleted` with soft deletion. */
  readonly changes?: readonly string[];
  /** The scope of keys that read the events. Default: that of the table's name, such as `tasks:read`. */
  readonly scope?: string;
}

/**
 * An event that a record writes when its moment comes. Triggers of the table keep the moments of the future in
 * `scheduled_events`.
 */
export interface ScheduledEvent {
  /** SQL condition of a record whose event is still due at the moment `due_at`. It must never come from a caller. */
  readonly isDue: string;
  /** SQL of what the event says in addition, by the column of the outbox. */
  readonly values?: Readonly<Partial<Pick<EventSql, 'contactable' | 'remind_before_minutes'>>>;
}

/** The column of soft deletion. The event of a restore names it as changed. */
export const DELETED_AT = 'deleted_at';

/** In `transitions`: any value but null. */
export const ANY_VALUE = Symbol('any value');

/** The table of an entity, as repositories, lists, purges, events and migrations read it. */
export interface TenantTable
  extends
    Pick<TenantEntityOptions, 'counted' | 'about' | 'erased' | 'updateTimes' | 'events'>,
    Required<Pick<TenantEntityOptions, 'references' | 'order'>> {
  readonly name: string;
  /** SQL condition of records that are not deleted. */
  readonly notDeleted: CountedTable['notDeleted'];
  /** All columns by which lists are ordered. */
  readonly sorts: readonly string[];
}

const IDENTIFIER = /^[a-z][a-z0-9_]{0,39}$/;

const TABLES = new WeakMap<Type<object>, TenantTable>();
const TABLES_BY_NAME = new Map<string, TenantTable>();

/**
 * Declares a class as an entity of TypeORM whose records belong to organizations. Its columns are the fields of the
 * class, `organization_id`, `deleted_at` for soft deletion, and those that the class declares with `@Column()`. The
 * names are SQL and must never come from a caller.
 * @throws Error if a name is not a lower-case SQL identifier of at most 40 characters
 */
export function TenantEntity(name: string, options: TenantEntityOptions = {}) {
  const table = tenantTable(name, options);
  return (entity: Type<object>): void => {
    TABLES.set(entity, table);
    TABLES_BY_NAME.set(name, table);
    Entity(name)(entity);
    const prototype = entity.prototype as object;
    for (const [column, columnOptions] of Object.entries(columnsOf(entity))) {
      Column(columnOptions)(prototype, column);
    }
    if (deletesSoftly(table)) DeleteDateColumn(DELETION_TIME)(prototype, DELETED_AT);
    for (const [column, { entity: target, onDelete }] of Object.entries(table.references)) {
      const action = onDelete === 'cascade' ? 'CASCADE' : 'SET NULL';
      const columns = ['organization_id', column] as const;
      ForeignKey(target, columns, ['organization_id', 'id'], { onDelete: action })(entity);
    }
  };
}

/** Hidden columns are selected by name only, so that records in responses do not have them. */
const HIDDEN = { select: false } as const;

const DELETION_TIME: ColumnOptions = { type: 'timestamp with time zone', precision: 3, ...HIDDEN };

function columnsOf(entity: Type<object>): Record<string, ColumnOptions> {
  const fields = fieldsOf(entity).map((field) => [field.name, columnOf(field)] as const);
  const columns: Record<string, ColumnOptions> = Object.fromEntries(fields);
  const key: ColumnOptions = { type: 'uuid', primary: true };
  const organization = columns.organization_id ? key : { ...key, ...HIDDEN };
  return { ...columns, organization_id: organization, id: key };
}

/**
 * The table of an entity.
 * @throws Error if the class is not declared with `@TenantEntity()`
 */
export function tableOf(entity: Type<object>): TenantTable {
  const table = TABLES.get(entity);
  if (!table) throw new Error(`The class ${entity.name} needs @TenantEntity().`);
  return table;
}

/**
 * The table with a name.
 * @throws Error if no entity that was loaded has it
 */
export function tableNamed(name: string): TenantTable {
  const table = TABLES_BY_NAME.get(name);
  if (!table) throw new Error(`No class has @TenantEntity('${name}').`);
  return table;
}

function tenantTable(
  name: string,
  {
    softDelete = true,
    references = {},
    order = 'created_at',
    sorts = [],
    ...others
  }: TenantEntityOptions,
): TenantTable {
  const { counted = [], about = [], events } = others;
  const { transitions = {}, scheduled = {} } = events ?? {};
  const types = events ? [events.name, ...Object.keys({ ...transitions, ...scheduled })] : [];
  const columns = [...counted, ...Object.keys(references), order, ...sorts, about].flat();
  const invalid = [name, ...columns, ...types].find((identifier) => !IDENTIFIER.test(identifier));
  if (invalid !== undefined) {
    throw new Error(
      `@TenantEntity('${name}'): ${invalid} is not a valid name: use at most 40 lower-case letters, digits and underscores, beginning with a letter`,
    );
  }
  const notDeleted = softDelete ? 'deleted_at is null' : 'true';
  return { name, notDeleted, references, order, sorts: [...new Set([order, ...sorts])], ...others };
}

/** The table with the times of the last changes of a table's records that are not deleted, if there is one. */
export function updateTimesOf({ name, updateTimes }: TenantTable): string | undefined {
  return updateTimes ? `${name}_update_times` : undefined;
}

/** Whether deleted records stay in the table until a purge removes them. */
export function deletesSoftly({ notDeleted }: Pick<TenantTable, 'notDeleted'>): boolean {
  return notDeleted !== 'true';
}

/** The type of an event, such as `lead.updated`. Statements for a table without events ignore it. */
export function eventTypeOf({ events }: TenantTable, change: string): string {
  return `${events?.name}.${change}`;
}

/** The types of the events of a table's records. */
export function eventTypesOf(table: TenantTable): readonly string[] {
  const { events } = table;
  if (!events) return [];
  const { transitions = {}, scheduled = {} } = events;
  const deletion = deletesSoftly(table) ? ['deleted'] : [];
  const all = ['created', 'updated', ...Object.keys(transitions), ...deletion];
  const changes = [...(events.changes ?? all), ...Object.keys(scheduled)];
  return changes.map((change) => eventTypeOf(table, change));
}
