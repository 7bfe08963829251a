import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { instanceToPlain } from 'class-transformer';
import type { Command } from 'commander';
import { NestLogger, setLogLevel } from '../config/logger.js';
import { readSettings } from '../config/settings.js';
import { CommandPatience } from '../database/patience.js';
import { openDatabase } from '../database/open-database.js';
import { rootModule } from '../root.module.js';
import { type Progress, progressOn } from './progress.js';

/** What a command does with the application's own services; its result is printed. */
export type Action = (app: INestApplicationContext, progress: Progress) => Promise<unknown>;

/** Does one thing and prints what came of it. */
export type Run = (action: Action) => Promise<void>;

/** How the commands of a program run. */
export function runnerOf(program: Command): Run {
  return async (action) => {
    const { json = false } = program.opts<{ json?: boolean }>();
    const progress = progressOn(process.stderr.isTTY && !json ? process.stderr : undefined);
    print(await withApp((app) => action(app, progress)), json);
  };
}

async function withApp(
  action: (app: INestApplicationContext) => Promise<unknown>,
): Promise<unknown> {
  const settings = readSettings();
  setLogLevel('silent');
  const database = await openDatabase(settings, 'command');
  let app: INestApplicationContext | undefined;
  try {
    const patience = new CommandPatience();
    const root = rootModule({ settings, database: database.target, patience });
    app = await NestFactory.createApplicationContext(root, {
      logger: new NestLogger(),
      abortOnError: false,
    });
    return instanceToPlain(await action(app));
  } finally {
    await app?.close();
    await database.close();
  }
}

function print(result: unknown, json: boolean): void {
  if (json) console.log(JSON.stringify(result));
  else if (Array.isArray(result)) console.table(result);
  else
    for (const [name, value] of Object.entries(result as object))
      console.log(`${name}: ${show(value)}`);
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
