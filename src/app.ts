import type { DynamicModule, NestApplicationOptions } from '@nestjs/common';
import { ApplicationConfig, DiscoveryService, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { repeatWhileDown } from './platform/data/connection/repeat-while-down.js';
import { KeysService } from './modules/auth/keys.service.js';
import { logger, NestLogger } from './platform/config/logger.js';
import type { Settings } from './platform/config/settings.js';
import { nameOfServer } from './platform/data/instances.js';
import { ConcurrencyLimit } from './platform/data/gateway/policies.js';
import { TimeBudget } from './platform/data/gateway/time-budget.js';
import { Replicas } from './platform/data/replicas/replicas.js';
import { type DeclaredHandler, declaredHandlers } from './platform/discovery/declared-handlers.js';
import { DocsModule } from './platform/http/docs/docs.module.js';
import { HttpAdapter } from './platform/http/lifecycle/http-adapter.js';
import { HttpModule } from './platform/http/http.module.js';
import { ApiDescription } from './platform/http/openapi/api-description.js';
import { assertOnlyHttp } from './platform/http/only-http.js';
import { McpModule } from './modules/mcp/mcp.module.js';
import { MetricsModule } from './platform/http/metrics/metrics.module.js';
import { Metrics } from './platform/http/metrics/metrics.js';
import { type RequestObserver, requestContext } from './platform/http/request/request-context.js';
import { startPage } from './platform/http/start-page/start-page.handler.js';
import { CATCH_ALL_PATH } from './platform/http/unknown-routes.controller.js';
import { shedLoad } from './platform/http/admission/shed-load.js';
import { RateLimits } from './platform/access/limits/rate-limits.js';
import { interceptAround } from './platform/http/response/around-handler.interceptor.js';
import {
  globalInterceptorsOf,
  teamInterceptorsOf,
} from './platform/http/response/declared-interceptors.js';
import { type RoutePath, ROUTE_TABLE, RouteTable } from './platform/http/response/route-table.js';
import { UnsharedLimitsWarning } from './platform/access/limits/unshared-limits-warning.js';
import { type AppOptions, rootModule } from './app.module.js';

/** Options of the Nest application. */
export const NEST_OPTIONS = {
  bodyParser: false,
  logger: new NestLogger(),
  abortOnError: false,
  // The most specific route matches, independently of the order of the modules.
  routeResolutionStrategy: 'specificity',
  routeConflictPolicy: { duplicate: 'error' },
} as const satisfies NestApplicationOptions;

/**
 * Creates the application, ready to listen.
 * @param adapter its server may be listening already
 */
export async function createApp(
  options: AppOptions,
  adapter = new HttpAdapter(),
): Promise<NestExpressApplication> {
  const root = serverModule(options);
  const app = await NestFactory.create<NestExpressApplication>(root, adapter, NEST_OPTIONS);
  return initApp(app, adapter, options.settings);
}

/** Initializes a Nest application of `serverModule`. All servers and tests use it. */
export async function initApp(
  app: NestExpressApplication,
  adapter: HttpAdapter,
  settings: Settings,
): Promise<NestExpressApplication> {
  app.set('trust proxy', settings.trustProxy);
  const observe = settings.metrics ? observerOf(app) : undefined;
  if (settings.corsOrigins.length > 0) app.enableCors(corsOptions(settings.corsOrigins));
  const limit = app.get(ConcurrencyLimit);
  app.use(shedLoad(app.getHttpServer(), limit, app.get(TimeBudget), app.get(RateLimits), observe));
  app.use(requestContext(observe));
  app.get(ApiDescription).describe(app);
  try {
    assertOnlyHttp(app.get(DiscoveryService));
    const handlers = declaredHandlers(app.get(DiscoveryService));
    const routes = routesOf(handlers, adapter);
    if (!routes.some(isStartPage)) {
      adapter.getInstance<Express>().get(START_PAGE.path, startPage(settings));
      routes.push(START_PAGE);
    }
    const intercepted = interceptHandlers(app.get(ApplicationConfig), handlers);
    app.setLocal(ROUTE_TABLE, new RouteTable(routes, intercepted));
    await app.init();
    await repeatWhileDown(() => app.get(KeysService).setDefaultPhoneRegion());
    await app.get(RateLimits).connect();
    await app.get(UnsharedLimitsWarning).log();
    await app.get(Replicas).start();
  } catch (error) {
    await app.close().catch((closing: unknown) => {
      logger.error({ err: closing }, 'the application could not be closed');
    });
    throw error;
  }
  adapter.serveApplication();
  return app;
}

/** Adds the innermost interceptor to the handlers on which interceptors of a team run, and returns these. */
function interceptHandlers(
  config: ApplicationConfig,
  declared: readonly DeclaredHandler[],
): ReadonlySet<object> {
  const isGlobal = globalInterceptorsOf(config).length > 0;
  const intercepted = declared.filter(
    ({ controller, handler }) => isGlobal || teamInterceptorsOf(controller, handler).length > 0,
  );
  const handlers = intercepted.map(({ handler }) => handler);
  for (const handler of handlers) interceptAround(handler);
  return new Set(handlers);
}

function routesOf(handlers: readonly DeclaredHandler[], adapter: HttpAdapter): RoutePath[] {
  const routes = handlers.flatMap(({ route, paths }) =>
    paths.map((path) => ({
      method: route.slice(0, route.indexOf(' ')),
      path: adapter.normalizePath(path),
    })),
  );
  return routes.filter(({ path }) => !path.endsWith(CATCH_ALL_PATH));
}

const START_PAGE: RoutePath = { method: 'GET', path: '/' };

/** A module of a team can have a start page of its own. */
function isStartPage({ method, path }: RoutePath): boolean {
  return method === START_PAGE.method && path === START_PAGE.path;
}

/** The root module of the server. It leaves out the pages that the settings switch off. */
export function serverModule(options: AppOptions): DynamicModule {
  const { docs, metrics } = options.settings;
  const pages = [...(docs ? [DocsModule] : []), ...(metrics ? [MetricsModule] : [])];
  return rootModule({
    applicationName: nameOfServer(),
    ...options,
    serverModules: [McpModule, HttpModule, ...pages],
  });
}

function observerOf(app: NestExpressApplication): RequestObserver {
  const metrics = app.get(Metrics);
  return (finished) => {
    metrics.observe(finished);
  };
}

function corsOptions(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    // Latitude has no PATCH, but routes of teams can have it.
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'ETag',
      'Idempotency-Replayed',
      'Location',
      'Mcp-Session-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
    ],
    maxAge: 600,
    // A preflight request also passes the guards, which set its rate limit headers.
    preflightContinue: true,
  };
}
