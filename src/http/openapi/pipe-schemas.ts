import {
  DefaultValuePipe,
  ParseArrayPipe,
  ParseBoolPipe,
  ParseDatePipe,
  ParseEnumPipe,
  ParseFloatPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { UUID_SCHEMA } from '../../fields/kinds/uuid.js';
import type { Schema } from './model.js';

/** What the pipes of a parameter accept. */
export interface AcceptedValue {
  /** Undefined if no pipe says more than the type of the parameter. */
  readonly schema?: Schema;
  /** Whether the value can be omitted. */
  readonly isOptional: boolean;
  readonly default?: unknown;
  /** Whether the value is an array that can be sent as one string with commas. */
  readonly isArray: boolean;
}

/** The pipes of Nest. Without a schema, the type of the parameter says more. */
const SCHEMAS: readonly (readonly [Type<PipeTransform>, Schema?])[] = [
  [ParseIntPipe, { type: 'integer' }],
  [ParseFloatPipe, { type: 'number' }],
  [ParseBoolPipe, { type: 'boolean' }],
  [ParseUUIDPipe, UUID_SCHEMA],
  [ParseDatePipe, { type: 'string', format: 'date-time' }],
  [ParseArrayPipe, { type: 'array', items: {} }],
  [ParseEnumPipe],
];

/**
 * Returns what the pipes of a parameter accept. Their options are not public, so the items of an array and
 * the values of an enumeration are unknown.
 * @param pipes instances or classes
 */
export async function acceptedBy(pipes: readonly unknown[]): Promise<AcceptedValue> {
  let accepted: AcceptedValue = { isOptional: false, isArray: false };
  for (const pipe of pipes) {
    if (pipe instanceof DefaultValuePipe) {
      accepted = { ...accepted, isOptional: true, default: pipe.transform() as unknown };
    }
    const known = SCHEMAS.find(([kind]) => pipe === kind || pipe instanceof kind);
    if (!known) continue;
    const [kind, schema] = known;
    const isOptional = accepted.isOptional || (pipe instanceof kind && (await mayBeOmitted(pipe)));
    accepted = { ...accepted, isOptional, schema, isArray: kind === ParseArrayPipe };
  }
  return accepted;
}

async function mayBeOmitted(pipe: PipeTransform): Promise<boolean> {
  try {
    await pipe.transform(undefined, { type: 'query' });
    return true;
  } catch {
    return false;
  }
}
