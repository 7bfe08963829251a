import type { ColumnOptions } from 'typeorm';
import { type Field, holdsObjects, isClearable, isList } from '../../fields/field.js';

/** The columns of strings, by their format. */
const BY_FORMAT: Readonly<Record<string, ColumnOptions>> = {
  uuid: { type: 'uuid' },
  'date-time': { type: 'timestamp with time zone', precision: 3 },
  decimal: { type: 'numeric' },
};

const MAX_INT4 = 2 ** 31 - 1;

/** The driver reads `bigint` as text. */
const BIGINT: ColumnOptions = {
  type: 'bigint',
  transformer: readBy((text) => text && Number(text)),
};

/** The column of a field: that of its kind, whose JSON Schema determines the type, with what the field adds. */
export function columnOf(field: Field): ColumnOptions {
  return { ...typeOf(field), ...field.column, nullable: isClearable(field) };
}

function typeOf(field: Field): ColumnOptions {
  const { nested, parse, schema } = field;
  const { type, format = '', minimum = 0, maximum = 0 } = schema;
  if (nested && parse) return { type: 'jsonb', transformer: readBy(parse) };
  if (holdsObjects(field)) return { type: 'jsonb' };
  if (isList(field)) {
    return { type: schema.items?.type === 'integer' ? 'integer' : 'text', array: true };
  }
  if (type === 'boolean') return { type };
  if (type === 'integer') return Math.max(maximum, -minimum) > MAX_INT4 ? BIGINT : { type };
  return BY_FORMAT[format] ?? { type: 'text' };
}

function readBy(from: (value: unknown) => unknown) {
  return { from, to: (value: unknown) => value };
}
