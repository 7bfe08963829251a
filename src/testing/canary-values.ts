import { randomBytes, randomInt } from 'node:crypto';
import type { JsonSchema } from '../platform/fields/schema/json-schema.js';

export type Properties = NonNullable<JsonSchema['properties']>;

/** A value that must not leak, with a name for messages. */
export interface Secret {
  readonly name: string;
  readonly value: string | Uint8Array;
}

/** Minimum length of a value, so that it cannot occur by chance. */
const MIN_LENGTH = 10;

/** Generates unique values whose leaks can be found. Values of one name share a prefix. */
export class CanaryValues {
  private readonly prefixes = new Map<string, string>();
  private count = 0;

  /** The prefixes of all generated values, by name. */
  get secrets(): Secret[] {
    return [...this.prefixes].map(([name, value]) => ({ name, value }));
  }

  /** A string of letters and digits, which URL encoding does not change. */
  text(name: string): string {
    return this.next(name, `zq${randomBytes(MIN_LENGTH / 2 - 1).toString('hex')}`);
  }

  /** A phone number with an unassigned country code. */
  phone(name: string): string {
    return `+999${this.next(`number of ${name}`, `${randomInt(10 ** 9, 10 ** 10)}`)}`;
  }

  email(name: string): string {
    return `${this.text(name)}@example.com`;
  }

  /** Fills every field of a schema that accepts free text. */
  fill(properties: Properties): Record<string, unknown> {
    const entries = Object.entries(properties).map(
      ([name, schema]) => [name, this.valueFor(name, schema)] as const,
    );
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }

  private valueFor(name: string, schema: JsonSchema): unknown {
    const types = [schema.type ?? []].flat();
    const { format, maxLength = MIN_LENGTH } = schema;
    if (types.includes('array')) {
      const items = [1, 2].map(() => this.valueFor(name, schema.items ?? { type: 'string' }));
      return items.includes(undefined) ? undefined : items;
    }
    if (types.includes('object')) {
      return { [this.text(`a key of ${name}`)]: [{ deep: this.text(name) }] };
    }
    if (!types.includes('string') || schema.enum !== undefined || maxLength < MIN_LENGTH) {
      return undefined;
    }
    if (name === 'phone') return this.phone(name);
    // Input schemas of tools have neither formats nor patterns.
    if (name === 'email') return this.email(name);
    return format === undefined && !/_(time|date|after|before)$/.test(name)
      ? this.text(name).slice(0, maxLength)
      : undefined;
  }

  /** @param newPrefix the prefix of the values of this name, if there are none yet */
  private next(name: string, newPrefix: string): string {
    const prefix = this.prefixes.get(name) ?? newPrefix;
    this.prefixes.set(name, prefix);
    return `${prefix}${++this.count}`;
  }
}

/** Finds secrets in a string, in several encodings and in any case. */
export function findLeaks(secrets: readonly Secret[], text: string): string[] {
  const lowerCase = text.toLowerCase();
  return secrets.flatMap(({ name, value }) =>
    Object.entries(encodingsOf(Buffer.from(value)))
      .filter(([, forms]) => forms.some((form) => lowerCase.includes(form.toLowerCase())))
      .map(([encoding]) => `${name} in ${encoding}`),
  );
}

function encodingsOf(bytes: Buffer): Readonly<Record<string, readonly string[]>> {
  const base64 = [0, 1, 2].map((offset) => base64At(offset, bytes));
  return {
    plain: [bytes.toString()],
    'a URL': [encodeURIComponent(bytes.toString())],
    hex: [bytes.toString('hex')],
    base64: [...base64, ...base64.map((text) => text.replace(/\+/g, '-').replace(/\//g, '_'))],
    numbers: [bytes.join(',')],
  };
}

/** The part of base64 that bytes always have after `offset` other bytes. */
function base64At(offset: number, bytes: Buffer): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return text.replace(/.==?$/, '').slice(offset === 0 ? 0 : offset + 1);
}
