import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AppModule } from './app.module.js';
import { AuthModule } from './auth/auth.module.js';
import { ConfigModule } from './config/config.module.js';
import type { Settings } from './config/settings.js';
import type { DatabaseTarget } from './database/connection/data-source-options.js';
import { DatabaseModule } from './database/database.module.js';
import { type TimeBudget, ServerTimeBudget } from './database/gateway/time-budget.js';
import { JobsModule } from './jobs/jobs.module.js';

@Module({})
class RootModule {}

export interface AppOptions {
  readonly settings: Settings;
  readonly database: DatabaseTarget;
  /** Time budget of database operations. Default: that of a server. */
  readonly timeBudget?: TimeBudget;
  /** Called before this instance migrates the database or waits for another instance to do so. */
  readonly beforeMigrating?: () => Promise<void>;
  /** Modules in addition to those of `AppModule`. */
  readonly modules?: readonly (Type<unknown> | DynamicModule)[];
}

/** The root module of the server and of the command line, with all features. */
export function rootModule({
  settings,
  database,
  timeBudget = new ServerTimeBudget(),
  beforeMigrating,
  modules = [],
}: AppOptions): DynamicModule {
  return {
    module: RootModule,
    imports: [
      ConfigModule.of(settings),
      DatabaseModule.to(database, timeBudget, beforeMigrating),
      AuthModule,
      JobsModule,
      AppModule,
      ...modules,
    ],
  };
}
