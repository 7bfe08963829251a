import type { Type } from '@nestjs/common';
import type { ReferenceObject } from '@nestjs/swagger';
import { fieldsOf } from '../../fields/field.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { type Direction, jsonSchemaOf } from '../../fields/schema/schema-of.js';
import type { PlainOperation, PlainRoutes } from './plain-routes.js';
import { freeNames, refersTo, type Schema, schemaRef } from './model.js';

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
   * @param plain what `@nestjs/swagger` knows of the routes and the DTOs of a team
   */
  constructor(
    readonly all: Record<string, Schema>,
    private readonly plain: PlainRoutes,
  ) {
    this.free = freeNames(Object.keys(all));
  }

  /** Returns a reference to the schema of a DTO as a request or response. */
  referenceTo(dto: Type<object>, direction: Direction): ReferenceObject {
    const ofPlain = this.plain.nameOf(dto);
    if (fieldsOf(dto).length === 0) return this.adopt(schemaRef(ofPlain));
    return this.add(dto, dto.name, direction, () => {
      const declared = jsonSchemaOf(dto, direction);
      const schema = direction === 'input' ? withoutDefaults(declared) : declared;
      const others = this.adopt(this.plain.schemas[ofPlain] ?? {}) as JsonSchema;
      const required = [...(schema.required ?? []), ...(others.required ?? [])];
      return {
        ...schema,
        properties: { ...schema.properties, ...others.properties },
        ...(required.length > 0 && { required }),
      } as Schema;
    });
  }

  /** Copies an operation of `@nestjs/swagger`, and adds the schemas to which it refers. */
  adoptOperation({ requestBody, ...others }: PlainOperation): PlainOperation {
    const body = requestBody && this.adopt(requestBody, 'input');
    return { ...this.adopt(others), ...(body && { requestBody: body }) };
  }

  private adopt<T extends object>(part: T, direction: Direction = 'output'): T {
    return JSON.parse(JSON.stringify(part), (_, value: unknown) => {
      const name = refersTo(value);
      return name === undefined ? value : this.adoptSchema(name, direction).$ref;
    }) as T;
  }

  /** Returns the properties of a schema or of the one to which it refers. */
  propertiesOf(schema: Schema = {}): Readonly<Record<string, Schema>> {
    if (!('$ref' in schema)) return schema.properties ?? {};
    return this.propertiesOf(this.all[refersTo(schema.$ref) ?? '']);
  }

  private adoptSchema(name: string, direction: Direction): ReferenceObject {
    const dto = this.plain.dtoOf(name);
    if (dto) return this.referenceTo(dto, direction);
    const schema = this.plain.schemas[name];
    return schema ? this.add(name, name, 'output', () => this.adopt(schema)) : schemaRef(name);
  }

  private add(key: unknown, wanted: string, direction: Direction, schemaOf: () => Schema) {
    const names = this.names[direction];
    const known = names.get(key);
    if (known !== undefined) return schemaRef(known);
    const name = this.free(wanted.replace(/Dto$/, ''));
    names.set(key, name);
    this.all[name] = {}; // A schema can refer to itself.
    this.all[name] = schemaOf();
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
