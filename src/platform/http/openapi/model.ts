import type {
  HeaderObject,
  InfoObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';

export const JSON_TYPE = 'application/json';

const SCHEMAS = '#/components/schemas/';

export type Schema = SchemaObject | ReferenceObject;

export interface Operation extends OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  /** An extension, because OpenAPI has scopes only for OAuth. */
  'x-required-scope'?: string;
  /** Scopes that a key needs as well. */
  'x-further-scopes'?: readonly string[];
  parameters?: ParameterObject[];
  requestBody?: RequestBodyObject;
  responses: Record<string, ResponseObject | ReferenceObject>;
}

/** The parts of an OpenAPI 3.1 document that this API uses. */
export interface OpenApiDocument extends Required<
  Pick<OpenAPIObject, 'openapi' | 'servers' | 'tags'>
> {
  info: InfoObject & { summary: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: {
    securitySchemes: object;
    schemas: Record<string, Schema>;
    responses: Record<string, ResponseObject>;
    headers: Record<string, HeaderObject>;
  };
}

export function schemaRef(name: string): ReferenceObject {
  return { $ref: SCHEMAS + name };
}

/** Returns the name of the schema to which a reference leads; undefined for any other value. */
export function refersTo(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(SCHEMAS)
    ? value.slice(SCHEMAS.length)
    : undefined;
}

/** Returns a function that appends a number to names that are in use. */
export function freeNames(used: Iterable<string>): (name: string) => string {
  const taken = new Set(used);
  return (name) => {
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}${number}`;
    taken.add(free);
    return free;
  };
}
