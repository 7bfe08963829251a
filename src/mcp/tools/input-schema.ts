import type { Type } from '@nestjs/common';
import { type Field, fieldsOf } from '../../fields/field.js';
import type { JsonSchema } from '../../fields/json-schema.js';
import { jsonSchemaOf } from '../../fields/schema-of.js';
import { CLEAR, clearSchemaOf } from './clear.js';
import type { ToolArguments } from './tool-arguments.js';

export type ObjectSchema = JsonSchema & { readonly type: 'object' };

type Properties = Readonly<Record<string, JsonSchema | undefined>>;

/** Bounds above it are only those of the number type, which are of no use to a model. */
const LARGEST_USEFUL_BOUND = 1_000_000_000;

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'A UUID.',
  'date-time': 'ISO 8601 with an offset, in UTC without one.',
};

/**
 * The schema of the arguments of a tool, in the subset of JSON Schema that the API of every model
 * takes: one `type`, `description`, `enum`, `properties`, `required`, `items` and
 * `additionalProperties`. Gemini refuses the whole request for an array of types or an unknown
 * keyword, strict function calling of OpenAI refuses a `default`, and other hosts drop what they do
 * not know. So bounds, formats and defaults stand in the descriptions.
 */
export function inputSchemaOf({ builtIn, input, clearable }: ToolArguments): ObjectSchema {
  const parts = [builtIn, input].map((dto) => jsonSchemaOf(dto, 'input'));
  const given = Object.assign({}, ...parts.map((part) => part.properties)) as Properties;
  const fields = [...fieldsOf(builtIn), ...mostNeededFirst(input)];
  const properties = fields.map(({ name, schema: { format } }) => {
    return [name, modelSchemaOf({ format, ...given[name] })] as const;
  });
  const required = parts.flatMap((part) => part.required ?? []);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(properties),
      ...(clearable.length > 0 && { [CLEAR]: clearSchemaOf(clearable) }),
    },
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** What is special to an input before what it inherits, such as a search before the page. */
function mostNeededFirst(dto: Type<object>): Field[] {
  const base = Object.getPrototypeOf(dto) as Type<object>;
  const inherited = base.prototype === undefined ? [] : fieldsOf(base);
  return [...fieldsOf(dto).filter((field) => !inherited.includes(field)), ...inherited];
}

/** The list of tools is read with every prompt, so it has the first sentence of a description. */
function modelSchemaOf(schema: JsonSchema): JsonSchema {
  const sentences = [
    schema.description?.replace(/(?<=\.) .*/s, ''),
    ...constraintSentences(schema),
  ];
  const description = sentences.filter((sentence) => sentence !== undefined).join(' ');
  return { ...shapeOf(schema), ...(description && { description }) };
}

/** The part of a schema that has keywords of the subset. */
function shapeOf(schema: JsonSchema): JsonSchema {
  const { properties, required, items, additionalProperties } = schema;
  const type = typeOf(schema);
  const words = enumOf(schema);
  // Gemini refuses an array without `items`.
  if (type === 'array') return { type, items: modelSchemaOf(items ?? { type: 'string' }) };
  if (type !== 'object') return { ...(type && { type }), ...(words && { enum: words }) };
  const entries = Object.entries(properties ?? {});
  return {
    type,
    // An open object has none. Without the keyword @mastra/mcp sends such an object as {}.
    properties: Object.fromEntries(entries.map(([name, one]) => [name, modelSchemaOf(one)])),
    ...(required && { required }),
    additionalProperties: additionalProperties !== false,
  };
}

/** Null means that an argument is not given, so it is no type and no value of its own. */
function typeOf({ type }: JsonSchema): string | undefined {
  return [type ?? []].flat().find((one) => one !== 'null');
}

/** Gemini takes an `enum` of texts alone. */
function enumOf(schema: JsonSchema): readonly unknown[] | undefined {
  if (typeOf(schema) !== 'string') return undefined;
  return schema.enum?.filter((value) => value !== null);
}

function constraintSentences(schema: JsonSchema): string[] {
  const { format = '', maxLength, minimum, maximum, maxItems, maxProperties } = schema;
  const isText = FORMATS[format] === undefined && maxLength !== undefined;
  const isRange = minimum !== undefined && maximum !== undefined;
  const values = enumOf(schema) ? undefined : schema.enum?.filter((value) => value !== null);
  const sentences: readonly (string | false | undefined)[] = [
    FORMATS[format],
    isText && `Max ${maxLength} characters.`,
    isRange && maximum <= LARGEST_USEFUL_BOUND && `${minimum} to ${maximum}.`,
    maxItems !== undefined && `Max ${maxItems} items.`,
    maxProperties !== undefined && `Max ${maxProperties} keys.`,
    values && `One of ${values.map(String).join(', ')}.`,
    isStatedDefault(schema.default) && `Default: ${schema.default}.`,
  ];
  return sentences.filter((sentence) => typeof sentence === 'string');
}

/** A flag that is false by default, and a list that is empty, need no words. */
function isStatedDefault(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
