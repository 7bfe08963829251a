import type { Raw } from '../state/drafts.js';
import { texts } from '../texts.js';

/** How a value is entered. */
export type FieldKind =
  | 'text'
  | 'email'
  | 'tel'
  | 'url'
  | 'long'
  | 'number'
  | 'checkbox'
  | 'flag'
  | 'choice'
  | 'choices'
  | 'lines'
  | 'date'
  | 'time'
  | 'json'
  | 'lead';

/** A field of a form. */
export interface FieldSpec {
  /** As errors name it, such as `email` or `custom_fields.KEY`. */
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly options?: readonly Option[];
  readonly isRequired?: boolean;
  readonly hint?: string;
  /** Text for a value that its kind does not know, such as the hours of a resource. */
  readonly conversion?: Conversion;
}

export interface Option {
  readonly value: string;
  readonly label: string;
}

/** Text that is not what a field takes. */
export class InvalidInput extends Error {}

export interface Conversion {
  readonly toRaw: (value: unknown) => Raw;
  /** @throws InvalidInput */
  readonly toValue: (raw: Raw) => unknown;
  /** What people call a part of the value, such as `Line 2: end`. @param path such as `.monday[0].end` */
  readonly partAt?: (path: string, raw: Raw) => string;
}

const orNull = (raw: Raw) => (raw === '' ? null : raw);
const asText = (value: unknown) => (value ?? '') as string;
const asList = (value: unknown) => (Array.isArray(value) ? (value as string[]) : []);

const PLAIN: Conversion = { toRaw: asText, toValue: orNull };

const NUMBER: Conversion = {
  toRaw: (value) => (typeof value === 'number' ? String(value) : ''),
  toValue: (raw) => {
    if (raw === '') return null;
    const value = Number(raw);
    if (!Number.isFinite(value)) throw new InvalidInput(texts.form.number);
    return value;
  },
};

const CHECKBOX: Conversion = { toRaw: (value) => value === true, toValue: (raw) => raw };

/** Yes, no or no value. */
const FLAG: Conversion = {
  toRaw: (value) => (typeof value === 'boolean' ? String(value) : ''),
  toValue: (raw) => (raw === '' ? null : raw === 'true'),
};

const LINES: Conversion = {
  toRaw: (value) => asList(value).join('\n'),
  toValue: (raw) => (raw as string).split('\n').filter((line) => line.trim() !== ''),
};

const TIME: Conversion = {
  toRaw: (value) => (value ? localTime(new Date(value as string)) : ''),
  toValue: (raw) => {
    if (raw === '') return null;
    const time = new Date(raw as string);
    if (Number.isNaN(time.getTime())) throw new InvalidInput(texts.form.time);
    return time.toISOString();
  },
};

const JSON_VALUE: Conversion = {
  toRaw: (value) => (value === undefined ? '' : JSON.stringify(value, null, 2)),
  toValue: (raw) => {
    if (raw === '') return null;
    try {
      return JSON.parse(raw as string) as unknown;
    } catch (error) {
      throw new InvalidInput(texts.form.json, { cause: error });
    }
  },
};

export const CONVERSIONS: Readonly<Record<FieldKind, Conversion>> = {
  text: PLAIN,
  email: PLAIN,
  tel: PLAIN,
  url: PLAIN,
  long: PLAIN,
  number: NUMBER,
  checkbox: CHECKBOX,
  flag: FLAG,
  choice: PLAIN,
  choices: { toRaw: asList, toValue: (raw) => raw },
  lines: LINES,
  date: PLAIN,
  time: TIME,
  json: JSON_VALUE,
  lead: PLAIN,
};

export const conversionOf = ({ kind, conversion = CONVERSIONS[kind] }: FieldSpec) => conversion;

/** A time as `<input type="datetime-local">` has it, in the zone of the browser. */
export function localTime(time: Date): string {
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
