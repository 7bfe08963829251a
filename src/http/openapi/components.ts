import type { Type } from '@nestjs/common';
import type { JsonSchema } from '../../fields/json-schema.js';
import { type Direction, jsonSchemaOf } from '../../fields/schema-of.js';
import type { Ref, Response, Schema } from './model.js';

/** What several operations share, collected while they are described. */
export class Components {
  readonly schemas: Record<string, Schema>;
  readonly responses: Record<string, Response> = {};
  private readonly names = new Map<Type<object>, Partial<Record<Direction, string>>>();

  /** @param schemas those that are no DTOs */
  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.schemas = { ...schemas };
  }

  /** The schema of a DTO. */
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

  /** A response that is made the first time it is asked for. */
  response(name: string, make: () => Response): Ref {
    this.responses[name] ??= make();
    return { $ref: `#/components/responses/${name}` };
  }

  /** Two modules may call their DTOs the same. */
  private freeName(name: string): string {
    let free = name;
    for (let number = 2; free in this.schemas; number++) free = `${name}${number}`;
    return free;
  }
}

/**
 * Names each default in the description instead: openapi-typescript takes a property with a default
 * for one that is always there, and its clients then require it in a request.
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

/** Points to a schema by its name. */
export function schemaRef(name: string): Ref {
  return { $ref: `#/components/schemas/${name}` };
}
