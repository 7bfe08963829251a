import { hash } from 'node:crypto';
import { isProxy } from 'node:util/types';
import type { Type } from '@nestjs/common';
import { type Field, fieldsOf, namesOf } from '../../fields/field.js';
import { isTime, type ValueParser, valueParserOf } from '../../fields/value-parser.js';

const TEXT = Symbol('text');
const STORED_TEXT = Symbol('stored text');

/** The SELECT list of a record as JSON. Times lack trailing zeros and `Z`, which are added later. */
export function jsonColumnsOf(dto: Type<object>): string {
  return fieldsOf(dto)
    .map((field) => {
      const { name } = field;
      return isTime(field) ? `${name} at time zone 'UTC' as ${name}` : withCast(field);
    })
    .join(', ');
}

/** The SELECT list of a record as JSON, with complete times. */
export function completeJsonColumnsOf(dto: Type<object>): string {
  return fieldsOf(dto)
    .map((field) => {
      const { name } = field;
      return isTime(field)
        ? `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${name}`
        : withCast(field);
    })
    .join(', ');
}

function withCast({ name, jsonCast }: Field): string {
  return jsonCast === '' ? name : `${name}${jsonCast} as ${name}`;
}

/** The JSON of the stored record of each object that was parsed from it or extends it. */
const STORED = new WeakMap<object, string>();

/** Parses records from the JSON that PostgreSQL returns. */
export class RecordParser<R extends object> {
  private readonly parseValues: ValueParser<R>;
  private readonly timeKeys: readonly string[];
  private readonly names: ReadonlySet<PropertyKey>;

  /** @param computed names of fields that the DTO does not declare */
  constructor(dto: Type<R>, computed: readonly string[] = []) {
    this.parseValues = valueParserOf(dto);
    this.timeKeys = fieldsOf(dto)
      .filter(isTime)
      .map(({ name }) => `"${name}":`);
    this.names = new Set([...namesOf(dto), ...computed]);
  }

  /** Returns a plain object. Its entity tag is computed from the stored JSON. */
  fromJson(stored: string): R {
    const text = completeTimes(stored, this.timeKeys);
    const record = this.parse(text);
    STORED.set(record, text);
    return record;
  }

  /**
   * Returns a record that is parsed at the first access. A record that nobody accesses is sent to the
   * client as the stored JSON.
   */
  lazyFromJson(stored: string): R {
    const text = completeTimes(stored, this.timeKeys);
    const parse = () => this.parse(text);
    return new Proxy({} as R, new LazyRecordHandler(text, this.names, parse));
  }

  /** @param stored JSON array of records */
  listFromJson(stored: string): LazyItems<R> {
    const text = completeTimes(stored, this.timeKeys);
    const parse = () => (JSON.parse(text) as R[]).map(this.parseValues);
    return new LazyItems(text, parse);
  }

  private parse(text: string): R {
    return this.parseValues(JSON.parse(text) as R);
  }
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

/** The stored JSON of a record that was not changed; undefined for other values. */
export function storedJsonOf(value: object): string | undefined {
  return (value as { [TEXT]?: string })[TEXT];
}

/**
 * A hash that identifies the version of a record: of its stored JSON, even if the object was changed
 * since. For other values, the hash of their JSON.
 */
export function versionOf(value: object): string {
  return hash('sha256', versionedTextOf(value), 'base64url');
}

/** Returns a copy of a record with additional fields, which has the version of the record. */
export function extendRecord<R extends object, F extends object>(record: R, fields: F): R & F {
  const extended = { ...record, ...fields };
  STORED.set(extended, versionedTextOf(record));
  return extended;
}

/** Returns a plain copy of a lazily parsed record. Returns any other value unchanged. */
export function plainRecordOf<T>(value: T): T {
  return isProxy(value) ? { ...value } : value;
}

function versionedTextOf(value: object): string {
  const { [STORED_TEXT]: stored } = value as { [STORED_TEXT]?: string };
  return stored ?? STORED.get(value) ?? JSON.stringify(value);
}

/**
 * Parses the record when more than its `id` is needed for the first time. Discards the stored JSON once the
 * record may change.
 */
class LazyRecordHandler<R extends object> implements ProxyHandler<R> {
  private isRead = false;
  private text: string | undefined;

  constructor(
    private readonly stored: string,
    private readonly names: ReadonlySet<PropertyKey>,
    private readonly parse: () => R,
  ) {
    this.text = stored;
  }

  get(record: R, key: PropertyKey): unknown {
    if (key === TEXT) return this.text;
    if (key === STORED_TEXT) return this.stored;
    if (key === 'id' && !this.isRead)
      return idOf(this.stored) ?? Reflect.get(this.read(record), key);
    // Other keys, such as `then`, need no parsing.
    if (!this.names.has(key)) return Reflect.get(record, key);
    const value: unknown = Reflect.get(this.read(record), key);
    if (typeof value === 'object' && value !== null) this.text = undefined;
    return value;
  }

  has(record: R, key: PropertyKey): boolean {
    // An unread record has every field.
    if (!this.isRead && this.names.has(key)) return true;
    return Reflect.has(this.read(record), key);
  }

  ownKeys(record: R): (string | symbol)[] {
    return Reflect.ownKeys(this.read(record));
  }

  getOwnPropertyDescriptor(record: R, key: PropertyKey): PropertyDescriptor | undefined {
    return Reflect.getOwnPropertyDescriptor(this.read(record), key);
  }

  set(record: R, key: PropertyKey, value: unknown): boolean {
    this.text = undefined;
    return Reflect.set(this.read(record), key, value);
  }

  defineProperty(record: R, key: PropertyKey, descriptor: PropertyDescriptor): boolean {
    this.text = undefined;
    return Reflect.defineProperty(this.read(record), key, descriptor);
  }

  deleteProperty(record: R, key: PropertyKey): boolean {
    this.text = undefined;
    return Reflect.deleteProperty(this.read(record), key);
  }

  private read(record: R): R {
    if (!this.isRead) Object.assign(record, this.parse());
    this.isRead = true;
    return record;
  }
}

/** The id, without parsing the record: it is the first field. */
function idOf(text: string): string | undefined {
  return /^\{"id":"([^"\\]+)"/.exec(text)?.[1];
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
