import type { Type } from '@nestjs/common';
import type { ReferenceObject, SchemaObject } from '@nestjs/swagger';
import { CURSOR_META_SCHEMA, PAGE_META_SCHEMA } from '../../data/lists/page.js';
import { documentedErrors } from '../../errors/error-catalogue.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { type Direction, exampleOf, jsonSchemaOf } from '../../fields/schema/schema-of.js';
import components from './components.json' with { type: 'json' };
import { freeNames, refersTo, type Schema, schemaRef } from './model.js';

/**
 * The schemas of the document. A DTO has the name of its class without `Dto`, with a number if the name is taken: modules can
 * have classes of the same name, and a DTO can have one schema as a request and one as a response.
 */
export class Schemas {
  readonly all: Record<string, Schema> = {
    ErrorCode: {
      ...components.schemas.ErrorCode,
      enum: documentedErrors().map(([code]) => code),
    },
    Error: components.schemas.Error,
    CursorMeta: CURSOR_META_SCHEMA,
    PageMeta: PAGE_META_SCHEMA,
  };

  private readonly names = {
    input: new Map<unknown, string>(),
    output: new Map<unknown, string>(),
  };

  private readonly free = freeNames(Object.keys(this.all));

  /** Returns a reference to the schema of a DTO as a request or response. */
  referenceTo(dto: Type<object>, direction: Direction): ReferenceObject {
    return this.add(dto, dto.name, direction, () => this.schemaOf(dto, direction));
  }

  /** Returns an example of a DTO; undefined if a required property has none. */
  exampleOf(...given: Parameters<typeof exampleOf>): ReturnType<typeof exampleOf> {
    return exampleOf(...given);
  }

  /** Returns a schema or the one to which it refers. */
  resolve(schema: Schema = {}): SchemaObject {
    return '$ref' in schema ? this.resolve(this.all[refersTo(schema.$ref) ?? '']) : schema;
  }

  /**
   * Adds a schema once, and returns a reference to it.
   * @param key identifies it among those of its direction
   * @param wanted its name, if that is free
   */
  protected add(
    key: unknown,
    wanted: string,
    direction: Direction,
    schemaOf: () => JsonSchema,
  ): ReferenceObject {
    const names = this.names[direction];
    const known = names.get(key);
    if (known !== undefined) return schemaRef(known);
    const name = this.free(wanted.replace(/Dto$/, ''));
    names.set(key, name);
    this.all[name] = {}; // A schema can refer to itself.
    this.all[name] = schemaOf() as Schema;
    return schemaRef(name);
  }

  protected schemaOf(dto: Type<object>, direction: Direction): JsonSchema {
    const schema = jsonSchemaOf(dto, direction);
    return direction === 'input' ? withoutDefaults(schema) : schema;
  }
}

/**
 * Moves defaults to the descriptions, at any depth. openapi-typescript makes properties with a default
 * required, so that clients would have to send them.
 */
function withoutDefaults({ default: value, properties, ...schema }: JsonSchema): JsonSchema {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const parts = [schema.description, value === undefined ? undefined : `Default: \`${text}\`.`];
  const description = parts.filter(Boolean).join(' ');
  const described = Object.entries(properties ?? {}).map(
    ([name, property]) => [name, withoutDefaults(property)] as const,
  );
  return {
    ...schema,
    ...(description && { description }),
    ...(properties && { properties: Object.fromEntries(described) }),
    ...(schema.items && { items: withoutDefaults(schema.items) }),
  };
}
