import type { Type } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { DECLARED_DTOS } from '../../fields/field.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { jsonSchemaOf } from '../../fields/schema/schema-of.js';
import {
  plainPropertiesOf,
  type ValidatedProperty,
  validatedPropertiesOf,
} from '../../fields/schema/validation-schema.js';

/** The options of `@ApiProperty()` for each property of a DTO. */
type PropertyOptions = Readonly<Record<string, ApiPropertyOptions>>;

/**
 * Describes the properties of a DTO by its fields and its decorators of class-validator. The options
 * of `@ApiProperty()` take precedence.
 */
export function describeProperties(dto: Type<object>): PropertyOptions {
  const { properties = {} } = jsonSchemaOf(dto, 'output');
  return Object.fromEntries([
    ...Object.entries(properties).map(([name, schema]) => [name, fieldOptions(schema)] as const),
    ...plainPropertiesOf(dto).map((property) => [property.name, ruleOptions(property)] as const),
  ]);
}

/** Returns the DTOs that declare fields, and those of the inputs that class-validator validates. */
export function describedDtos(inputs: readonly Type<object>[]): Set<Type<object>> {
  const described = new Set<Type<object>>();
  const visit = (dto: Type<object>): void => {
    if (described.has(dto) || validatedPropertiesOf(dto).length === 0) return;
    described.add(dto);
    for (const { nested } of plainPropertiesOf(dto)) if (nested) visit(nested);
  };
  [...DECLARED_DTOS, ...inputs].forEach(visit);
  return described;
}

/** @nestjs/swagger knows `nullable` instead of the type `null`. */
function fieldOptions({ type, enum: values, ...schema }: JsonSchema): ApiPropertyOptions {
  const types = [type ?? []].flat();
  const options = {
    ...schema,
    type: types.find((name) => name !== 'null'),
    ...(values && { enum: values.filter((value) => value !== null) }),
    ...(types.includes('null') && { nullable: true }),
    required: schema.required ?? true,
    selfRequired: true,
  };
  return options as ApiPropertyOptions;
}

function ruleOptions({ required, schema, isArray, nested }: ValidatedProperty): ApiPropertyOptions {
  if (!nested) return { ...schema, required } as ApiPropertyOptions;
  const { items: _items, type: _type, ...bounds } = schema;
  return { ...bounds, type: () => nested, isArray, required } as ApiPropertyOptions;
}
