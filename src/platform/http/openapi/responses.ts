import { STATUS_CODES } from 'node:http';
import type { Type } from '@nestjs/common';
import type { ContentObject, MediaTypeObject, ResponseObject } from '@nestjs/swagger';
import { DEFAULT_LIMIT } from '../../data/lists/list-query.js';
import type { Includes } from '../../data/lists/includes.js';
import { CURSOR_META_SCHEMA, type CursorMeta, type PageMeta } from '../../data/lists/page.js';
import { jsonSchemaOf } from '../../fields/schema/schema-of.js';
import { type ApiRouteOptions, responseDtoOf } from '../routes/route-declarations.js';
import { JSON_TYPE, type Schema, schemaRef } from './model.js';
import type { RestPlan } from './routes.js';
import type { Schemas } from './schemas.js';

/** `meta` of the lists of `@ApiRoute()`. */
const META = {
  page: {
    schema: schemaRef('PageMeta'),
    example: { page: 1, limit: DEFAULT_LIMIT, total: 1, total_pages: 1 } satisfies PageMeta,
  },
  cursor: {
    schema: schemaRef('CursorMeta'),
    example: {
      next: CURSOR_META_SCHEMA.properties.next.examples[0] ?? '',
      has_more: false,
    } satisfies CursorMeta,
  },
};

/** `meta` of a list that is paged in both ways. */
const META_OF_BOTH = { ...META.page, schema: { anyOf: [META.page.schema, META.cursor.schema] } };

/** Statuses of responses without a body. */
const WITHOUT_BODY = /^(204|205|3..)$/;

/** Returns the statuses of successful responses. */
export function successesOf({ status, documentation }: RestPlan): number[] {
  return [status, ...(documentation?.statuses ?? [])];
}

/** Returns the successful responses as their declarations describe them, without headers. */
export function declaredResponsesOf(
  plan: RestPlan,
  schemas: Schemas,
): Record<string, ResponseObject> {
  const content = contentOf(plan, schemas);
  const responseOf = (status: number): ResponseObject => ({
    description: STATUS_CODES[status] ?? '',
    ...(content && { content }),
  });
  return Object.fromEntries(successesOf(plan).map((status) => [status, responseOf(status)]));
}

function contentOf(
  { status, documentation = { summary: '' }, hasEnvelope }: RestPlan,
  schemas: Schemas,
): ContentObject | undefined {
  if (WITHOUT_BODY.test(String(status))) return undefined;
  if (documentation.files) {
    const names = documentation.files.map((type) => type.replace(/;.*/, ''));
    return Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }]));
  }
  if (!hasEnvelope) return undefined;
  const data = dataOf(documentation, schemas);
  return { [JSON_TYPE]: inEnvelope(data, metaOf(documentation, schemas)) };
}

/** The value of `data`: one record, or the records of a page. A record can have one of several forms. */
function dataOf(options: ApiRouteOptions, schemas: Schemas): MediaTypeObject {
  const { response, record, includes, deleted, dryRun } = options;
  const dto = responseDtoOf(options);
  if (!dto) return {};
  const isList = Array.isArray(response);
  const partial = isList ? record : includes && dto;
  const whole = schemas.referenceTo(dto, 'output');
  const forms = [
    whole,
    ...(dryRun ? [schemas.referenceTo(dryRun, 'output')] : []),
    ...(partial ? [partialSchema(partial, includes, isList)] : []),
    ...(deleted ? [schemas.referenceTo(deleted, 'output')] : []),
  ];
  const schema: Schema = forms.length > 1 ? { anyOf: forms } : whole;
  const example = schemas.exampleOf(dto, 'output');
  return isList
    ? { schema: { type: 'array', items: schema }, example: example && [example] }
    : { schema, example };
}

/**
 * Describes a record with included fields and, in a list, only the fields that a request names. The schema of the record
 * describes its own fields.
 */
function partialSchema(
  record: Type<object>,
  includes: Includes | undefined,
  isList: boolean,
): Schema {
  const { properties = {}, required = [] } = jsonSchemaOf(record, 'output');
  const own = Object.entries(properties).map(
    ([name, { description: _, examples: __, ...schema }]) => [name, schema] as const,
  );
  const included = includes?.fieldsOf().map(([name, { schema }]) => [name, schema] as const) ?? [];
  const ofList = includes
    ? 'The fields that the parameters `fields` and `include` name.'
    : 'The fields that the parameter `fields` names.';
  return {
    type: 'object',
    description: isList ? ofList : 'With the fields that the parameter `include` names.',
    properties: Object.fromEntries([...own, ...included]) as Record<string, Schema>,
    required: isList ? ['id'] : [...required],
  };
}

function metaOf(
  { response, record, meta, paging }: ApiRouteOptions,
  schemas: Schemas,
): MediaTypeObject | undefined {
  if (meta) {
    const schema = schemas.referenceTo(meta, 'output');
    return { schema, example: schemas.exampleOf(meta, 'output') };
  }
  if (!Array.isArray(response)) return undefined;
  return record ? META_OF_BOTH : META[paging ?? 'page'];
}

/** Wraps JSON in the envelope in which it is sent. */
export function inEnvelope(data: MediaTypeObject, meta?: MediaTypeObject): MediaTypeObject {
  const properties = { data: data.schema ?? {}, ...(meta && { meta: meta.schema ?? {} }) };
  const hasExample = data.example !== undefined && (!meta || meta.example !== undefined);
  return {
    schema: { type: 'object', properties, required: Object.keys(properties) },
    ...(hasExample && {
      example: { data: data.example as unknown, ...(meta && { meta: meta.example as unknown }) },
    }),
  };
}
