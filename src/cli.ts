#!/usr/bin/env node
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { instanceToPlain } from 'class-transformer';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { rootModule } from './app.js';
import { KeysService } from './auth/keys.service.js';
import { SCOPES, type Scope } from './auth/scopes.js';
import { NestLogger, setLogLevel } from './config/logger.js';
import { readSettings } from './config/settings.js';
import { openDatabase } from './database/open-database.js';
import { UUID } from './fields/uuid.js';

const MS_PER_UNIT = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The furthest end of a key's life; what lies beyond may be no date that can be stored. */
const LONGEST_DURATION_MS = 36_500 * MS_PER_UNIT.d;

const program = new Command('latitude')
  .description('Manages organizations and their API keys.')
  .option('--json', 'print one JSON value and nothing else')
  .exitOverride();

const organizations = program.command('organizations').description('tenants of this service');
organizations
  .command('create')
  .requiredOption('--name <name>', 'name of the organization')
  .action(({ name }: { name: string }) => run((keys) => keys.createOrganization(name)));
organizations.command('list').action(() => run((keys) => keys.listOrganizations()));

const keys = program.command('keys').description('API keys of an organization');
keys
  .command('create')
  .requiredOption('--organization <id>', 'id of the organization', uuid)
  .requiredOption('--name <name>', 'what the key is for')
  .requiredOption('--scopes <scopes>', `all, or some of ${SCOPES.join(',')}`, scopes)
  .option('--expires-in <duration>', 'such as 90d', duration)
  .option('--user-id <id>', 'user whom the records made with the key name', uuid)
  .action((options: CreateKeyOptions) =>
    run((service) =>
      service.createKey({
        organizationId: options.organization,
        name: options.name,
        scopes: options.scopes,
        expiresAt: options.expiresIn ? new Date(Date.now() + options.expiresIn) : null,
        userId: options.userId,
      }),
    ),
  );
keys
  .command('list')
  .requiredOption('--organization <id>', 'id of the organization', uuid)
  .action(({ organization }: { organization: string }) =>
    run((service) => service.listKeys(organization)),
  );
keys
  .command('revoke')
  .argument('<id>', 'id of the key', uuid)
  .action((id: string) => run((service) => service.revoke(id)));
keys
  .command('rotate')
  .argument('<id>', 'id of the key', uuid)
  .addOption(
    new Option('--overlap <duration>', 'how long the old key goes on working')
      .argParser(duration)
      .default(0, 'none'),
  )
  .action((id: string, { overlap }: { overlap: number }) =>
    run((service) => service.rotate(id, overlap)),
  );

program
  .command('migrate')
  .description('bring the database schema up to date')
  .action(() => run(() => Promise.resolve({ migrated: true })));

interface CreateKeyOptions {
  organization: string;
  name: string;
  scopes: readonly Scope[];
  expiresIn?: number;
  userId?: string;
}

/** Does one thing with the application's own services and prints what came of it. */
async function run(action: (keys: KeysService) => Promise<unknown>): Promise<void> {
  const settings = readSettings();
  setLogLevel('silent');
  const database = await openDatabase(settings, 'command');
  let app: INestApplicationContext | undefined;
  try {
    const root = rootModule({ settings, database: database.target });
    app = await NestFactory.createApplicationContext(root, {
      logger: new NestLogger(),
      abortOnError: false,
    });
    print(instanceToPlain(await action(app.get(KeysService))));
  } finally {
    await app?.close();
    await database.close();
  }
}

function print(result: unknown): void {
  if (program.opts<{ json?: boolean }>().json) console.log(JSON.stringify(result));
  else if (Array.isArray(result)) console.table(result);
  else
    for (const [name, value] of Object.entries(result as object))
      console.log(`${name}: ${show(value)}`);
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function uuid(text: string): string {
  if (UUID.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a UUID.');
}

function scopes(text: string): readonly Scope[] {
  if (text === 'all') return SCOPES;
  const wanted = [...new Set(text.split(','))];
  const unknown = wanted.filter((scope) => !SCOPES.includes(scope as Scope));
  if (unknown.length === 0) return wanted as Scope[];
  throw new InvalidArgumentError(`It must be all, or some of ${SCOPES.join(',')}.`);
}

function duration(text: string): number {
  const [, count, unit] = /^(\d{1,12})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT];
  if (ms > 0 && ms <= LONGEST_DURATION_MS) return ms;
  throw new InvalidArgumentError('It must be a whole number with s, m, h or d, such as 90d.');
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    console.error(`latitude: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
process.exit();
