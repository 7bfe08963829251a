import { hash } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import {
  fieldsOf,
  type ValueParser,
  valueParserOf,
  type Field,
  namesOf,
} from '../../fields/field.js';
import type { TenantCall } from '../call.js';
import { columnSql } from './record-sql.js';

/** The SELECT list of a record whose rows PostgreSQL converts to JSON as clients receive it. */
export function jsonColumnsOf(dto: Type<object>, fields = fieldsOf(dto)): string {
  const columns = fields.map(({ name, schema }) => {
    if (schema.format === 'date-time') return `${isoTimeSql(name)} as ${name}`;
    // A number in JSON would lose digits.
    return schema.format === 'decimal' ? `${name}::text as ${name}` : columnSql(name);
  });
  return columns.join(', ');
}

function isoTimeSql(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** A record as PostgreSQL returned it, which is passed through unread. It has the declared fields only. */
export class Stored<R extends object> {
  /** Whether an update left the record as it was. */
  isUnchanged = false;
  /** Whether it has fields of other records. Its version is then not that of the record, so that it gets no entity tag. */
  hasRelated = false;

  /**
   * @param json the record as clients receive it
   * @param knownVersion the version of a record with more fields
   */
  constructor(
    readonly id: string,
    readonly json: string,
    private readonly parse: (json: string) => R,
    private knownVersion?: string,
  ) {}

  /** A hash that identifies the version of the record. */
  get version(): string {
    return (this.knownVersion ??= hashOf(this.json));
  }

  /** Returns the record as a new plain object. */
  value(): R {
    return this.parse(this.json);
  }

  /** Returns the record with more fields, in the same version. */
  with<F extends object>(fields: F): Stored<R & F> {
    const json = JSON.stringify({ ...this.value(), ...fields });
    const parse = () => ({ ...this.value(), ...fields });
    return new Stored(this.id, json, parse, this.version);
  }
}

/** A record as an operation returns it. Its JSON is parsed only if the promise itself is awaited. */
export class RecordPromise<R extends object, Missing = never> implements Promise<R | Missing> {
  readonly [Symbol.toStringTag] = 'Promise';

  /** @param stored the record, to be passed through unread */
  private constructor(readonly stored: Promise<Stored<R> | Missing>) {}

  /** Begins the operation. */
  static of<R extends object, Missing = never>(
    operation: () => Promise<Stored<R> | Missing>,
  ): RecordPromise<R, Missing> {
    return new RecordPromise(operation());
  }

  /** @param missing throws the error of a missing record */
  orElse(missing: () => never | Promise<never>): RecordPromise<R> {
    return RecordPromise.of<R>(async () => {
      const record = await this.stored;
      return record instanceof Stored ? record : missing();
    });
  }

  then<T = R | Missing, F = never>(
    onFulfilled?: ((record: R | Missing) => T | PromiseLike<T>) | null,
    onRejected?: ((reason: unknown) => F | PromiseLike<F>) | null,
  ): Promise<T | F> {
    const record = this.stored.then((one) => (one instanceof Stored ? one.value() : one));
    return record.then(onFulfilled, onRejected);
  }

  catch<F = never>(onRejected?: ((reason: unknown) => F | PromiseLike<F>) | null) {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<R | Missing> {
    return this.then().finally(onFinally);
  }
}

/** The version of a plain record: a hash of its JSON. */
export function versionOf(record: object): string {
  return hashOf(JSON.stringify(record));
}

function hashOf(json: string): string {
  return hash('sha256', json, 'base64url');
}

/** Records as JSON, which are parsed at the first access. */
export interface Items<T> {
  /** A JSON array. */
  readonly json: string;
  readonly parse: (json: string) => readonly T[];
}

/** Parses records from the JSON that PostgreSQL returns. */
export class RecordParser<R extends object> {
  private readonly parseValues: ValueParser<R>;

  constructor(dto: Type<R>) {
    this.parseValues = valueParserOf(dto);
  }

  /** @param row the id of a record, and its JSON */
  stored({ id, json }: { readonly id: string; readonly json: string }): Stored<R> {
    return new Stored(id, json, this.parse);
  }

  /** @param items JSON of records, separated by commas; null if there are none */
  list(items: string | null | undefined): Items<R> {
    const parse = (json: string) => (JSON.parse(json) as R[]).map(this.parseValues);
    return { json: `[${items ?? ''}]`, parse };
  }

  private readonly parse = (json: string): R => this.parseValues(JSON.parse(json) as R);
}

/** Fields that are not stored. */
export interface ComputedFields {
  /** SQL expressions by field. They must never come from a caller. */
  readonly fields: Readonly<Record<string, string>>;
  /** Whether the records of a call have them. */
  readonly isFor: (call: TenantCall) => boolean;
}

/** The SELECT lists of a record, and the parser of its JSON. */
export class RecordColumns<R extends object> {
  /** The columns of the table and the computed fields. */
  readonly columns: readonly string[];
  /** The SELECT list that converts rows of `columns` to JSON, with the computed fields by their names. */
  readonly jsonColumns: string;
  /** The SELECT list that does both at once: the stored columns for JSON, and the expressions of computed fields. */
  readonly jsonFromTable: string;
  /** The names of the stored fields. */
  readonly storedNames: readonly string[];
  /** The fields with rules for new values that stored values, which may be older, need not meet. */
  readonly restricted: readonly Field[];
  readonly hasComputed: boolean;
  readonly parser: RecordParser<R>;

  /**
   * @param computed SQL expressions of fields that are not stored, by field
   * @param names the stored fields
   */
  constructor(
    dto: Type<R>,
    computed: ComputedFields['fields'] = {},
    names: readonly string[] = namesOf(dto),
  ) {
    const fields = fieldsOf(dto).filter(({ name }) => names.includes(name));
    const json = jsonColumnsOf(dto, fields);
    const selected = Object.entries(computed).map(([name, sql]) => `(${sql}) as ${name}`);
    this.columns = [...fields.map(({ name }) => columnSql(name)), ...selected];
    this.jsonColumns = [json, ...Object.keys(computed)].join(', ');
    this.jsonFromTable = [json, ...selected].join(', ');
    this.storedNames = fields.map(({ name }) => name);
    this.restricted = fields.filter(({ newTextProblem }) => newTextProblem);
    this.hasComputed = selected.length > 0;
    this.parser = new RecordParser(dto);
  }
}

/** The columns for each call: with computed fields only for some. */
export class ColumnsOfCalls<R extends object> {
  readonly stored: RecordColumns<R>;
  readonly computed: RecordColumns<R> | undefined;

  constructor(
    private readonly dto: Type<R>,
    private readonly fields?: ComputedFields,
  ) {
    this.stored = new RecordColumns(dto);
    this.computed = fields && new RecordColumns(dto, fields.fields);
  }

  /**
   * The columns of a call, and fields about related records.
   * @param related SQL expressions by field
   * @param names the stored fields. Default: all
   */
  withRelated(
    call: TenantCall,
    related: ComputedFields['fields'],
    names?: readonly string[],
  ): RecordColumns<R> {
    const ofCall = this.fields?.isFor(call) ? Object.entries(this.fields.fields) : [];
    const computed = ofCall.filter(([name]) => names?.includes(name) ?? true);
    return new RecordColumns(this.dto, { ...Object.fromEntries(computed), ...related }, names);
  }

  of(call: TenantCall): RecordColumns<R> {
    return this.computed && this.fields?.isFor(call) ? this.computed : this.stored;
  }
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
