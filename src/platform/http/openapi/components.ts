import { isDeepStrictEqual } from 'node:util';
import type { Type } from '@nestjs/common';
import { fieldsOf } from '../../fields/field.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { type Direction, jsonSchemaOf } from '../../fields/schema/schema-of.js';
import { plainPropertiesOf } from '../../fields/schema/validation-schema.js';
import type { Ref, Response, Schema } from './model.js';
import type { Exploration } from './exploration.js';
import { withoutDefaults } from './without-defaults.js';

const SCHEMAS = '#/components/schemas/';

/** Collects the schemas and responses that operations share. */
export class Components {
  readonly schemas: Record<string, Schema>;
  readonly responses: Record<string, Response> = {};
  private readonly names = new Map<Type<object>, Partial<Record<Direction, string>>>();
  /** The names of the adopted schemas, by their names in the exploration. */
  private readonly adopted = new Map<string, string>();

  /** @param schemas schemas that have no DTO */
  constructor(
    schemas: Readonly<Record<string, Schema>>,
    private readonly explored: Pick<Exploration, 'schemas' | 'refOf'>,
  ) {
    this.schemas = { ...schemas };
  }

  /** Returns a reference to the schema of a DTO, which is added on first use. */
  schemaOf(dto: Type<object>, direction: Direction): Ref {
    if (fieldsOf(dto).length === 0) return this.adopt({ $ref: this.explored.refOf(dto) });
    const names = this.names.get(dto) ?? {};
    const known = names[direction];
    if (known !== undefined) return schemaRef(known);
    const name = this.freeName(dto.name);
    this.names.set(dto, { ...names, [direction]: name });
    const schema = jsonSchemaOf(dto, direction);
    const documented = direction === 'input' ? withoutDefaults(schema) : schema;
    this.schemas[name] = this.withPlainProperties(dto, documented);
    return schemaRef(name);
  }

  /** Copies a part of the exploration, and adds the schemas that it refers to. */
  adopt<T>(part: unknown): T {
    const adoptAny = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(adoptAny);
      if (typeof value === 'string' && value.startsWith(SCHEMAS)) {
        return SCHEMAS + this.adoptSchema(value.slice(SCHEMAS.length));
      }
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, adoptAny(one)]));
    };
    return adoptAny(part) as T;
  }

  /** Returns the properties of a schema or of the component to which it refers. */
  propertiesOf(schema: Schema = {}): Readonly<Record<string, Schema>> {
    if (!('$ref' in schema)) return schema.properties ?? {};
    return this.propertiesOf(this.schemas[schema.$ref.slice(SCHEMAS.length)]);
  }

  /** Adds the properties of a DTO that are not fields, as the exploration describes them. */
  private withPlainProperties(dto: Type<object>, ofFields: JsonSchema): Schema {
    const names = new Set(plainPropertiesOf(dto).map(({ name }) => name));
    if (names.size === 0) return ofFields;
    const { [this.explored.refOf(dto).slice(SCHEMAS.length)]: explored } = this.explored.schemas;
    const { properties = {}, required = [] } = (explored ?? {}) as JsonSchema;
    const plain = Object.entries(properties).filter(([name]) => names.has(name));
    const allRequired = [
      ...(ofFields.required ?? []),
      ...required.filter((name) => names.has(name)),
    ];
    return {
      ...ofFields,
      properties: { ...ofFields.properties, ...this.adopt<object>(Object.fromEntries(plain)) },
      ...(allRequired.length > 0 && { required: allRequired }),
    };
  }

  /** Returns a reference to a response, which is created on first use. */
  response(name: string, make: () => Response): Ref {
    this.responses[name] ??= make();
    return { $ref: `#/components/responses/${name}` };
  }

  /** Returns the name of an explored schema, which equals a known one or is added. */
  private adoptSchema(explored: string): string {
    const { [explored]: schema } = this.explored.schemas;
    const known = this.adopted.get(explored);
    if (known !== undefined || !schema) return known ?? explored;
    const { [withoutSuffix(explored)]: own } = this.schemas;
    const isSame = isDeepStrictEqual(own, schema);
    const name = isSame ? withoutSuffix(explored) : this.freeName(explored);
    this.adopted.set(explored, name);
    if (isSame) return name;
    this.schemas[name] = {}; // A schema can refer to itself.
    this.schemas[name] = this.adopt(schema);
    return name;
  }

  /** Appends a number to a name that is in use, because modules can have DTOs of the same name. */
  private freeName(className: string): string {
    const name = withoutSuffix(className);
    let free = name;
    for (let number = 2; free in this.schemas; number++) free = `${name}${number}`;
    return free;
  }
}

function withoutSuffix(className: string): string {
  return className.replace(/Dto$/, '');
}

export function schemaRef(name: string): Ref {
  return { $ref: `${SCHEMAS}${name}` };
}
