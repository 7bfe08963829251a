import type { Type } from '@nestjs/common';
import type { JsonSchema } from '../../fields/json-schema.js';
import { type Direction, jsonSchemaOf } from '../../fields/schema-of.js';
import type { Ref, Response, Schema } from './model.js';

/** Collects the schemas and responses that operations share. */
export class Components {
  readonly schemas: Record<string, Schema>;
  readonly responses: Record<string, Response> = {};
  private readonly names = new Map<Type<object>, Partial<Record<Direction, string>>>();

  /** @param schemas schemas that have no DTO */
  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.schemas = { ...schemas };
  }

  /** Returns a reference to the schema of a DTO, which is added on first use. */
  schemaOf(dto: Type<object>, direction: Direction): Ref {
    const names = this.names.get(dto) ?? {};
    const known = names[direction];
    if (known !== undefined) return schemaRef(known);
    const name = this.freeName(dto.name.replace(/Dto$/, ''));
    this.names.set(dto, { ...names, [direction]: name });
    const schema = jsonSchemaOf(dto, direction);
    this.schemas[name] = direction === 'input' ? withoutDefaults(schema) : schema;
    return schemaRef(name);
  }

  /** Returns a reference to a response, which is created on first use. */
  response(name: string, make: () => Response): Ref {
    this.responses[name] ??= make();
    return { $ref: `#/components/responses/${name}` };
  }

  /** Appends a number to a name that is in use, because modules can have DTOs of the same name. */
  private freeName(name: string): string {
    let free = name;
    for (let number = 2; free in this.schemas; number++) free = `${name}${number}`;
    return free;
  }
}

/**
 * Moves defaults to the descriptions. openapi-typescript makes properties with a default required,
 * so that clients would have to send them.
 */
function withoutDefaults({ properties = {}, ...schema }: JsonSchema): JsonSchema {
  const described = Object.entries(properties).map(
    ([name, { default: value, ...property }]): [string, JsonSchema] => {
      if (value === undefined) return [name, property];
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const description = [property.description, `Default: \`${text}\`.`].filter(Boolean).join(' ');
      return [name, { ...property, description }];
    },
  );
  return { ...schema, properties: Object.fromEntries(described) };
}

/** Returns a reference to a schema. */
export function schemaRef(name: string): Ref {
  return { $ref: `#/components/schemas/${name}` };
}
