import type { INestApplication } from '@nestjs/common';
import { APP_GUARD, ModulesContainer, RouterModule } from '@nestjs/core';
import { declaredHandlers } from '../discovery/declared-handlers.js';
import { enhancersOf } from '../discovery/nest-internals.js';
import { HttpModule } from '../http/http.module.js';
import { documentOf } from '../http/openapi/document.js';
import type { OpenApiDocument } from '../http/openapi/model.js';
import { restPlansOf } from '../http/openapi/routes.js';
import { isLatitudeController } from '../http/routes/api-controller.decorator.js';

/**
 * Creates the OpenAPI document of an application. Loads `@nestjs/swagger` only if a team has routes, because that takes 0.2 s
 * of CPU.
 * @param serverUrl URL of the server, without a path
 */
export async function openApiDocument(
  app: INestApplication,
  serverUrl: string,
): Promise<OpenApiDocument> {
  const modules = app.get(ModulesContainer);
  setModulePaths(modules);
  const isGuarded = hasGlobalGuard(modules);
  const plans = restPlansOf(declaredHandlers(modules)).map((plan) => {
    const guards = enhancersOf('guards', plan.controller, plan.handler);
    return { ...plan, isGuarded: isGuarded || guards.length > 0 };
  });
  const ofTeam = plans.filter(({ controller }) => !isLatitudeController(controller));
  if (ofTeam.length === 0) return documentOf(plans, serverUrl);
  const { SwaggerRoutes } = await import('./swagger-routes.js');
  const routes = new SwaggerRoutes(app, ofTeam);
  return documentOf(plans, serverUrl, routes, (route) => routes.describe(route));
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
