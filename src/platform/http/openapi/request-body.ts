import type { Type } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import { type HandlerParameter, parametersOf } from '../../discovery/nest-internals.js';
import { isUpdate } from '../../fields/field.js';
import { exampleOfClass } from '../../fields/schema/validation-schema.js';
import { type ComponentSchemas, hasFields, isClass } from './component-schemas.js';
import { JSON_TYPE, type Schema } from './model.js';
import type { RestHandler } from './routes.js';

/**
 * Describes the body of a request.
 * @param described what @nestjs/swagger says about it
 */
export function requestBodyOf(
  { handler, input, file, controller, name }: RestHandler,
  described: swagger.RequestBodyObject | undefined,
  schemas: ComponentSchemas,
): swagger.RequestBodyObject | undefined {
  const ofType = (types: readonly string[], one: swagger.MediaTypeObject) => ({
    required: true,
    ...described,
    content: Object.fromEntries(types.map((type) => [type, one])),
  });
  if (file) return ofType(file.types, { schema: { type: 'string', format: 'binary' } });
  const dto = input?.body?.type;
  if (hasFields(dto)) {
    const types = Object.keys(described?.content ?? { [JSON_TYPE]: {} });
    return ofType(types, { schema: schemas.of(dto, 'input'), ...examplesOf(dto) });
  }
  const parts = parametersOf(controller, name).filter(({ source }) => source === 'body');
  const isDeclared = declaredParametersOf(handler).some((one) => one.in === 'body');
  if (parts.length === 0 || isDeclared || isClass(dto)) {
    return described && schemas.adopt(described, 'input');
  }
  return ofType([JSON_TYPE], { schema: schemaOfParts(parts, schemas) });
}

/** The parameters that decorators of @nestjs/swagger declare, with the body. */
function declaredParametersOf(handler: object): readonly { readonly in: string }[] {
  return (Reflect.getMetadata(swagger.DECORATORS.API_PARAMETERS, handler) ?? []) as {
    in: string;
  }[];
}

function examplesOf(dto: Type<object>): Pick<swagger.MediaTypeObject, 'examples'> {
  const complete = exampleOfClass(dto, 'input');
  const minimal = isUpdate(dto) ? undefined : exampleOfClass(dto, 'input', 'required fields');
  const examples = {
    ...(complete && { complete: { summary: 'All fields', value: complete } }),
    ...(minimal && { minimal: { summary: 'Required fields', value: minimal } }),
  };
  return Object.keys(examples).length > 0 ? { examples } : {};
}

/**
 * The schema of a body of which a handler takes parts, or a value without a class. @nestjs/swagger leaves out the parts, and
 * says that the items of an array are strings.
 */
function schemaOfParts(parts: readonly HandlerParameter[], schemas: ComponentSchemas): Schema {
  const whole = parts.find((part) => part.name === undefined);
  if (whole) return schemas.of(whole.type, 'input');
  // A pipe of a part can accept that it is missing.
  const required = parts.flatMap(({ name = '', pipes }) => (pipes.length === 0 ? [name] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(
      parts.map(({ name, type }) => [name, schemas.of(type, 'input')]),
    ) as Record<string, Schema>,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
