import type { JsonSchema } from '../../fields/schema/json-schema.js';

/** A reference to a component of the document. */
export interface Ref {
  readonly $ref: string;
}

type Named<T> = Readonly<Record<string, T>>;

/** A JSON schema that can contain references to components. */
export type Schema =
  Ref | JsonSchema | (Omit<JsonSchema, 'anyOf' | 'items' | 'properties'> & Composed);

interface Composed {
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Named<Schema>;
}

export interface Header {
  readonly description: string;
  /** Whether every response that names the header has it. */
  readonly required?: boolean;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Named<{ readonly summary?: string; readonly value: unknown }>;
}

export type Content = { readonly 'application/json'?: MediaType } & Named<MediaType>;

export interface Response {
  readonly description: string;
  readonly headers: Named<Ref | Header>;
  readonly content?: Content;
}

/** The responses that decorators of @nestjs/swagger describe, by status. */
export type DeclaredResponses = Named<Partial<Response>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface RequestBody {
  readonly required?: boolean;
  readonly content: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Named<readonly string[]>[];
  /** An extension, because OpenAPI has scopes only for OAuth. */
  readonly 'x-required-scope'?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Named<Response | Ref>;
}

/** The parts of an OpenAPI 3.1 document that this API uses. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Named<Named<Operation>>;
  readonly components: {
    readonly securitySchemes: Named<unknown>;
    readonly schemas: Named<Schema>;
    readonly responses: Named<Response>;
    readonly headers: Named<Header>;
  };
}
