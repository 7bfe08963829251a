import { isDeepStrictEqual } from 'node:util';
import type { Type } from '@nestjs/common';
import type { OperationObject } from '@nestjs/swagger';
import { fieldsOf, ID_EXAMPLE, isUpdate } from '../../fields/field.js';
import { schemaOf } from '../../fields/schema/schema-of.js';
import { exampleOfClass } from '../../fields/schema/validation-schema.js';
import { UUID_SCHEMA } from '../../fields/kinds/uuid.js';
import type { Components } from './components.js';
import { errorResponsesOf } from './errors.js';
import type { DeclaredResponses, MediaType, Operation, Parameter, RequestBody } from './model.js';
import { headerParameters } from './request-headers.js';
import { successOf, successResponsesOf } from './responses.js';
import type { Route } from './routes.js';
import type { ExploredOperation } from './exploration.js';

/** The one security scheme of the document. */
export const SECURITY_SCHEME = 'apiKey';

const RECORD_ID = {
  description: 'Identifier of the record.',
  schema: UUID_SCHEMA,
  example: ID_EXAMPLE,
};

/** Completes an operation with what Latitude declares in addition to the decorators of @nestjs/swagger. */
export function operationOf(explored: ExploredOperation, components: Components): Operation {
  const { path, method, handler } = explored;
  const { access, options, inputs } = handler;
  const {
    parameters,
    requestBody,
    responses,
    operationId = '',
    ...others
  } = components.adopt<OperationObject>(withoutBodyOf(explored));
  const body = declaresFields(inputs.body)
    ? { required: true, content: { 'application/json': bodyOf(inputs.body, components) } }
    : (requestBody as RequestBody | undefined);
  const declared = responses as DeclaredResponses;
  const success = successOf(explored, declared, components);
  const { isRecord } = success;
  const route: Route = { ...handler, path, method, hasBody: body !== undefined, isRecord };
  const all = parametersOf(route, (parameters ?? []) as Parameter[]);
  return {
    ...others,
    operationId,
    tags: others.tags ?? [],
    summary: [others.summary, options?.summary, operationId].find(Boolean) ?? '',
    description: descriptionOf(route, others.description),
    security: [{ [SECURITY_SCHEME]: [] }],
    ...(access !== 'any-key' && { 'x-required-scope': access }),
    ...(all.length > 0 && { parameters: all }),
    ...(body && { requestBody: body }),
    responses: {
      ...successResponsesOf(route, success, declared),
      ...errorResponsesOf(route, components, declared),
    },
  };
}

function declaresFields(dto: Type<object> | undefined): dto is Type<object> {
  return dto !== undefined && fieldsOf(dto).length > 0;
}

/** Leaves out the body of a DTO with fields, which has a schema of its own as an input. */
function withoutBodyOf({ operation, handler: { inputs } }: ExploredOperation): OperationObject {
  return declaresFields(inputs.body) ? { ...operation, requestBody: undefined } : operation;
}

function descriptionOf(route: Route, declared: string | undefined): string {
  const { access, method, options, inputs } = route;
  const scope = access === 'any-key' ? 'Accepts any valid key' : `Requires the scope \`${access}\``;
  const sentences = [
    declared ?? options?.description,
    inputs.body &&
      isUpdate(inputs.body) &&
      'Changes only the given fields; `null` clears a nullable field.',
    `${scope}; counts as a ${method === 'get' ? 'read' : 'write'}.`,
  ];
  return sentences.filter((sentence) => typeof sentence === 'string').join(' ');
}

/** Combines the declared parameters with those of the path, the fields of the query and the headers. */
function parametersOf(route: Route, declared: readonly Parameter[]): Parameter[] {
  const nameOf = ({ in: place, name }: Parameter) =>
    place === 'header' ? name.toLowerCase() : name;
  const isSame = (a: Parameter) => (b: Parameter) => a.in === b.in && nameOf(a) === nameOf(b);
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): Parameter => {
    const bare: Parameter = { name, in: 'path', required: true, schema: { type: 'string' } };
    const one = declared.find(isSame(bare)) ?? bare;
    return /(^|_)id$/.test(name) && isDeepStrictEqual(one, bare) ? { ...bare, ...RECORD_ID } : one;
  });
  const known = [...inPath, ...queryParameters(route.inputs.query), ...headerParameters(route)];
  const others = declared.filter((one) => one.in !== 'path' && !known.some(isSame(one)));
  return [...known, ...others];
}

function queryParameters(dto: Type<object> | undefined): Parameter[] {
  if (!dto) return [];
  return fieldsOf(dto).map((field) => {
    const { description, examples: [example] = [], ...schema } = schemaOf(field);
    const required = field.presence.required === true;
    return {
      name: field.name,
      in: 'query',
      required,
      description,
      schema,
      ...(example !== undefined && { example }),
    };
  });
}

function bodyOf(dto: Type<object>, components: Components): MediaType {
  const complete = exampleOfClass(dto, 'input');
  const minimal = isUpdate(dto) ? undefined : exampleOfClass(dto, 'input', 'required fields');
  const examples = {
    ...(complete && { complete: { summary: 'All fields', value: complete } }),
    ...(minimal && { minimal: { summary: 'Required fields', value: minimal } }),
  };
  const schema = components.schemaOf(dto, 'input');
  return { schema, ...(Object.keys(examples).length > 0 && { examples }) };
}
