import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type {
  ContentObject,
  OperationObject,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
} from '@nestjs/swagger';
import { isScope } from '../../access/scopes.js';
import { type Field, fieldsOf, ID_EXAMPLE, isUpdate } from '../../fields/field.js';
import { UUID_SCHEMA } from '../../fields/kinds/uuid.js';
import { schemaOf } from '../../fields/schema/schema-of.js';
import type { ComponentSchemas } from './component-schemas.js';
import { anyError, errorResponsesOf } from './errors.js';
import {
  acceptsIdempotencyKey,
  acceptsIfNoneMatch,
  type HeaderName,
  headersWith,
  requestHeadersOf,
} from './headers.js';
import { JSON_TYPE, type Operation } from './model.js';
import { requestBodyOf } from './request-body.js';
import { contentOf, successesOf } from './response-content.js';
import type { RestHandler, Route } from './routes.js';

/** The components to which operations refer: the schemas, and the error responses so far. */
export interface Components {
  readonly schemas: ComponentSchemas;
  readonly responses: Record<string, ResponseObject>;
}

type Responses = Readonly<Record<string, ResponseObject>>;

const NOT_MODIFIED: ResponseObject = { description: 'Not Modified', headers: headersWith('ETag') };

const RECORD_ID = {
  description: 'Identifier of the record.',
  schema: UUID_SCHEMA,
  example: ID_EXAMPLE,
};

/**
 * Describes an operation by the plan of its route.
 * @param described what @nestjs/swagger says, by the decorators of a team
 */
export function completeOperation(
  declared: RestHandler & Pick<Route, 'method' | 'path'>,
  { requestBody: givenBody, ...given }: OperationObject,
  { schemas, responses: errors }: Components,
): Operation {
  const { access, furtherScopes, documentation, status, method } = declared;
  const requestBody = requestBodyOf(declared, givenBody as RequestBodyObject | undefined, schemas);
  const described = schemas.adopt(given, 'output');
  const { operationId = '', summary, description, parameters, tags = [], ...more } = described;
  const { security: _, responses, ...others } = more;
  const contentOfCode = (code: string) =>
    contentOf(declared, code, (responses as Responses)[code]?.content, schemas);
  const { data } = schemas.propertiesOf(contentOfCode(String(status))?.[JSON_TYPE]?.schema);
  const isRecord = method !== 'delete' && 'id' in schemas.propertiesOf(data);
  const route: Route = { ...declared, hasBody: requestBody !== undefined, isRecord };
  const all = parametersOf(route, (parameters ?? []) as ParameterObject[]);
  return {
    ...(furtherScopes.length > 0 && { 'x-further-scopes': furtherScopes }),
    ...others,
    tags,
    operationId,
    summary: [summary, documentation?.summary, operationId].find(Boolean) ?? '',
    description: descriptionOf(route, description ?? documentation?.description),
    security: [{ apiKey: [] }],
    ...(isScope(access) && { 'x-required-scope': access }),
    ...(all.length > 0 && { parameters: all }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, responses as Responses, contentOfCode, errors),
  };
}

function descriptionOf(route: Route, described: string | undefined): string {
  const { method, input } = route;
  const body = input?.body?.type;
  const sentences = [
    described,
    body && isUpdate(body) && 'Changes only the given fields; `null` clears a nullable field.',
    `${accessText(route)}; counts as a ${method === 'get' ? 'read' : 'write'}.`,
  ];
  return sentences.filter((sentence) => typeof sentence === 'string').join(' ');
}

function accessText({ access, furtherScopes }: Route): string {
  if (access === 'any-key') return 'Accepts any valid key';
  if (access === 'operator') return 'Requires an operator key';
  const scopes = [access, ...furtherScopes].map((each) => `\`${each}\``).join(' and ');
  return `Requires the ${furtherScopes.length > 0 ? 'scopes' : 'scope'} ${scopes}`;
}

/** Adds the fields of the query, the parameters of the path, and the headers that every route of the kind has. */
function parametersOf(route: Route, described: readonly ParameterObject[]): ParameterObject[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): ParameterObject => {
    const bare: ParameterObject = { name, in: 'path', required: true, schema: { type: 'string' } };
    const one = described.find((each) => each.in === 'path' && each.name === name) ?? bare;
    return /(^|_)id$/.test(name) && isDeepStrictEqual(one, bare) ? { ...bare, ...RECORD_ID } : one;
  });
  const dto = route.input?.query?.type;
  const fields = dto ? fieldsOf(dto).map(parameterOf) : [];
  const headers = requestHeadersOf(route);
  const isKnown = (one: ParameterObject) =>
    [...fields, ...headers].some(
      (known) => known.in === one.in && known.name.toLowerCase() === one.name.toLowerCase(),
    );
  const others = described.filter((one) => one.in !== 'path' && !isKnown(one)).map(withoutType);
  return [...inPath, ...fields, ...others, ...headers];
}

/** The query parameter of a field. */
function parameterOf(field: Field): ParameterObject {
  const { description, examples = [], ...schema } = schemaOf(field);
  const required = field.presence.required === true;
  return {
    name: field.name,
    in: 'query',
    required,
    description,
    schema,
    example: examples[0],
  } as ParameterObject;
}

/** Leaves out `type`, which the schema of a parameter of @nestjs/swagger has as well. */
function withoutType({ type: _, ...one }: ParameterObject & { readonly type?: unknown }) {
  return one;
}

/** Completes the described responses, and adds the errors that the route can return. */
function responsesOf(
  route: Route,
  described: Responses,
  contentOfCode: (code: string) => ContentObject | undefined,
  errors: Record<string, ResponseObject>,
): Operation['responses'] {
  const successes = successesOf(route);
  const isError = (code: string) => /^[45d]/.test(code);
  const codes = [...new Set([...successes, ...Object.keys(described)])]
    // @nestjs/swagger does not know that `@Redirect()` excludes 200.
    .filter((code) => isError(code) || route.status < 300 || successes.includes(code));
  const declared = codes.map((code): [string, ResponseObject] => {
    const { content: given, headers, ...one } = described[code] ?? { description: '' };
    const own = isError(code)
      ? anyError(code, given)
      : { headers: headersWith(...headersOf(route, code)), content: contentOfCode(code) };
    const texts = [one.description, STATUS_CODES[code], 'Any other response'];
    const response = { ...one, description: texts.find(Boolean) ?? '' };
    const { content } = own;
    return [
      code,
      { ...response, headers: { ...own.headers, ...headers }, ...(content && { content }) },
    ];
  });
  return {
    ...(acceptsIfNoneMatch(route) && { 304: NOT_MODIFIED }),
    ...errorResponsesOf(route, errors),
    ...Object.fromEntries(declared),
  };
}

/** The headers of the response to a successful request, in addition to those of every response. */
function headersOf(route: Route, status: string): HeaderName[] {
  if (!successesOf(route).includes(status)) return [];
  const { isRecord } = route;
  return [
    ...(isRecord && status === '201' ? ['Location' as const] : []),
    ...(isRecord ? ['ETag' as const] : []),
    ...(acceptsIdempotencyKey(route) ? ['Idempotency-Replayed' as const] : []),
  ];
}
