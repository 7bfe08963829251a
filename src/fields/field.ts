import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { IsDefined, IsOptional, ValidateIf } from 'class-validator';
import type { JsonSchema } from './json-schema.js';
import { UUID_SCHEMA } from './uuid.js';

/** Whether a field must be given, and what it is when it is not. */
export interface Presence<T> {
  required?: boolean;
  /** Value of a field that is left out on create. */
  default?: T;
}

/** What each declaration of a field says, whatever its kind. */
export interface Declaration<T, E = T> extends Presence<T> {
  /** What the value means, for whoever sends or reads it. */
  description?: string;
  /** A valid value, as it stands in JSON. */
  example?: E;
}

/** What a kind of field is: how its values are normalized, checked and described. */
export interface Kind {
  /** The JSON Schema of a value, from the same bounds as the rules. */
  readonly schema: JsonSchema;
  /** The JSON Schema of what is accepted, where it differs from what is answered. */
  readonly inputSchema?: JsonSchema;
  /** Checks of class-validator, in the order in which their messages matter. */
  readonly rules: readonly PropertyDecorator[];
  /** Brings a value into its stored form before it is checked. */
  readonly normalize?: (value: unknown) => unknown;
  /** Reads a value that comes as text, as in a query string; a text that cannot be read stays. */
  readonly fromText?: (text: string) => unknown;
}

/** One field as its decorator declares it: the source of everything derived from it. */
export interface Field extends Required<Kind> {
  readonly name: string;
  readonly presence: Presence<unknown>;
}

export const ID_EXAMPLE = '01a1fbde-995e-72a3-a032-ab1c988b9794';

const ID_SCHEMA: JsonSchema = {
  ...UUID_SCHEMA,
  description: 'Identifier, given by the service.',
  examples: [ID_EXAMPLE],
};

const ID: Field = {
  name: 'id',
  presence: { required: true },
  schema: ID_SCHEMA,
  inputSchema: ID_SCHEMA,
  rules: [],
  normalize: identity,
  fromText: identity,
};

const FIELDS = Symbol('fields');
const IS_UPDATE = Symbol('is update');
const FIXED = Symbol('fixed fields');

/** The fields of a DTO class, in the order of their declaration, inherited ones first. */
export function fieldsOf(dto: Type<object>): readonly Field[] {
  return (Reflect.getMetadata(FIELDS, dto) ?? []) as readonly Field[];
}

/** The names of a DTO's fields: what a response of that type consists of. */
export function namesOf(dto: Type<object>): string[] {
  return fieldsOf(dto).map(({ name }) => name);
}

/** Whether the DTO is of an update, where null empties a field and nothing has a default. */
export function isUpdate(dto: Type<object>): boolean {
  return Reflect.getMetadata(IS_UPDATE, dto) === true;
}

/** The fields that an update of this DTO's record may not change. */
export function fixedFieldsOf(dto: Type<object>): readonly string[] {
  return (Reflect.getMetadata(FIXED, dto) ?? []) as readonly string[];
}

/** The names of the fields that an update by this DTO can empty; none of a DTO of something else. */
export function clearableFieldsOf(dto: Type<object>): string[] {
  if (!isUpdate(dto)) return [];
  return fieldsOf(dto)
    .filter(isClearable)
    .map(({ name }) => name);
}

/** A decorator that declares a property as a field of a kind. */
export function declareField(
  { description, example, ...presence }: Declaration<unknown>,
  { schema, inputSchema = schema, rules, normalize = identity, fromText = identity }: Kind,
): PropertyDecorator {
  const described = (one: JsonSchema): JsonSchema => {
    const text = [description, one.description].filter((part) => part !== undefined).join(' ');
    return {
      ...one,
      ...(text && { description: text }),
      ...(example !== undefined && { examples: [example] }),
    };
  };
  const schemas = { schema: described(schema), inputSchema: described(inputSchema) };
  return (target, property) => {
    const name = String(property);
    const field = { name, presence, ...schemas, rules, normalize, fromText };
    addField(target, field, presenceRule(presence));
  };
}

/**
 * The DTO of an update: the fields of a create, each optional. Null empties a field, unless it is
 * required or has a default (docs/contract/resources.md#null-and-defaults).
 * @param fixed fields that an update may not change
 */
export function UpdateOf<T extends object, K extends keyof T = never>(
  create: Type<T>,
  { fixed = [] }: { fixed?: readonly K[] } = {},
): Type<Partial<Omit<T, K>>> {
  class Update {}
  Reflect.defineMetadata(IS_UPDATE, true, Update);
  Reflect.defineMetadata(FIXED, fixed, Update);
  for (const field of fieldsOf(create)) {
    if (fixed.includes(field.name as K)) continue;
    addField(Update.prototype, field, isClearable(field) ? IsOptional() : IfGiven());
  }
  return Update;
}

/** The DTO of a stored record: its id and every field of a create; unset ones are null. */
export function RecordOf<T extends object>(create: Type<T>): Type<RecordFields<T>> {
  class StoredRecord {}
  addField(StoredRecord.prototype, ID);
  for (const field of fieldsOf(create)) addField(StoredRecord.prototype, field);
  return StoredRecord as Type<RecordFields<T>>;
}

/** A DTO of some fields of another, in the given order. */
export function PickOf<T extends object, K extends keyof T & string>(
  dto: Type<T>,
  names: readonly K[],
): Type<Pick<T, K>> {
  class Picked {}
  const fields = fieldsOf(dto);
  for (const name of names) {
    const field = fields.find((candidate) => candidate.name === name);
    if (!field) throw new Error(`${dto.name} has no field ${name}`);
    addField(Picked.prototype, field);
  }
  return Picked as Type<Pick<T, K>>;
}

export type RecordFields<T> = { id: string } & { [K in keyof T]-?: Exclude<T[K], undefined> };

function isClearable({ presence }: Field): boolean {
  return !presence.required && presence.default === undefined;
}

function addField(prototype: object, field: Field, presence?: PropertyDecorator): void {
  const dto = prototype.constructor as Type<object>;
  Reflect.defineMetadata(FIELDS, [...fieldsOf(dto), field], dto);
  for (const decorate of [...(presence ? [presence] : []), ...field.rules]) {
    decorate(prototype, field.name);
  }
}

function presenceRule({ required }: Presence<unknown>): PropertyDecorator {
  return required ? IsDefined({ message: 'is required' }) : IsOptional();
}

/** Checks a value that is given, null included. */
function IfGiven(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

function identity<T>(value: T): T {
  return value;
}
