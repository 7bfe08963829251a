import type { Type } from '@nestjs/common';
import { type Field, fieldsOf } from '../../fields/field.js';

/** The kinds of fields, which decide what a condition can be. `json` is a custom field without a definition. */
export type FilterKind =
  | 'text'
  | 'email'
  | 'phone'
  | 'uuid'
  | 'one_of'
  | 'flag'
  | 'number'
  | 'time'
  | 'date'
  | 'tags'
  | 'options'
  | 'numbers'
  | 'object'
  | 'json';

/** A field of a record that a filter can name. */
export interface FilterField {
  /** As filters name it, such as `city` or `custom_fields.roof_age`. */
  readonly name: string;
  readonly kind: FilterKind;
  /** Its column, of e-mails and phones that of the value as it was given; of a custom field, that of all of them. */
  readonly column: string;
  /** The column of the normal form of an e-mail or a phone. */
  readonly comparedColumn?: string;
  /** The key of a custom field. */
  readonly key?: string;
  /** Whether it takes `contains` and `starts_with`. */
  readonly isSearchable?: boolean;
  /** All values of `one_of` and `options`. */
  readonly values?: readonly string[];
  /** The id of the definition of a custom field whose values have typed columns. */
  readonly definitionId?: string;
}

/** Records that a filter of other records can name. */
export interface FilterRelation {
  readonly name: string;
  readonly target: FilterTarget;
  /** Whether a record has any number of them, so that `some` and `none` select them. Otherwise it has one at most. */
  readonly isMany: boolean;
  /** The column of the record, and that of the related records which must equal it. */
  readonly column: string;
  readonly relatedColumn: string;
  /** The scope that a key needs. */
  readonly scope: string;
}

/** What filters of one kind of record can name. */
export interface FilterTarget {
  /** The table of the records, as in `TenantEntityOptions`. */
  readonly table: string;
  readonly fields: ReadonlyMap<string, FilterField>;
  readonly relations: ReadonlyMap<string, FilterRelation>;
  /** The fields by which an index finds records. */
  readonly indexed: readonly string[];
  /** The column of custom fields, if it has any. */
  readonly customFields?: string;
}

const TARGETS = new Map<string, FilterTarget>();

/** What filters of the records of a table can name; undefined if there are none. */
export function filterTargetNamed(table: string): FilterTarget | undefined {
  return TARGETS.get(table);
}

interface FilterTargetOptions {
  /** The text fields that take `contains` and `starts_with`. */
  readonly searchable: readonly string[];
  /** The fields by which an index of the table finds records. */
  readonly indexed?: readonly string[];
  /** The field with custom fields. */
  readonly customFields?: string;
}

/**
 * Declares what filters of a kind of record can name: every field of its responses.
 * @param record the DTO of the responses
 */
export function filterTargetOf(
  table: string,
  record: Type<object>,
  { searchable, indexed = [], customFields }: FilterTargetOptions,
): FilterTarget {
  const fields = fieldsOf(record).map((field): [string, FilterField] => {
    const isSearchable = searchable.includes(field.name);
    return [field.name, { ...filterFieldOf(field), ...(isSearchable && { isSearchable }) }];
  });
  const target: FilterTarget = {
    ...{ table, fields: new Map(fields), relations: new Map(), indexed },
    ...(customFields !== undefined && { customFields }),
  };
  const named = [...searchable, ...indexed, ...(customFields === undefined ? [] : [customFields])];
  const unknown = named.find((name) => !target.fields.has(name));
  if (unknown !== undefined) throw new Error(`${table} has no field ${unknown} to filter by.`);
  TARGETS.set(table, target);
  return target;
}

interface Relationship {
  /** The records that refer to one of the others, and the read scope of both. */
  readonly from: FilterTarget;
  readonly to: FilterTarget;
  /** The column of the reference. */
  readonly column: string;
  /** The name of the relation to the one record. That to the many is the name of their table. */
  readonly one: string;
}

/**
 * Adds the relations between records and those that refer to them. The module of the referring records calls it when it is
 * loaded, because the other module does not know it.
 */
export function relate({ from, to, column, one }: Relationship): void {
  const relations = {
    many: { name: from.table, target: from, isMany: true, column: 'id', relatedColumn: column },
    one: { name: one, target: to, isMany: false, column, relatedColumn: 'id' },
  };
  addRelation(to, { ...relations.many, scope: `${from.table}:read` });
  addRelation(from, { ...relations.one, scope: `${to.table}:read` });
}

function addRelation({ relations }: FilterTarget, relation: FilterRelation): void {
  (relations as Map<string, FilterRelation>).set(relation.name, relation);
}

function filterFieldOf(field: Field): FilterField {
  const { name, schema, comparedAs } = field;
  const kind = comparedAs ?? kindOf(field);
  const values = schema.enum as readonly string[] | undefined;
  return {
    name,
    kind,
    column: name,
    ...(comparedAs && { comparedColumn: `${name}_compared` }),
    ...(kind === 'one_of' && { values }),
  };
}

const KINDS_OF_TYPES: Readonly<Record<string, FilterKind>> = {
  ...{ boolean: 'flag', integer: 'number', number: 'number', object: 'object' },
};
const KINDS_OF_FORMATS: Readonly<Record<string, FilterKind>> = {
  uuid: 'uuid',
  'date-time': 'time',
};

/** @throws Error if filters cannot compare values of the field */
function kindOf({ name, schema }: Field): FilterKind {
  const { type, format = '', items } = schema;
  if (type === 'array' && items?.type === 'string') return 'tags';
  if (type === 'array' && items?.type === 'integer') return 'numbers';
  if (type === 'string') return schema.enum ? 'one_of' : (KINDS_OF_FORMATS[format] ?? 'text');
  const kind = KINDS_OF_TYPES[String(type)];
  if (kind) return kind;
  throw new Error(`The field ${name} has no kind for filters.`);
}
