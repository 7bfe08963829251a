import 'reflect-metadata';
import { applyDecorators, type Type } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { Allow, IsDefined, IsOptional, ValidateIf } from 'class-validator';
import type { ColumnOptions } from 'typeorm';
import type { JsonSchema } from './schema/json-schema.js';
import type { FieldProblem } from '../errors/field-problem.js';
import { textRule } from './kinds/rules.js';
import { UUID_SCHEMA } from './kinds/uuid.js';
import { isGiven, type Rule } from './validation/rule.js';
import { conditionsOf, declareRule, OF_FIELD, rulesOf } from './validation/rule-metadata.js';

/** Whether a field is required, and its default. */
export interface Presence<T> {
  required?: boolean;
  /** A field of the same create in whose place a required one may be left out. */
  unless?: string;
  /** Value of a field that is omitted on create. */
  default?: T;
}

/** The options of every field declaration. */
export interface Declaration<T, E = T> extends Presence<T> {
  /** Description of the value in the documentation. */
  description?: string;
  /** A valid value in JSON. */
  example?: E;
  /** Whether an input has the field in place of another one. Examples of whole inputs leave it out. */
  isAlternative?: boolean;
  /** Whether responses can leave the field out. */
  mayBeMissing?: boolean;
  /** Whether only the first response has the field. It is not stored for replays, which leave it out. */
  isSecret?: boolean;
  /** What the column has in addition to its type, such as a collation. */
  column?: ColumnOptions;
}

/** A kind of field: how its values are normalized, validated and described. */
export interface Kind {
  /** The JSON Schema of a value, with the same bounds as the rules. */
  readonly schema: JsonSchema;
  /** The JSON Schema of the input, if it differs from that of responses. */
  readonly inputSchema?: JsonSchema;
  /** The first broken rule is reported. */
  readonly rules: readonly Rule[];
  /**
   * What is wrong with a text that is accepted in stored records, and refused as a new value. An update is
   * refused only if it changes the field (docs/contract/resources.md#updates).
   */
  readonly newTextProblem?: (text: string) => string | undefined;
  /** Converts a value to its stored form before it is validated. */
  readonly normalize?: (value: unknown) => unknown;
  /** Parses a value from a string, as in a query. Returns the string if it is invalid. */
  readonly fromText?: (text: string) => unknown;
  /** Converts a value of parsed JSON to the type of the field. */
  readonly parse?: (json: unknown) => unknown;
  /**
   * For values that consist of other fields: returns the problems of a value, each with its path, such as
   * `items.0.price`.
   */
  readonly nested?: (value: unknown, path: string) => FieldProblem[];
  /** Whether an empty value in a query has a meaning of its own. */
  readonly takesEmpty?: boolean;
  /** The most bytes of a value in a query as it is sent, which is percent-encoded. */
  readonly maxSentBytes?: number;
  /** The scopes that a valid value needs, beside those of the route. */
  readonly scopesOf?: (value: unknown) => readonly string[];
  /** The normal form by which values are compared. The column of a field has the values as they were given. */
  readonly comparedAs?: 'email' | 'phone';
}

/** A declared field, from which schemas, rules and documentation are derived. */
export interface Field
  extends
    Omit<Kind, 'inputSchema'>,
    Required<Pick<Kind, 'inputSchema'>>,
    Readonly<Pick<Declaration<unknown>, 'isAlternative' | 'mayBeMissing' | 'isSecret' | 'column'>> {
  readonly name: string;
  readonly presence: Presence<unknown>;
  /**
   * Whether `PartialType()` or another mapped type of Nest has made it optional, as in an update. It has no presence then:
   * nothing is required, no default is set, and null is kept, where a create takes null for an omitted field.
   */
  readonly isChange?: boolean;
  /** Whether a mapped type of Nest has copied it, with rules that can differ from its own. */
  readonly isCopied?: boolean;
}

export const ID_EXAMPLE = '01a1fbde-995e-72a3-a032-ab1c988b9794';

const FIELDS = Symbol('fields');
/** Of a DTO of an update: the fields that it may not change. */
const UPDATE = Symbol('update');

/** The fields of a DTO in the order of declaration, inherited ones first. */
export function fieldsOf(dto: Type<object>): readonly Field[] {
  return (Reflect.getMetadata(FIELDS, dto) ?? copiedFieldsOf(dto)) as readonly Field[];
}

/**
 * A field and the DTO that declares it. Each field adds a rule of class-validator with this context, because mapped types
 * of Nest copy the rules of class-validator, with their contexts, and `@Transform()`, but not the metadata of `FIELDS`.
 */
export class FieldContext {
  constructor(
    readonly field: Field,
    readonly dto: Type<object>,
  ) {}
}

