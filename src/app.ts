import type { DynamicModule, NestApplicationOptions } from '@nestjs/common';
import { DiscoveryService, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { repeatWhileDown } from './platform/data/connection/repeat-while-down.js';
import { KeysService } from './modules/auth/keys.service.js';
import { logger, withLoggedWarnings } from './platform/config/logger.js';
import { NestLogger } from './platform/config/nest-logger.js';
import type { Settings } from './platform/config/settings.js';
import { nameOfServer } from './platform/data/instances.js';
import { ConcurrencyLimit, TimeBudget } from './platform/data/gateway/policies.js';
import { ReadReplicas } from './platform/data/gateway/replicas/read-replicas.js';
import { ConsoleModule } from './platform/http/console/console.module.js';
import { DocsModule } from './platform/http/docs/docs.module.js';
import { handleClientErrors } from './platform/http/lifecycle/client-error-handler.js';
import { HttpAdapter } from './platform/http/lifecycle/http-adapter.js';
import { HttpModule } from './platform/http/http.module.js';
import { ApiDescription } from './platform/http/openapi/api-description.js';
import { localUrl } from './platform/http/openapi/server-url.js';
import { mcpExtension } from './modules/mcp/mcp.extension.js';
import { MetricsModule } from './platform/http/metrics.module.js';
import { Metrics } from './platform/http/metrics.js';
import { requestContext } from './platform/http/request/request-context.js';
import { startPage } from './platform/http/start-page.js';
import { shedLoad } from './platform/http/admission.js';
import { RateLimits } from './platform/access/limits/rate-limits.js';
import { RoutePlans } from './platform/http/route-plans.js';
import { assertOnlyHttp } from './platform/nest/only-http.js';
import { TeamRoutesModule } from './platform/nest/team-routes.module.js';
import { TeamRoutes } from './platform/nest/team-routes.js';
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

/**
 * Initializes a Nest application of `serverModule`. All servers and tests use it. What counts, limits and observes
 * requests comes before all routes; the routes and their plans are complete before Nest binds them in `init()`.
 */
export async function initApp(
  app: NestExpressApplication,
  adapter: HttpAdapter,
  settings: Settings,
): Promise<NestExpressApplication> {
  app.set('trust proxy', settings.trustProxy);
  const observe = settings.metrics ? app.get(Metrics).observe : undefined;
  if (settings.corsOrigins.length > 0) app.enableCors(corsOptions(settings.corsOrigins));
  const limit = app.get(ConcurrencyLimit);
  const plans = app.get(RoutePlans);
  const limits = app.get(RateLimits);
  app.use(shedLoad(app.getHttpServer(), limit, app.get(TimeBudget), limits, plans, observe));
  app.use(requestContext(observe));
  app.get(ApiDescription).describe(async () => {
    // Loaded on demand, because most servers are never asked for it.
    const { openApiDocument } = await import('./platform/nest/openapi-document.js');
    return openApiDocument(app, localUrl());
  });
  try {
    assertOnlyHttp(app.get(DiscoveryService));
    plans.compile((compiled) => app.get(TeamRoutes).adapt(compiled));
    // A module of a team can have a start page of its own.
    if (!plans.methodsAt(START_PAGE).includes('GET')) {
      adapter.getInstance<Express>().get(START_PAGE, startPage(settings));
      plans.addPath('GET', START_PAGE);
    }
    await app.init();
    // Commands take the default of new organizations from the database.
    await repeatWhileDown(() => app.get(KeysService).setDefaultPhoneRegion());
    await limits.connect();
    handleClientErrors(adapter, limits);
    const warning = await limits.unsharedWarning();
    if (warning) logger.warn(warning);
    await app.get(ReadReplicas).start();
  } catch (error) {
    await app.close().catch((closing: unknown) => {
      logger.error({ err: closing }, 'the application could not be closed');
    });
    throw error;
  }
  adapter.serveApplication();
  return app;
}

const START_PAGE = '/';

/** The root module of the server. It leaves out the pages and the sign-in that the settings switch off. */
export function serverModule(options: AppOptions): DynamicModule {
  const { docs, console, metrics } = options.settings;
  const pages = [
    ...(docs ? [DocsModule] : []),
    ...(console ? [ConsoleModule] : []),
    ...(metrics ? [MetricsModule.of(options.settings)] : []),
  ];
  return rootModule({
    applicationName: nameOfServer(),
    ...options,
    serverFeatures: [mcpExtension],
    serverModules: [HttpModule, TeamRoutesModule, ...pages, ...signIn(options.settings)],
  });
}

/** Loads a module of sign-in only if its setting is on, because its packages make the start slower. */
function signIn({ oauth, oauthIssuer }: Settings): Promise<DynamicModule>[] {
  const imports: Promise<DynamicModule>[] = [];
  if (oauth) {
    // On Node.js 20, oidc-provider warns that it is tested on later versions.
    const loaded = withLoggedWarnings(() => import('./modules/oauth/oauth.module.js'));
    imports.push(loaded.then(({ OAuthModule: module }) => ({ module })));
  }
  if (oauthIssuer !== undefined) {
    const loaded = import('./modules/oauth/issuer.module.js');
    imports.push(loaded.then(({ IssuerModule: module }) => ({ module })));
  }
  return imports;
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
