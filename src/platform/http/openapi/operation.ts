import type { ParameterObject, RequestBodyObject } from '@nestjs/swagger';
import { type Field, fieldsOf, ID_EXAMPLE, isUpdate } from '../../fields/field.js';
import { UUID_SCHEMA } from '../../fields/kinds/uuid.js';
import { schemaOf } from '../../fields/schema/schema-of.js';
import { JSON_TYPE, type Operation } from './model.js';
import { declaredResponsesOf } from './responses.js';
import type { RestPlan, Route } from './routes.js';
import type { Schemas } from './schemas.js';

const RECORD_ID = {
  description: 'Identifier of the record.',
  schema: UUID_SCHEMA,
  example: ID_EXAMPLE,
};

const FORM_TYPE = 'multipart/form-data';

const BYTES = { type: 'string', format: 'binary' };

const FORM = { type: 'object', properties: { file: BYTES }, required: ['file'] };

/** Describes a route as its own decorators do. `completeOperation()` adds what follows from rules of all routes. */
export function declaredOperation(route: Route, schemas: Schemas): Operation {
  const { operationId, tag, controller, documentation, input } = route;
  const query = input?.query?.type;
  const requestBody = bodyOf(route, schemas);
  return {
    operationId,
    // A controller without a tag is one.
    tags: [tag?.name ?? controller.name.replace(/Controller$/, '')],
    summary: documentation?.summary ?? operationId,
    description: documentation?.description ?? '',
    parameters: [
      ...pathParametersOf(route),
      ...(query ? fieldsOf(query).map(queryParameterOf) : []),
    ],
    ...(requestBody && { requestBody }),
    responses: declaredResponsesOf(route, schemas),
  };
}

function pathParametersOf({ path }: Route): ParameterObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const isId = /(^|_)id$/.test(name);
    return {
      name,
      in: 'path',
      required: true,
      ...(isId ? RECORD_ID : { schema: { type: 'string' } }),
    };
  });
}

function queryParameterOf(field: Field): ParameterObject {
  const { description, examples = [], ...schema } = schemaOf(field);
  const required = field.presence.required === true;
  const isJson = schema.type === 'object';
  const [example] = examples;
  return {
    ...{ name: field.name, in: 'query', required },
    ...(description !== undefined && { description }),
    schema: (isJson ? jsonTextOf(field) : schema) as ParameterObject['schema'],
    ...(example !== undefined && { example: isJson ? JSON.stringify(example) : example }),
  };
}

/** The schema of an object in a query, which is sent as JSON. */
function jsonTextOf({ maxSentBytes }: Field) {
  const bound = maxSentBytes !== undefined && { maxLength: maxSentBytes };
  return { type: 'string', contentMediaType: JSON_TYPE, ...bound };
}

/** The body that is read as a DTO of fields, or as a file. */
function bodyOf({ input, file }: RestPlan, schemas: Schemas): RequestBodyObject | undefined {
  const dto = input?.body?.type;
  if (file) {
    const contents = file.types.map((type) => [type, { schema: BYTES }] as const);
    const content = { ...Object.fromEntries(contents), [FORM_TYPE]: { schema: FORM } };
    return { required: true, content };
  }
  if (!dto || fieldsOf(dto).length === 0) return undefined;
  const complete = schemas.exampleOf(dto, 'input');
  const minimal = isUpdate(dto) ? undefined : schemas.exampleOf(dto, 'input', 'required fields');
  const examples = {
    ...(complete && { complete: { summary: 'All fields', value: complete } }),
    ...(minimal && { minimal: { summary: 'Required fields', value: minimal } }),
  };
  const content = {
    schema: schemas.referenceTo(dto, 'input'),
    ...(Object.keys(examples).length > 0 && { examples }),
  };
  return { required: true, content: { [JSON_TYPE]: content } };
}
