import type { Type } from '@nestjs/common';
import { ListQuery } from '../../../platform/data/lists/list-query.js';
import { fieldsOf, isList, namesOf } from '../../../platform/fields/field.js';
import type { JsonSchema } from '../../../platform/fields/schema/json-schema.js';
import { propertiesOf } from '../../../platform/fields/validation/properties.js';
import { inputSchemaOfClass } from '../../../platform/nest/class-schema.js';
import type { ToolArguments } from './tool-arguments.js';

export type ObjectSchema = JsonSchema & { readonly type: 'object' };

const OPEN_OBJECT = { properties: {}, additionalProperties: true };

type Properties = Readonly<Record<string, JsonSchema | undefined>>;

/** Larger bounds are those of the number type and of no use to a model. */
const LARGEST_USEFUL_BOUND = 1_000_000_000;

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'A UUID.',
  decimal: 'A decimal number, such as 12.50.',
  'date-time': 'ISO 8601, UTC by default.',
};

/**
 * Builds the input schema of a tool from the subset of JSON Schema that all model APIs accept: a
 * single `type`, `description`, `enum`, `properties`, `required`, `items` and `additionalProperties`.
 * Gemini rejects the whole request for an array of types or an unknown keyword, strict function
 * calling of OpenAI rejects `default`, and other hosts drop unknown keywords. Descriptions therefore
 * state the bounds, formats and defaults.
 */
export function inputSchemaOf({ builtIn, input, tool: { brief } }: ToolArguments): ObjectSchema {
  const parts = [builtIn, input].map((dto) => inputSchemaOfClass(dto));
  const given = Object.assign({}, ...parts.map((part) => part.properties)) as Properties;
  const formats = new Map(
    [...fieldsOf(builtIn), ...fieldsOf(input)].map(({ name, schema }) => [name, schema.format]),
  );
  // The lists of names come last, and describe themselves.
  const lists = fieldsOf(builtIn).filter(isList);
  const others = namesOf(builtIn).filter((name) => lists.every((list) => list.name !== name));
  const properties = [...others, ...pageLast(input)].map((name) => {
    const own = brief?.objects?.includes(name) ? OPEN_OBJECT : {};
    const schema = { format: formats.get(name), ...given[name], ...own };
    const isBrief = brief?.arguments?.includes(name) ?? false;
    return [name, modelSchemaOf(schema, !isBrief)] as const;
  });
  const required = parts.flatMap((part) => part.required ?? []);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(properties),
      ...Object.fromEntries(lists.map(({ name, schema }) => [name, schema])),
    },
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Lists what a list selects before its page. */
function pageLast(dto: Type<object>): string[] {
  const names = propertiesOf(dto);
  const ofPage = new Set(dto.prototype instanceof ListQuery ? namesOf(ListQuery) : []);
  return [
    ...names.filter((name) => !ofPage.has(name)),
    ...names.filter((name) => ofPage.has(name)),
  ];
}

/**
 * Keeps the first sentence of a description, because models read the list of tools with every prompt.
 * @param describesInner whether the schemas of properties and items have descriptions and values, too
 */
function modelSchemaOf(schema: JsonSchema, describesInner = true): JsonSchema {
  const sentences = [
    schema.description?.replace(/(?<=\.) .*/s, ''),
    ...constraintSentences(schema),
  ];
  const description = sentences.filter((sentence) => typeof sentence === 'string').join(' ');
  return { ...shapeOf(schema, describesInner), ...(description && { description }) };
}

/** Keeps the keywords of the subset, except the description, and the values if they are not described. */
function shapeOf(schema: JsonSchema, describesInner: boolean): JsonSchema {
  const innerOf = (inner: JsonSchema) =>
    describesInner ? modelSchemaOf(inner) : shapeOf(inner, false);
  const { properties, required, items, additionalProperties } = schema;
  const type = typeOf(schema);
  const values = describesInner ? enumOf(schema) : undefined;
  // Gemini rejects an array without `items`.
  if (type === 'array') return { type, items: innerOf(items ?? { type: 'string' }) };
  if (type !== 'object') return { ...(type && { type }), ...(values && { enum: values }) };
  const entries = Object.entries(properties ?? {});
  return {
    type,
    // Always present: without this keyword @mastra/mcp sends an open object as {}.
    properties: Object.fromEntries(entries.map(([name, one]) => [name, innerOf(one)])),
    ...(required && { required }),
    additionalProperties: additionalProperties !== false,
  };
}

/** Omits the type null: a null argument counts as missing. */
function typeOf({ type }: JsonSchema): string | undefined {
  return [type ?? []].flat().find((one) => one !== 'null');
}

/** Omits an enum of other types: Gemini accepts only strings. */
function enumOf(schema: JsonSchema): readonly unknown[] | undefined {
  if (typeOf(schema) !== 'string') return undefined;
  return schema.enum?.filter((value) => value !== null);
}

function constraintSentences(schema: JsonSchema): readonly (string | false | undefined)[] {
  const { format = '', maxLength, minimum, maximum, maxItems, maxProperties } = schema;
  const isText = FORMATS[format] === undefined && maxLength !== undefined;
  const isRange = minimum !== undefined && maximum !== undefined;
  const values = enumOf(schema) ? undefined : schema.enum?.filter((value) => value !== null);
  return [
    FORMATS[format],
    isText && `Max ${maxLength} characters.`,
    isRange && maximum <= LARGEST_USEFUL_BOUND && `${minimum} to ${maximum}.`,
    maxItems !== undefined && `Max ${maxItems} items.`,
    maxProperties !== undefined && `Max ${maxProperties} keys.`,
    values && `One of ${values.map(String).join(', ')}.`,
    // A default of false or of an empty list is not worth stating.
    ['string', 'number'].includes(typeof schema.default) && `Default: ${String(schema.default)}.`,
  ];
}
