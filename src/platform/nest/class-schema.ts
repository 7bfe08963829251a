import type { Type } from '@nestjs/common';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { namesOf } from '../fields/field.js';
import type { JsonSchema } from '../fields/schema/json-schema.js';
import { jsonSchemaOf, withProperties } from '../fields/schema/schema-of.js';
import { type RuleMetadata, rulesOf } from '../fields/validation/rule-metadata.js';
import { declaredTypeOf } from './class-transformer-internals.js';

/** A property of a DTO as its decorators of class-validator describe it. The schema is not that of a nested DTO. */
export interface PlainProperty {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly isArray: boolean;
  /** The DTO of the value or, in an array, of its items. */
  readonly nested: Type<object> | undefined;
}

/** The JSON Schema of each decorator, by the name that class-validator gives it. */
const SCHEMAS: Readonly<Record<string, (...constraints: never[]) => JsonSchema>> = {
  isString: () => ({ type: 'string' }),
  isBoolean: () => ({ type: 'boolean' }),
  isInt: () => ({ type: 'integer' }),
  isNumber: () => ({ type: 'number' }),
  isObject: () => ({ type: 'object' }),
  isArray: () => ({ type: 'array' }),
  isDate: () => ({ type: 'string', format: 'date-time' }),
  isDateString: () => ({ type: 'string', format: 'date-time' }),
  isIso8601: () => ({ type: 'string', format: 'date-time' }),
  isEmail: () => ({ type: 'string', format: 'email' }),
  isUuid: () => ({ type: 'string', format: 'uuid' }),
  isUrl: () => ({ type: 'string', format: 'uri' }),
  isLength: (minLength: number, maxLength?: number) => ({ type: 'string', minLength, maxLength }),
  minLength: (minLength: number) => ({ type: 'string', minLength }),
  maxLength: (maxLength: number) => ({ type: 'string', maxLength }),
  matches: (pattern: RegExp | string) => ({ type: 'string', pattern: new RegExp(pattern).source }),
  min: (minimum: number) => ({ minimum }),
  max: (maximum: number) => ({ maximum }),
  isPositive: () => ({ exclusiveMinimum: 0 }),
  isNegative: () => ({ exclusiveMaximum: 0 }),
  isIn: (values: readonly unknown[]) => enumSchema(values),
  isEnum: (_: object, values: readonly unknown[]) => enumSchema(values),
  arrayMinSize: (minItems: number) => ({ type: 'array', minItems }),
  arrayMaxSize: (maxItems: number) => ({ type: 'array', maxItems }),
  arrayNotEmpty: () => ({ type: 'array', minItems: 1 }),
  arrayUnique: () => ({ type: 'array', uniqueItems: true }),
};

/** Returns the properties of a DTO that have decorators of class-validator and are not fields. */
export function plainPropertiesOf(dto: Type<object>): PlainProperty[] {
  const names = new Set(namesOf(dto));
  const rules = rulesOf(dto).filter(({ propertyName }) => !names.has(propertyName));
  const byName = Object.entries(getMetadataStorage().groupByPropertyName(rules));
  return byName.map(([name, ofProperty]) => plainProperty(dto, name, ofProperty));
}

/**
 * The JSON Schema of a DTO as a request: of its fields and of its decorators of class-validator.
 * @param containing the DTOs of which this one is a part
 * @throws Error that names a property without a type, or a class that contains itself
 */
export function inputSchemaOfClass(
  dto: Type<object>,
  containing: readonly Type<object>[] = [],
): JsonSchema {
  if (containing.includes(dto)) throw new Error(`${dto.name}, which contains itself`);
  const plain = plainPropertiesOf(dto);
  const properties = plain.map(({ name, nested, isArray, schema: own }) => {
    const value = nested && inputSchemaOfClass(nested, [...containing, dto]);
    const schema: JsonSchema = { ...own, ...(isArray && value ? { items: value } : value) };
    const part = isArray ? schema.items : schema;
    if (part?.type !== undefined) return [name, schema] as const;
    throw new Error(`${dto.name}, whose property ${name} has no rule of its type`);
  });
  return withProperties(jsonSchemaOf(dto, 'input'), {
    properties: Object.fromEntries(properties),
    required: plain.filter(({ required }) => required).map(({ name }) => name),
  });
}

function plainProperty(
  dto: Type<object>,
  name: string,
  rules: readonly RuleMetadata[],
): PlainProperty {
  const hasType = (wanted: string) => rules.some(({ type }) => type === wanted);
  const declared = Reflect.getMetadata('design:type', dto.prototype as object, name) as
    Type<object> | undefined;
  const schema = schemaOfRules(rules.filter(({ each }) => !each));
  const isArray = schema.type === 'array' || declared === Array || rules.some(({ each }) => each);
  const nested = declaredTypeOf(dto, name) ?? (isArray ? undefined : declared);
  return {
    name,
    required: !hasType(ValidationTypes.CONDITIONAL_VALIDATION),
    schema: isArray
      ? { ...schema, type: 'array', items: schemaOfRules(rules.filter(({ each }) => each)) }
      : schema,
    nested: hasType(ValidationTypes.NESTED_VALIDATION) ? nested : undefined,
    isArray,
  };
}

function schemaOfRules(rules: readonly RuleMetadata[]): JsonSchema {
  const schemas = rules.map((rule) => {
    const { name = '', constraints = [] } = rule as Partial<RuleMetadata>;
    return SCHEMAS[name]?.(...(constraints as never[]));
  });
  return Object.assign({}, ...schemas) as JsonSchema;
}

function enumSchema(values: readonly unknown[]): JsonSchema {
  const types = new Set(values.map((value) => typeof value));
  const [type] = types;
  return { enum: values, ...(types.size === 1 && { type }) };
}
