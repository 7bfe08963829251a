import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { ConfigModule } from './config/config.module.js';
import { NestLogger } from './config/logger.js';
import type { Settings } from './config/settings.js';
import type { DatabaseTarget } from './database/data-source-options.js';
import { DatabaseModule } from './database/database.module.js';
import { HttpAdapter } from './http/http-adapter.js';
import { HttpModule } from './http/http.module.js';
import { requestContext } from './http/request-context.js';

@Module({})
class RootModule {}

export interface AppOptions {
  readonly settings: Settings;
  readonly database: DatabaseTarget;
  /** Modules beside those of `AppModule`: a team's own, or a test's. */
  readonly modules?: readonly (Type<unknown> | DynamicModule)[];
}

/** Every module of the application. */
export function rootModule({ settings, database, modules = [] }: AppOptions): DynamicModule {
  return {
    module: RootModule,
    imports: [
      ConfigModule.of(settings),
      DatabaseModule.to(database),
      AppModule,
      HttpModule,
      ...modules,
    ],
  };
}

/** The application as it runs, ready to listen: what main, the tests and a team's tests share. */
export async function createApp(options: AppOptions): Promise<NestExpressApplication> {
  const { settings } = options;
  const app = await NestFactory.create<NestExpressApplication>(
    rootModule(options),
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
  app.use(requestContext);
  if (settings.corsOrigins.length > 0) app.enableCors(corsOptions(settings.corsOrigins));
  await app.init();
  return app;
}

function corsOptions(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    exposedHeaders: [
      'Location',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
    ],
    maxAge: 600,
  };
}
