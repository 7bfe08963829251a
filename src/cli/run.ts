import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { instanceToPlain } from 'class-transformer';
import type { Command } from 'commander';
import { NestLogger, setLogLevel } from '../config/logger.js';
import { readSettings, type Settings } from '../config/settings.js';
import { UnlimitedTimeBudget } from '../database/gateway/time-budget.js';
import { type OpenDatabase, openDatabase } from '../database/connection/open-database.js';
import { rootModule } from '../root.module.js';
import { type Progress, createProgress } from './progress.js';

/** The work of a command with the services of the application. Its result is printed. */
export type Action = (app: INestApplicationContext, progress: Progress) => Promise<unknown>;

/** Runs an action and prints its result. */
export type Run = (action: Action) => Promise<void>;

/** An open database, which the application has not migrated yet. */
export interface CommandContext {
  readonly database: OpenDatabase;
  readonly progress: Progress;
  /** Starts the application, which migrates the database, and stops it after the action. */
  readonly withApp: <T>(action: (app: INestApplicationContext) => Promise<T>) => Promise<T>;
}

/** Creates the function that runs the actions of commands. */
export function createRunner(program: Command): Run {
  return (action) =>
    runOnDatabase(program, ({ withApp, progress }) => withApp((app) => action(app, progress)));
}

/** Runs an action on the database and prints its result, if there is one. */
export async function runOnDatabase(
  program: Command,
  action: (context: CommandContext) => Promise<unknown>,
): Promise<void> {
  const { json = false } = program.opts<{ json?: boolean }>();
  const progress = createProgress(process.stderr.isTTY && !json ? process.stderr : undefined);
  const settings = readSettings();
  setLogLevel('silent');
  const database = await openDatabase(settings, 'command');
  try {
    const result = await action({
      database,
      progress,
      withApp: (work) => withApplication(settings, database, work),
    });
    if (result !== undefined) print(instanceToPlain(result), json);
  } finally {
    await database.close();
  }
}

async function withApplication<T>(
  settings: Settings,
  database: OpenDatabase,
  action: (app: INestApplicationContext) => Promise<T>,
): Promise<T> {
  let app: INestApplicationContext | undefined;
  try {
    const timeBudget = new UnlimitedTimeBudget();
    const root = rootModule({ settings, database: database.target, timeBudget });
    app = await NestFactory.createApplicationContext(root, {
      logger: new NestLogger(),
      abortOnError: false,
    });
    return await action(app);
  } finally {
    await app?.close();
  }
}

function print(result: unknown, json: boolean): void {
  if (json) console.log(JSON.stringify(result));
  else if (Array.isArray(result)) console.table(result);
  else
    for (const [name, value] of Object.entries(result as object))
      console.log(`${name}: ${formatValue(value)}`);
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
