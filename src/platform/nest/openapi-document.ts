import type { INestApplication, Type } from '@nestjs/common';
import { APP_GUARD, ModulesContainer, RouterModule } from '@nestjs/core';
import { declaredHandlers } from '../discovery/declared-handlers.js';
import { parametersOf, takesHeaders } from '../discovery/nest-internals.js';
import { fieldsOf } from '../fields/field.js';
import { hasPlainProperties } from '../fields/validation/properties.js';
import { HttpModule } from '../http/http.module.js';
import { documentOf } from '../http/openapi/document.js';
import type { OpenApiDocument } from '../http/openapi/model.js';
import { type RestHandler, restHandlersOf, resultsOf } from '../http/openapi/routes.js';

/**
 * Creates the OpenAPI document of an application. Loads `@nestjs/swagger` only if there are plain routes of a team, because
 * that takes 0.2 s of CPU.
 * @param serverUrl URL of the server, without a path
 */
export async function openApiDocument(
  app: INestApplication,
  serverUrl: string,
): Promise<OpenApiDocument> {
  const modules = app.get(ModulesContainer);
  setModulePaths(modules);
  const handlers = restHandlersOf(declaredHandlers(modules), hasGlobalGuard(modules));
  const plain = handlers.filter(isPlain);
  if (plain.length === 0) return documentOf(handlers, serverUrl);
  const { SwaggerRoutes } = await import('./swagger-routes.js');
  return documentOf(handlers, serverUrl, new SwaggerRoutes(app, plain));
}

/** Whether a module of a team has a guard with `APP_GUARD`. Those of Latitude are in `HttpModule`. */
function hasGlobalGuard(modules: ModulesContainer): boolean {
  const ofTeam = [...modules.values()].filter(({ metatype }) => metatype !== HttpModule);
  const tokens = ofTeam.flatMap(({ providers }) => [...providers.keys()]);
  return tokens.some((token) => String(token).startsWith(APP_GUARD));
}

/** Sets the paths that `RouterModule` declares: the preview of an application instantiates no modules. */
function setModulePaths(modules: ModulesContainer): void {
  for (const { metatype, providers } of modules.values()) {
    if (metatype !== RouterModule) continue;
    const values = [...providers.values()].map(({ instance }): unknown => instance);
    for (const routes of values) if (Array.isArray(routes)) new RouterModule(modules, routes);
  }
}

/**
 * Whether `@nestjs/swagger` describes a route: the handler, its controller or its DTOs have decorators of that package, or it
 * takes or returns something else than DTOs of fields.
 */
export function isPlain(route: RestHandler): boolean {
  const { controller, name, handler } = route;
  return (
    [controller, handler].some(hasSwaggerMetadata) ||
    takesHeaders(controller, name) ||
    !resultsOf(route).every(isDtoOfFields) ||
    parametersOf(controller, name).some(({ source, name: part, type }) => {
      if (source === 'param') return type !== (String as unknown);
      return part !== undefined || type === undefined || !isDtoOfFields(type);
    })
  );
}

function isDtoOfFields(dto: Type<object>): boolean {
  const { prototype } = dto as { prototype: object };
  return fieldsOf(dto).length > 0 && !hasPlainProperties(dto) && !hasSwaggerMetadata(prototype);
}

/** The package has these keys in `DECORATORS`, but must not be loaded for them. */
function hasSwaggerMetadata(target: object): boolean {
  const keys = Reflect.getMetadataKeys(target) as unknown[];
  return keys.some((key) => typeof key === 'string' && key.startsWith('swagger/'));
}
