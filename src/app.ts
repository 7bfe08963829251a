import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { ConfigModule } from './config/config.module.js';
import { NestLogger } from './config/logger.js';
import type { Settings } from './config/settings.js';
import type { DatabaseTarget } from './database/data-source-options.js';
import { DatabaseModule } from './database/database.module.js';
import { Load } from './database/load.js';
import { type Patience, ServerPatience } from './database/patience.js';
import { DocsModule } from './http/docs.module.js';
import { HttpAdapter } from './http/http-adapter.js';
import { HttpModule } from './http/http.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { MetricsModule } from './http/metrics.module.js';
import { Metrics } from './http/metrics.js';
import { type Observer, requestContext } from './http/request-context.js';
import { shedLoad } from './http/shed-load.js';
import { RateLimits } from './rate-limit/rate-limits.js';

@Module({})
class RootModule {}

export interface AppOptions {
  readonly settings: Settings;
  readonly database: DatabaseTarget;
  /** How long work on the database may take; that of a server by default. */
  readonly patience?: Patience;
  /** Modules beside those of `AppModule`: a team's own, or a test's. */
  readonly modules?: readonly (Type<unknown> | DynamicModule)[];
}

/** Every module of the application. */
export function rootModule({
  settings,
  database,
  patience = new ServerPatience(),
  modules = [],
}: AppOptions): DynamicModule {
  return {
    module: RootModule,
    imports: [
      ConfigModule.of(settings),
      DatabaseModule.to(database, patience),
      AppModule,
      McpModule,
      HttpModule,
      ...modules,
    ],
  };
}

/** The application as it runs, ready to listen: what main, the tests and a team's tests share. */
export async function createApp(options: AppOptions): Promise<NestExpressApplication> {
  const { settings, modules = [] } = options;
  const app = await NestFactory.create<NestExpressApplication>(
    rootModule({ ...options, modules: [...optionalPages(settings), ...modules] }),
    new HttpAdapter(),
    {
      bodyParser: false,
      logger: new NestLogger(),
      abortOnError: false,
      // The most specific route answers, in whatever order modules are listed.
      routeResolutionStrategy: 'specificity',
    },
  );
  app.set('trust proxy', settings.trustProxy);
  const observe = settings.metrics ? observerOf(app) : undefined;
  if (settings.corsOrigins.length > 0) app.enableCors(corsOptions(settings.corsOrigins));
  app.use(shedLoad(app.get(Load), app.get(RateLimits), observe));
  app.use(requestContext(observe));
  await app.init();
  return app;
}

/** The pages that the settings can switch off. */
function optionalPages({ docs, metrics }: Settings) {
  return [...(docs ? [DocsModule] : []), ...(metrics ? [MetricsModule] : [])];
}

function observerOf(app: NestExpressApplication): Observer {
  const metrics = app.get(Metrics);
  return (finished) => {
    metrics.observe(finished);
  };
}

function corsOptions(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
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
    // A preflight too passes the guards, which tell it the limits.
    preflightContinue: true,
  };
}
