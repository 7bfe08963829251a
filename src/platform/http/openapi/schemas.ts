import type { Type } from '@nestjs/common';
import type { ReferenceObject, SchemaObject } from '@nestjs/swagger';
import { fieldsOf } from '../../fields/field.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import {
  type Direction,
  exampleOf,
  jsonSchemaOf,
  withProperties,
} from '../../fields/schema/schema-of.js';
import { freeNames, type PlainOperation, refersTo, type Schema, schemaRef } from './model.js';
import type { RoutePath } from './routes.js';

/** Describes plain routes of a team and their DTOs. `platform/nest` implements it. */
export interface PlainRoutes {
  /** @returns undefined if a decorator excludes the route from the document */
  operationOf(route: RoutePath, schemas: Schemas): PlainOperation | undefined;
  /** Returns the name of the schema of a DTO. */
  nameOf(dto: Type<object>): string;
  /** Returns the schema with a name. That of a DTO has its properties that are no fields. */
  schemaOf(name: string, schemas: Schemas): JsonSchema;
}

/**
 * The schemas of the document. A DTO has the name of its class without `Dto`, with a number if the name is taken: modules can
 * have classes of the same name, and a DTO can have one schema as a request and one as a response.
 */
export class Schemas {
  private readonly names = {
    input: new Map<unknown, string>(),
    output: new Map<unknown, string>(),
  };

  private readonly free: (name: string) => string;

  /**
   * @param all the schemas by name, to which those of DTOs are added
   * @param plain describes the plain routes of a team, if there are any
   */
  constructor(
    readonly all: Record<string, Schema>,
    private readonly plain: PlainRoutes | undefined,
  ) {
    this.free = freeNames(Object.keys(all));
  }

  /** Returns a reference to the schema of a DTO as a request or response. */
  referenceTo(dto: Type<object>, direction: Direction): ReferenceObject {
    const { plain } = this;
    const plainName = plain?.nameOf(dto) ?? '';
    const ofPlain = () => plain?.schemaOf(plainName, this) ?? {};
    if (fieldsOf(dto).length === 0) return this.add(plainName, plainName, 'output', ofPlain);
    return this.add(dto, dto.name, direction, () => {
      const declared = jsonSchemaOf(dto, direction);
      return withProperties(
        direction === 'input' ? withoutDefaults(declared) : declared,
        ofPlain(),
      );
    });
  }

  /** Returns an example of a DTO of fields; undefined if a required property has none. */
  exampleOf(...[dto, direction, choice]: Parameters<typeof exampleOf>) {
    if (fieldsOf(dto).length === 0) return undefined;
    const example = exampleOf(dto, direction, choice);
    const { required = [] } = this.resolve(this.referenceTo(dto, direction));
    return example && required.every((name) => name in example) ? example : undefined;
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
  add(
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
