import type { Type } from '@nestjs/common';
import type { ContentObject, ExampleObject, MediaTypeObject } from '@nestjs/swagger';
import { DEFAULT_LIMIT } from '../../data/lists/list-query.js';
import { CURSOR_META_SCHEMA, type CursorMeta, type PageMeta } from '../../data/lists/page.js';
import { jsonSchemaOf } from '../../fields/schema/schema-of.js';
import { exampleOfClass } from '../../fields/schema/validation-schema.js';
import { type ComponentSchemas, hasFields } from './component-schemas.js';
import { JSON_TYPE, type Schema, schemaRef } from './model.js';
import { responseDtoOf, type RestHandler } from './routes.js';

/** What a list has beside `data`. */
type Meta = Pick<MediaTypeObject, 'schema' | 'example'>;

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

/**
 * Describes the content of a response that is no error. JSON is in the envelope.
 * @param code the status
 * @param described what the decorators of @nestjs/swagger say
 */
export function contentOf(
  route: RestHandler,
  code: string,
  described: ContentObject | undefined,
  schemas: ComponentSchemas,
): ContentObject | undefined {
  if (WITHOUT_BODY.test(code)) return undefined;
  const { hasEnvelope, documentation } = route;
  if (documentation?.files) return contentOfFiles(documentation.files);
  if (!hasEnvelope) return described;
  if (!successesOf(route).includes(code)) return enveloped(described);
  const dto = responseDtoOf(documentation);
  if (dto) {
    const json = { ...described?.[JSON_TYPE], ...declaredData(route, dto, schemas) };
    return enveloped({ [JSON_TYPE]: json }, metaOf(route, schemas));
  }
  // Without a declaration, `data` has any type.
  return enveloped(described ?? { [JSON_TYPE]: { schema: {} } });
}

/** The statuses that a route declares for successful responses. */
export function successesOf({ status, documentation }: RestHandler): string[] {
  return [status, ...(documentation?.statuses ?? [])].map(String);
}

/** The record or the list of records of `@ApiRoute()`. */
function declaredData(
  { documentation }: RestHandler,
  dto: Type<object>,
  schemas: ComponentSchemas,
): MediaTypeObject {
  const whole = schemas.of(dto, 'output');
  const record = documentation?.record;
  const one = record ? { anyOf: [whole, someFieldsOf(record)] } : whole;
  const example = hasFields(dto) ? exampleOfClass(dto, 'output') : undefined;
  if (!Array.isArray(documentation?.response)) return { schema: one, example };
  return { schema: { type: 'array', items: one }, example: example && [example] };
}

function metaOf({ documentation }: RestHandler, schemas: ComponentSchemas): Meta | undefined {
  const { meta, record, response, paging = 'page' } = documentation ?? {};
  if (meta) return { schema: schemas.of(meta, 'output'), example: exampleOfClass(meta, 'output') };
  if (!Array.isArray(response)) return undefined;
  return record ? META_OF_BOTH : META[paging];
}

/** The items of a list with the parameter `fields`. The schema of whole records describes the fields. */
function someFieldsOf(record: Type<object>): Schema {
  const { properties = {} } = jsonSchemaOf(record, 'output');
  const plain = Object.entries(properties).map(
    ([name, { description: _, examples: __, ...schema }]) => [name, schema] as const,
  );
  return {
    type: 'object',
    description: 'The fields that the parameter `fields` names.',
    properties: Object.fromEntries(plain) as Record<string, Schema>,
    required: ['id'],
  };
}

/** @param types content types */
function contentOfFiles(types: readonly string[]): ContentObject {
  const names = types.map((type) => type.replace(/;.*/, ''));
  return Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }]));
}

/** Wraps JSON in the envelope in which it is sent. */
function enveloped(content: ContentObject | undefined, meta?: Meta): ContentObject | undefined {
  const json = content?.[JSON_TYPE];
  if (!json) return content;
  const properties = { data: json.schema ?? {}, ...(meta && { meta: meta.schema ?? {} }) };
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  const wrap = (data: unknown) => ({ data, ...(meta && { meta: meta.example as unknown }) });
  const examples = Object.entries((json.examples ?? {}) as Record<string, ExampleObject>).map(
    ([name, one]) => [name, { ...one, value: wrap(one.value) }] as const,
  );
  const wrapped = {
    schema,
    ...(json.example !== undefined && { example: wrap(json.example) }),
    ...(json.examples && { examples: Object.fromEntries(examples) }),
  };
  return { ...content, [JSON_TYPE]: wrapped };
}