const COPIED = new WeakMap<Type<object>, readonly Field[]>();

/**
 * The fields of a DTO that is made by a mapped type of Nest, such as `PickType()`. Mapped types copy
 * the rules of class-validator, with their contexts.
 */
function copiedFieldsOf(dto: Type<object>): readonly Field[] {
  const known = COPIED.get(dto);
  if (known) return known;
  const contexts = rulesOf(dto)
    .map(({ context }): unknown => context)
    .filter((context) => context instanceof FieldContext);
  const fields = new Map(contexts.map(({ field }) => [field.name, field]));
  const copied = [...fields.values()].map((field) => {
    const sources = contexts.filter((context) => context.field.name === field.name);
    const change = isChange(dto, field.name, sources) ? { presence: {}, isChange: true } : {};
    return { ...field, ...change, isCopied: true };
  });
  COPIED.set(dto, copied);
  return copied;
}

/**
 * Whether a copied field is part of an update: a declaration of it is in one, or the copy has more conditions than the
 * declarations, because `PartialType()` has added `@IsOptional()`.
 * @param sources the declarations of the field that were copied
 */
function isChange(dto: Type<object>, name: string, sources: readonly FieldContext[]): boolean {
  const declared = sources.flatMap((source) => conditionsOf(source.dto, name));
  const isPartial = conditionsOf(dto, name).length > declared.length;
  return isPartial || sources.some((source) => isUpdate(source.dto));
}

/** All classes that declare fields. */
export const DECLARED_DTOS: ReadonlySet<Type<object>> = new Set<Type<object>>();

/** The names of the fields of a DTO. */
export function namesOf(dto: Type<object>): string[] {
  return fieldsOf(dto).map(({ name }) => name);
}

/** Whether the values of a field are arrays. */
export function isList({ schema }: Field): boolean {
  return schema.type === 'array';
}

/** Whether the values of a field are objects or arrays of objects. */
export function holdsObjects({ schema: { type, items } }: Field): boolean {
  return type === 'object' || items?.type === 'object';
}

/** Converts values of parsed JSON, in place, to the types of their fields. */
export type ValueParser<T> = (json: T) => T;

/** Returns a function that converts the values of a DTO in parsed JSON. */
export function valueParserOf<T extends object>(dto: Type<T>): ValueParser<T> {
  const parsers = fieldsOf(dto).flatMap(({ name, parse }) =>
    parse ? [[name, parse] as const] : [],
  );
  return (json) => {
    const values = json as Record<string, unknown>;
    for (const [name, parse] of parsers) values[name] = parse(values[name]);
    return json;
  };
}

/** Returns a function that finds the scopes which the values of an input need; undefined if they need none. */
export function scopesOfValues(dto: Type<object>) {
  const fields = fieldsOf(dto).flatMap(({ name, scopesOf }) =>
    scopesOf ? { name, scopesOf } : [],
  );
  if (fields.length === 0) return undefined;
  return (input: object): readonly string[] =>
    fields.flatMap(({ name, scopesOf }) => {
      const value = (input as Readonly<Record<string, unknown>>)[name];
      return value === undefined || value === null ? [] : scopesOf(value);
    });
}

/** Whether the DTO describes an update. There, null clears a field and fields have no defaults. */
export function isUpdate(dto: Type<object>): boolean {
  return Reflect.hasMetadata(UPDATE, dto);
}

/** The fields that an update of this DTO's record may not change. */
export function fixedFieldsOf(dto: Type<object>): readonly string[] {
  return (Reflect.getMetadata(UPDATE, dto) ?? []) as readonly string[];
}

/** The names of the fields that an update can clear; none if the DTO describes no update. */
export function clearableFieldsOf(dto: Type<object>): string[] {
  if (!isUpdate(dto)) return [];
  return fieldsOf(dto)
    .filter(isClearable)
    .map(({ name }) => name);
}

/** Creates the decorator of a kind of field. */
export function declareField(
  { description, example, isAlternative, column, isSecret, ...declared }: Declaration<unknown>,
  { schema, inputSchema = schema, ...kind }: Kind,
): PropertyDecorator {
  const { mayBeMissing = isSecret, ...presence } = declared;
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
    const own = { name, presence, isAlternative, mayBeMissing, isSecret, column };
    addField(target, { ...kind, ...own, ...schemas });
  };
}

const declareId = declareField(
  { required: true, description: 'Identifier, given by the service.', example: ID_EXAMPLE },
  { schema: UUID_SCHEMA, rules: [] },
);

/**
 * The DTO of an update: the fields of a create, each optional. Null clears a field, unless it is
 * required or has a default (docs/contract/resources.md#null-and-defaults).
 * @param fixed fields that an update may not change
 */
