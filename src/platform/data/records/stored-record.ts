import { hash } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { type Field, fieldsOf } from '../../fields/field.js';
import { isTime, type ValueParser, valueParserOf } from '../../fields/value-parser.js';

/** The SELECT list of a record as JSON. Times lack trailing zeros and `Z`, which are added later. */
export function jsonColumnsOf(fields: readonly Field[]): string {
  return selectListOf(fields, (time) => time);
}

/** The SELECT list of a record as JSON, with complete times. */
export function completeJsonColumnsOf(dto: Type<object>, fields = fieldsOf(dto)): string {
  return selectListOf(fields, (time) => `to_char(${time}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
}

function selectListOf(fields: readonly Field[], formatted: (time: string) => string): string {
  const columns = fields.map((field) => {
    const { name, schema } = field;
    if (isTime(field)) return `${formatted(`${name} at time zone 'UTC'`)} as ${name}`;
    // A number in JSON would lose digits.
    return schema.format === 'decimal' ? `${name}::text as ${name}` : name;
  });
  return columns.join(', ');
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

/** The version of a plain record: a hash of its JSON. */
export function versionOf(record: object): string {
  return hashOf(JSON.stringify(record));
}

function hashOf(json: string): string {
  return hash('sha256', json, 'base64url');
}

/** Parses records from the JSON that PostgreSQL returns. */
export class RecordParser<R extends object> {
  private readonly parseValues: ValueParser<R>;
  private readonly timeKeys: readonly string[];

  /** @param fields those that the JSON has */
  constructor(dto: Type<R>, fields: readonly Field[] = fieldsOf(dto)) {
    this.parseValues = valueParserOf(dto);
    this.timeKeys = fields.filter(isTime).map(({ name }) => `"${name}":`);
  }

  /** @param row the id of a record, and its JSON as PostgreSQL returned it */
  stored({ id, json }: { readonly id: string; readonly json: string }): Stored<R> {
    return new Stored(id, this.completed(json), this.parse);
  }

  /** @param stored JSON array of records */
  listFromJson(stored: string): LazyItems<R> {
    const text = this.completed(stored);
    const parse = () => (JSON.parse(text) as R[]).map(this.parseValues);
    return new LazyItems(text, parse);
  }

  /** Completes the times of JSON of records. */
  completed(stored: string): string {
    return completeTimes(stored, this.timeKeys);
  }

  private readonly parse = (json: string): R => this.parseValues(JSON.parse(json) as R);
}

/** The items of a page, parsed at the first access. */
export class LazyItems<T extends object> {
  private read: readonly T[] | undefined;

  constructor(
    private readonly json: string,
    private readonly parse: () => readonly T[],
  ) {}

  get items(): readonly T[] {
    this.read ??= this.parse();
    return this.read;
  }

  get text(): string | undefined {
    return this.read ? undefined : this.json;
  }
}

/** What completes a time, by its length: PostgreSQL omits trailing zeros of the fraction. */
const TIME_SUFFIXES: Readonly<Record<number, string>> = {
  19: '.000Z',
  21: '00Z',
  22: '0Z',
  23: 'Z',
};

/**
 * Completes each time in stored JSON to three fractional digits and `Z`. This is three times as fast as
 * `to_char` in PostgreSQL.
 * @param keys keys of the times, in the order of the fields of a record
 */
function completeTimes(json: string, keys: readonly string[]): string {
  let complete = '';
  let done = 0;
  let from = 0;
  while (keys.length > 0) {
    for (const key of keys) {
      const start = startOfValue(json, key, from);
      if (start === undefined) return complete + json.slice(done);
      from = start;
      // The value is null.
      if (json[start] !== '"') continue;
      from = json.indexOf('"', start + 1);
      complete += json.slice(done, from) + (TIME_SUFFIXES[from - start - 1] ?? '');
      done = from;
    }
  }
  return json;
}

/**
 * Finds the value of a field of the record itself. Strings cannot match, because their quotes are escaped.
 * Nested objects cannot match, because PostgreSQL writes a space before their values.
 */
function startOfValue(json: string, key: string, from: number): number | undefined {
  for (let at = json.indexOf(key, from); at >= 0; at = json.indexOf(key, at + 1)) {
    const start = at + key.length;
    if (json[start] !== ' ') return start;
  }
  return undefined;
}
