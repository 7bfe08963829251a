import { NestFactory } from '@nestjs/core';
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { setLogLevel } from '../../platform/config/logger.js';
import { NestLogger } from '../../platform/config/nest-logger.js';
import { readSettings } from '../../platform/config/settings.js';
import { UnlimitedTimeBudget } from '../../platform/data/gateway/policies.js';
import { type DatabaseHandle, openDatabase } from '../open-database.js';
import type { Progress } from '../../platform/extension/command.js';
import type { LatitudeConfig } from '../../platform/extension/config.js';
import { settingsOf } from '../../platform/extension/listed-extensions.js';
import { rootModule } from '../../app.module.js';
import { isJson, writeResult } from './output.js';
import { createProgress } from './progress.js';

/** An open database. */
export interface CommandContext {
  readonly database: DatabaseHandle;
  readonly progress: Progress;
  /**
   * Starts the application, and stops it after the action.
   * @throws Error whose message says what to do if the schema of the database is not that of this program
   */
  readonly withApp: WithApp;
  /** The same, but migrates the database. */
  readonly withMigratingApp: WithApp;
}

type WithApp = <T>(action: (app: INestApplicationContext) => Promise<T>) => Promise<T>;

/** Runs an action on the database and prints its result, if there is one. */
export type RunOnDatabase = (
  action: (context: CommandContext) => Promise<unknown>,
) => Promise<void>;

/** Creates the function that opens the database for commands. */
export function databaseRunner(program: Command, config: LatitudeConfig): RunOnDatabase {
  return async (action) => {
    const json = isJson(program);
    const progress = createProgress(process.stderr.isTTY && !json ? process.stderr : undefined);
    const settings = readSettings(undefined, settingsOf(config.extensions));
    setLogLevel('silent');
    const database = await openDatabase(settings, 'command');
    try {
      const appRunner =
        (keepsSchema: boolean): WithApp =>
        async (work) => {
          const timeBudget = new UnlimitedTimeBudget();
          const { target } = database;
          const options = { ...config, settings, database: target, timeBudget, keepsSchema };
          const app = await createCommandApp(rootModule(options));
          try {
            return await work(app);
          } finally {
            await app.close();
          }
        };
      const [withApp, withMigratingApp] = [appRunner(true), appRunner(false)];
      const result = await action({ database, progress, withApp, withMigratingApp });
      if (result !== undefined || json) writeResult(result, json);
    } finally {
      await database.close();
    }
  };
}

/** Creates the application of a command. */
export function createCommandApp(root: DynamicModule): Promise<INestApplicationContext> {
  return NestFactory.createApplicationContext(root, {
    logger: new NestLogger(),
    abortOnError: false,
    instrument: { instanceDecorator: withoutSchedules },
  });
}

/**
 * Leaves out the `ScheduleExplorer` of @nestjs/schedule, which finds the methods with `@Cron`, `@Interval` and
 * `@Timeout`. It is found by its name, because the package is installed only by teams that use it.
 */
function withoutSchedules(instance: unknown): unknown {
  const isExplorer = instance instanceof Object && instance.constructor.name === 'ScheduleExplorer';
  return isExplorer ? {} : instance;
}
