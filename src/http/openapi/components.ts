import type { Type } from '@nestjs/common';
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
    this.schemas[name] = jsonSchemaOf(dto, direction);
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

/** Points to a schema by its name. */
export function schemaRef(name: string): Ref {
  return { $ref: `#/components/schemas/${name}` };
}
