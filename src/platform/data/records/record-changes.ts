import { ApiError } from '../../errors/api-error.js';
import type { TenantCall } from '../call.js';
import { Stored, versionOf } from './stored-record.js';

/** Columns and values of a row. The names are SQL and must never come from a caller. */
export type Row = Readonly<Record<string, unknown>>;

/** A change of a record that does not depend on its stored values. */
export interface DirectChange {
  /** The new values by column. Columns that are undefined keep their value. */
  readonly values: object;
  /** Whether `updated_at` is set even if the record has all values already. Default: false. */
  readonly touches?: boolean;
}

/** An event that a change writes. */
export interface ChangeEvent {
  readonly type: string;
  /** The fields that have another value now. */
  readonly changed: readonly string[];
}

/** The parameters of an event: its type, the changed fields, and the origin. */
export function eventValuesOf(call: TenantCall, { type, changed }: ChangeEvent): unknown[] {
  // Names of fields need no quotes in the literal of an array.
  return [type, `{${changed.join()}}`, ...Object.values(originOf(call))];
}

/** Who changes a record, for its event. Jobs and commands have no request, and only imports have a channel then. */
export function originOf({ actor, requestId }: TenantCall) {
  const isRequest = requestId !== undefined;
  return {
    key_id: isRequest ? actor?.key.id : undefined,
    channel: isRequest || actor?.channel === 'import' ? actor?.channel : undefined,
    request_id: requestId,
    grant_id: isRequest ? actor?.key.grant?.id : undefined,
    client_id: isRequest ? actor?.key.grant?.clientId : undefined,
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

/**
 * The JSON of a change of a record with its event, for the statements that change records.
 * @param change with the version that the record must have, if it must have one
 */
export function changeJsonOf(
  call: TenantCall,
  change: ChangeEvent & { readonly id: string; readonly version?: Date },
  values: Row,
): string {
  const json = JSON.stringify({ ...change, ...originOf(call) });
  return `${json.slice(0, -1)},"values":${rowJsonOf(values)}}`;
}

/** @throws ApiError `precondition_failed` */
export function assertPrecondition({ precondition }: TenantCall, record: object): void {
  if (!precondition) return;
  const { recordId } = precondition;
  if (recordId !== undefined && recordId !== (record as { id?: unknown }).id) return;
  if (record instanceof Stored && precondition.isMetBy(record.version)) return;
  // A route that returns a plain record has the version of its JSON.
  const plain = record instanceof Stored ? (record as Stored<object>).value() : record;
  if (precondition.isMetBy(versionOf(plain))) return;
  const { failure: message } = precondition;
  throw new ApiError('precondition_failed', message === undefined ? {} : { message });
}

export function withoutUndefined(values: object): Row {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
