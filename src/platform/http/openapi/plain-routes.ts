import type { Type } from '@nestjs/common';
import type {
  OperationObject,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
} from '@nestjs/swagger';
import type { Schema } from './model.js';
import type { RoutePath } from './routes.js';

/**
 * The plain routes of a team and their DTOs, which `@nestjs/swagger` describes by its decorators. `platform/nest` implements
 * it.
 */
export interface PlainRoutes {
  /** The schemas by name. That of a DTO of fields has the properties that are no fields. */
  readonly schemas: Readonly<Record<string, Schema>>;
  /** Returns the name of the schema of a DTO. */
  nameOf(dto: Type<object>): string;
  /** Returns the DTO of fields with a name. */
  dtoOf(name: string): Type<object> | undefined;
  /** @returns undefined if a decorator excludes the route from the document */
  operationOf(route: RoutePath): PlainOperation | undefined;
}

/** What decorators say about a route. References lead to `schemas`, and responses have no envelope. */
export interface PlainOperation extends Partial<Omit<OperationObject, 'responses'>> {
  readonly tags: string[];
  readonly parameters: ParameterObject[];
  readonly requestBody?: RequestBodyObject;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** What they say about other routes. */
export const NOT_PLAIN: PlainOperation = { tags: [], parameters: [], responses: {} };

export const NO_PLAIN_ROUTES: PlainRoutes = {
  schemas: {},
  nameOf: () => '',
  dtoOf: () => undefined,
  operationOf: () => NOT_PLAIN,
};
