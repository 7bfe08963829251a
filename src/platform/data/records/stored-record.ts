import { hash } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { fieldsOf, type ValueParser, valueParserOf } from '../../fields/field.js';

/** The SELECT list of a record whose rows PostgreSQL converts to JSON as clients receive it. */
export function jsonColumnsOf(dto: Type<object>, fields = fieldsOf(dto)): string {
  const columns = fields.map(({ name, schema }) => {
    if (schema.format === 'date-time') return `${isoTimeSql(name)} as ${name}`;
    // A number in JSON would lose digits.
    return schema.format === 'decimal' ? `${name}::text as ${name}` : name;
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