export function UpdateOf<T extends object, K extends keyof T = never>(
  create: Type<T>,
  { fixed = [] }: { fixed?: readonly K[] } = {},
): Type<Partial<Omit<T, K>>> {
  class Update {}
  Reflect.defineMetadata(UPDATE, fixed, Update);
  for (const field of fieldsOf(create)) {
    if (fixed.includes(field.name as K)) continue;
    addField(Update.prototype, field);
  }
  return Update;
}

/** The DTO of a stored record: its id and every field of a create. Unset fields are null. */
export function RecordOf<T extends object>(create: Type<T>): Type<RecordFields<T>> {
  class StoredRecord {}
  declareId(StoredRecord.prototype, 'id');
  for (const field of fieldsOf(create)) addField(StoredRecord.prototype, field);
  return StoredRecord as Type<RecordFields<T>>;
}

/** A DTO with some fields of another one, in the given order. That of an update stays one. */
export function PickOf<T extends object, K extends keyof T & string>(
  dto: Type<T>,
  names: readonly K[],
): Type<Pick<T, K>> {
  class Picked {}
  if (isUpdate(dto)) Reflect.defineMetadata(UPDATE, fixedFieldsOf(dto), Picked);
  const fields = fieldsOf(dto);
  for (const name of names) {
    const field = fields.find((candidate) => candidate.name === name);
    if (!field) throw new Error(`${dto.name} has no field ${name}`);
    addField(Picked.prototype, field);
  }
  return Picked as Type<Pick<T, K>>;
}

export type RecordFields<T> = { id: string } & { [K in keyof T]-?: Exclude<T[K], undefined> };

/** Whether an update can clear a field, and its column can be null. */
export function isClearable({ presence }: Field): boolean {
  return !presence.required && presence.default === undefined;
}

function addField(prototype: object, field: Field): void {
  const dto = prototype.constructor as Type<object>;
  Reflect.defineMetadata(FIELDS, [...fieldsOf(dto), { ...field, isCopied: false }], dto);
  (DECLARED_DTOS as Set<Type<object>>).add(dto);
  const { name, normalize } = field;
  const marker = Allow({ context: new FieldContext(field, dto) });
  const rules = rulesOfField(field, isUpdate(dto)).map(declareRule);
  for (const decorate of [marker, presenceRule(prototype, field), ...rules]) {
    decorate(prototype, name);
  }
  if (!normalize) return;
  // Lets DTOs that copy the rules of this one, such as those of `PartialType()`, normalize as well.
  const normalizeValue = ({ value }: { value: unknown }) => normalize(value);
  Transform(normalizeValue, { toClassOnly: true })(prototype, name);
}

/** In an update, null clears a field that can be cleared, and is validated otherwise. */
function presenceRule({ constructor: dto }: object, field: Field): PropertyDecorator {
  const options = { context: OF_FIELD };
  const { required, unless } = field.presence;
  if (!isUpdate(dto as Type<object>) && unless !== undefined) {
    return applyDecorators(
      ValidateIf(
        (input: Readonly<Record<string, unknown>>, value) =>
          isGiven(value) || !isGiven(input[unless]),
        options,
      ),
      IsDefined({ ...options, message: IS_REQUIRED }),
    );
  }
  if (!isUpdate(dto as Type<object>) && required) {
    return IsDefined({ ...options, message: IS_REQUIRED });
  }
  if (!isUpdate(dto as Type<object>) || isClearable(field)) return IsOptional(options);
  return ValidateIf((_, value) => value !== undefined, options);
}

/** The message for a required field without a value. */
export const IS_REQUIRED = 'is required';

/** The rules of a field in a create or in an update. */
export function rulesOfField(
  { rules, newTextProblem }: Field,
  isOfUpdate: boolean,
): readonly Rule[] {
  if (!newTextProblem || isOfUpdate) return rules;
  return [...rules, textRule('isNewText', newTextProblem)];
}

/** Adds a rule to a field. It follows the decorator of the field: a decorator runs before those above it. */
export function FurtherRule(rule: Rule): PropertyDecorator {
  return (target, property) => {
    const dto = target.constructor as Type<object>;
    const fields = fieldsOf(dto);
    const index = fields.findLastIndex(({ name }) => name === property);
    const field = fields[index];
    if (!field) throw new Error(`${dto.name} has no field ${String(property)}`);
    const refined = { ...field, rules: [...field.rules, rule] };
    Reflect.defineMetadata(FIELDS, fields.with(index, refined), dto);
    // The rules that class-validator finds in a class replace those that the class inherits for the property.
    const isOwn = rulesOf(dto).some((one) => one.target === dto && one.propertyName === property);
    const rules = isOwn ? [rule] : rulesOfField(refined, isUpdate(dto));
    for (const each of rules) declareRule(each)(target, property);
  };
}
