import { STATUS_CODES } from 'node:http';
import type { Type } from '@nestjs/common';
import { fieldsOf, ID_EXAMPLE, isUpdate } from '../../fields/field.js';
import { exampleOf, schemaOf } from '../../fields/schema-of.js';
import { UUID_SCHEMA } from '../../fields/uuid.js';
import { DEFAULT_LIMIT } from '../../listing/list-query.js';
import { Page } from '../../listing/page.js';
import { type Components, schemaRef } from './components.js';
import { errorResponsesOf } from './errors.js';
import { headersWith } from './response-headers.js';
import { hasEntityTag, headerParameters, acceptsIdempotencyKey } from './request-headers.js';
import type { MediaType, Operation, Parameter, Response, Schema } from './model.js';
import type { Route } from './routes.js';

/** The one security scheme of the document. */
export const SECURITY_SCHEME = 'apiKey';

const NOT_MODIFIED: Response = { description: 'Not Modified', headers: headersWith('ETag') };

/** Returns the OpenAPI operation of a route. */
export function operationOf(route: Route, components: Components): Operation {
  const { operationId, access, tag, options, inputs, status } = route;
  const parameters = [
    ...pathParameters(route),
    ...queryParameters(inputs.query),
    ...headerParameters(route),
  ];
  return {
    operationId,
    tags: [tag.name],
    summary: options?.summary ?? operationId,
    description: descriptionOf(route),
    security: [{ [SECURITY_SCHEME]: [] }],
    ...(access !== 'any-key' && { 'x-required-scope': access }),
    ...(parameters.length > 0 && { parameters }),
    ...(inputs.body && {
      requestBody: {
        required: true,
        content: { 'application/json': requestBody(inputs.body, components) },
      },
    }),
    responses: {
      [status]: successResponse(route, components),
      ...(route.method === 'get' && hasEntityTag(route) && { 304: NOT_MODIFIED }),
      ...errorResponsesOf(route, components),
    },
  };
}

function descriptionOf({ access, method, options, inputs }: Route): string {
  const scope = access === 'any-key' ? 'Accepts any valid key' : `Requires the scope \`${access}\``;
  const sentences = [
    options?.description,
    inputs.body &&
      isUpdate(inputs.body) &&
      'Changes only the given fields; `null` clears a nullable field.',
    `${scope}; counts as a ${method === 'get' ? 'read' : 'write'}.`,
  ];
  return sentences.filter((sentence) => typeof sentence === 'string').join(' ');
}

function pathParameters({ path }: Route): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(name === 'id'
      ? { description: 'Identifier of the record.', schema: UUID_SCHEMA, example: ID_EXAMPLE }
      : { schema: { type: 'string' } }),
  }));
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

function requestBody(dto: Type<object>, components: Components): MediaType {
  const complete = exampleOf(dto, 'input');
  const minimal = isUpdate(dto) ? undefined : exampleOf(dto, 'input', 'required fields');
  const examples = {
    ...(complete && { complete: { summary: 'All fields', value: complete } }),
    ...(minimal && { minimal: { summary: 'Required fields', value: minimal } }),
  };
  const schema = components.schemaOf(dto, 'input');
  return { schema, ...(Object.keys(examples).length > 0 && { examples }) };
}

function successResponse(route: Route, components: Components): Response {
  const { response, status } = route;
  const isRecord = hasEntityTag(route);
  return {
    description: STATUS_CODES[status] ?? '',
    headers: headersWith(
      ...(isRecord && status === 201 ? ['Location' as const] : []),
      ...(isRecord ? ['ETag' as const] : []),
      ...(acceptsIdempotencyKey(route) ? ['Idempotency-Replayed' as const] : []),
    ),
    content: { 'application/json': responseContent(response, components) },
  };
}

/** The envelope of the response DTO. A route without a declared response has `data` of any type. */
function responseContent(response: Route['response'], components: Components): MediaType {
  if (!response) return { schema: envelope({ data: {} }) };
  const schema = components.schemaOf(response.dto, 'output');
  const example = exampleOf(response.dto, 'output');
  if (!response.isPage) {
    return { schema: envelope({ data: schema }), ...(example && { example: { data: example } }) };
  }
  const page = { data: { type: 'array', items: schema }, meta: schemaRef('PageMeta') };
  return {
    schema: envelope(page),
    ...(example && {
      example: new Page([example], { page: 1, limit: DEFAULT_LIMIT, total: 1 }).toJSON(),
    }),
  };
}

function envelope(properties: Readonly<Record<string, Schema>>): Schema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
  };
}
