import {
  DefaultValuePipe,
  ParseArrayPipe,
  ParseBoolPipe,
  ParseDatePipe,
  ParseEnumPipe,
  ParseFloatPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  type Type,
} from '@nestjs/common';
import { UUID_SCHEMA } from '../../fields/kinds/uuid.js';
import type { Schema } from './model.js';

// The options of Nest's pipes are protected: everything that relies on them is in this file.

/** What the pipes of a parameter accept. */
export interface AcceptedValue {
  /** Undefined if no pipe says more than the type of the parameter. */
  readonly schema?: Schema;
  /** Whether the value can be omitted. */
  readonly isOptional: boolean;
  readonly default?: unknown;
  /** The separator of an array that is sent as one string. */
  readonly separator?: string;
}

interface PipeOptions {
  readonly optional?: boolean;
  readonly items?: Type<object>;
  readonly separator?: string;
}

interface PipeInternals {
  readonly options?: PipeOptions;
  readonly enumType?: Readonly<Record<string, string | number>>;
  readonly defaultValue?: unknown;
}

type Pipe = Type<unknown>;

type SchemaOfPipe = (pipe: PipeInternals, schemaOf: (type: Type<object>) => Schema) => Schema;

const SCHEMAS: readonly (readonly [Pipe, SchemaOfPipe])[] = [
  [ParseIntPipe, () => ({ type: 'integer' })],
  [ParseFloatPipe, () => ({ type: 'number' })],
  [ParseBoolPipe, () => ({ type: 'boolean' })],
  [ParseUUIDPipe, () => UUID_SCHEMA],
  [ParseDatePipe, () => ({ type: 'string', format: 'date-time' })],
  [ParseEnumPipe, ({ enumType = {} }) => enumSchema(enumType)],
  [
    ParseArrayPipe,
    ({ options: { items } = {} }, schemaOf) => ({
      type: 'array',
      items: items ? schemaOf(items) : {},
    }),
  ],
];

/**
 * Returns what the pipes of a parameter accept.
 * @param pipes instances or classes
 * @param schemaOf returns the schema of the items of an array
 */
export function acceptedBy(
  pipes: readonly unknown[],
  schemaOf: (type: Type<object>) => Schema,
): AcceptedValue {
  const accepted = pipes.map((pipe): AcceptedValue => {
    const internals = pipe as PipeInternals;
    if (isPipe(pipe, DefaultValuePipe)) {
      return { isOptional: true, default: internals.defaultValue };
    }
    const known = SCHEMAS.find(([kind]) => isPipe(pipe, kind));
    if (!known) return { isOptional: false };
    const { optional = false, separator = ',' } = internals.options ?? {};
    const isArray = known[0] === ParseArrayPipe;
    const schema = known[1](internals, schemaOf);
    return { schema, isOptional: optional, ...(isArray && { separator }) };
  });
  const isOptional = accepted.some((one) => one.isOptional);
  return Object.assign({}, ...accepted, { isOptional }) as AcceptedValue;
}

function isPipe(pipe: unknown, kind: Pipe): boolean {
  return pipe instanceof kind || pipe === kind;
}

/** An enumeration of numbers also maps its numbers to names. */
function enumSchema(enumType: Readonly<Record<string, string | number>>): Schema {
  const values = Object.entries(enumType).flatMap(([name, value]) =>
    Number.isNaN(Number(name)) ? [value] : [],
  );
  const types = [...new Set(values.map((value) => typeof value))];
  return { ...(types.length === 1 && { type: types[0] }), enum: values };
}
