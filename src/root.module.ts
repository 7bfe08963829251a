import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AppModule, FEATURES } from './app.module.js';
import { AuthModule } from './modules/auth/auth.module.js';
import { ConfigModule } from './platform/config/config.module.js';
import type { Settings } from './platform/config/settings.js';
import type { DatabaseTarget } from './platform/data/connection/data-source-options.js';
import { DatabaseModule } from './platform/data/database.module.js';
import { type TimeBudget, ServerTimeBudget } from './platform/data/gateway/time-budget.js';
import type { Extension } from './platform/extension/extension.js';
import { EXTENSION_POINTS } from './extension-points.js';
import { ExtensionPointsModule } from './platform/extension/extension-points.module.js';
import {
  checkExtensions,
  extensionMigrationsOf,
  settingsOf,
} from './platform/extension/extensions.js';
import { MetricsRegistryModule } from './platform/metrics-registry.js';
import { JobsModule } from './platform/jobs/jobs.module.js';

@Module({})
class RootModule {}

export interface AppOptions {
  readonly settings: Settings;
  readonly database: DatabaseTarget;
  /** Time budget of database operations. Default: that of a server. */
  readonly timeBudget?: TimeBudget;
  /** Name of the connections in the views of PostgreSQL. */
  readonly applicationName?: string;
  /** Called before this instance migrates the database or waits for another instance to do so. */
  readonly beforeMigrating?: () => Promise<void>;
  /** The extensions of a team. */
  readonly extensions?: readonly Extension[];
  /** Modules that belong to no extension. */
  readonly modules?: readonly (Type<unknown> | DynamicModule)[];
  /** Modules of Latitude that only the server has. */
  readonly serverModules?: readonly Type<unknown>[];
}

/**
 * The root module of the server and of the command line, with all features.
 * @throws ExtensionError
 */
export function rootModule({
  settings,
  database: target,
  timeBudget = new ServerTimeBudget(),
  applicationName,
  beforeMigrating,
  extensions = [],
  modules = [],
  serverModules = [],
}: AppOptions): DynamicModule {
  checkExtensions(FEATURES, extensions);
  const extensionMigrations = extensionMigrationsOf(extensions);
  const tables = [...FEATURES, ...extensions].flatMap((extension) => extension.tables);
  const ownModules = [
    ConfigModule.forRoot(settings, Object.keys(settingsOf(extensions))),
    DatabaseModule.forRoot({
      target,
      timeBudget,
      applicationName,
      beforeMigrating,
      extensionMigrations,
      tables,
    }),
    AuthModule,
    JobsModule,
    MetricsRegistryModule,
    ...serverModules,
    AppModule,
    // Imported here too, so that the OpenAPI document has them before the modules of a team.
    ...FEATURES.map(({ module }) => module),
  ];
  return {
    module: RootModule,
    imports: [
      // The guards and the error filter of Latitude come before those of a team's modules.
      ...ownModules,
      ExtensionPointsModule.of(EXTENSION_POINTS, extensions, ownModules),
      ...extensions.map(({ module }) => module),
      ...modules,
    ],
  };
}
