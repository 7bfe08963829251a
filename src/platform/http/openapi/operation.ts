import { isDeepStrictEqual } from 'node:util';
import type { ParameterObject, RequestBodyObject } from '@nestjs/swagger';
import { isScope } from '../../access/scopes.js';
import { type Field, fieldsOf, ID_EXAMPLE, isUpdate } from '../../fields/field.js';
import { UUID_SCHEMA } from '../../fields/kinds/uuid.js';
import { schemaOf } from '../../fields/schema/schema-of.js';
import { requestHeadersOf } from './headers.js';
import { JSON_TYPE, type Operation, type PlainOperation } from './model.js';
import { type Components, contentOf, responsesOf } from './responses.js';
import type { RestHandler, Route, RoutePath } from './routes.js';
import type { Schemas } from './schemas.js';

const RECORD_ID = {
  description: 'Identifier of the record.',
  schema: UUID_SCHEMA,
  example: ID_EXAMPLE,
};

const FORM_TYPE = 'multipart/form-data';

const BYTES = { type: 'string', format: 'binary' };

const FORM = { type: 'object', properties: { file: BYTES }, required: ['file'] };

/**
 * Describes a route by its plan.
 * @param described what decorators of `@nestjs/swagger` say about it
 */
export function operationOf(
  handler: RoutePath,
  described: PlainOperation,
  components: Components,
): Operation {
  const { schemas } = components;
  const { access, furtherScopes, documentation, method, operationId } = handler;
  const { summary, parameters, responses, ...others } = described;
  const requestBody = bodyOf(handler, schemas) ?? described.requestBody;
  const content = contentOf(handler, responses, schemas);
  const { data } = schemas.resolve(content?.[JSON_TYPE]?.schema).properties ?? {};
  // The first alternative is the record, the other it with included fields, or the response to a dry run.
  const [record = data] = schemas.resolve(data).anyOf ?? [];
  const isRecord = method !== 'delete' && 'id' in (schemas.resolve(record).properties ?? {});
  const route: Route = { ...handler, hasBody: requestBody !== undefined, isRecord };
  const allParameters = parametersOf(route, parameters);
  return {
    ...others,
    operationId: [described.operationId, operationId].find(Boolean) ?? '',
    tags: tagsOf(handler, described),
    summary: [summary, documentation?.summary, operationId].find(Boolean) ?? '',
    description: descriptionOf(route, described.description ?? documentation?.description),
    security: [{ apiKey: [] }],
    ...(isScope(access) && { 'x-required-scope': access }),
    ...(furtherScopes.length > 0 && { 'x-further-scopes': furtherScopes }),
    ...(allParameters.length > 0 && { parameters: allParameters }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, content, responses, components),
  };
}

/** A controller without tags is one. */
function tagsOf({ tag, controller }: RestHandler, { tags }: PlainOperation): string[] {
  const declared = [...tags, ...(tag ? [tag.name] : [])];
  return declared.length > 0 ? declared : [controller.name.replace(/Controller$/, '')];
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

/** The parameters of the path, those of the query, and the headers of all routes of the kind. */
function parametersOf(route: Route, described: readonly ParameterObject[]): ParameterObject[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): ParameterObject => {
    const bare: ParameterObject = { name, in: 'path', required: true, schema: { type: 'string' } };
    const one = described.find((each) => each.in === 'path' && each.name === name) ?? bare;
    return /(^|_)id$/.test(name) && isDeepStrictEqual(one, bare) ? { ...bare, ...RECORD_ID } : one;
  });
  const query = route.input?.query?.type;
  const own = [...(query ? fieldsOf(query).map(queryParameterOf) : []), ...requestHeadersOf(route)];
  const isOwn = (one: ParameterObject) =>
    own.some((each) => each.in === one.in && each.name.toLowerCase() === one.name.toLowerCase());
  const others = described.filter((one) => one.in !== 'path' && !isOwn(one));
  return [
    ...inPath,
    ...own.filter((one) => one.in === 'query'),
    ...others,
    ...own.filter((one) => one.in === 'header'),
  ];
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
function bodyOf({ input, file }: RestHandler, schemas: Schemas): RequestBodyObject | undefined {
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
