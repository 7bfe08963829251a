import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type BackupHeader, BackupReader } from '../../../src/ops/backup/backup-file.js';
import { restoreBackup } from '../../../src/ops/backup/restore-backup.js';
import { writeBackup } from '../../../src/ops/backup/write-backup.js';
import { OperatorsService } from '../../../src/modules/auth/operators.service.js';
import type { Progress } from '../../../src/platform/extension/command.js';
import type { DatabaseTarget } from '../../../src/platform/data/connection/data-source-options.js';
import { TenantDataService } from '../../../src/platform/data/records/tenant-data.service.js';
import { LIST_ROUTES } from '../../../src/testing/routes.js';
import { stopBackgroundWork } from './isolation.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { createDatabase } from '../../../src/testing/databases.js';
import type { Extension } from '../../../src/platform/extension/extension.js';
import { extensionMigrationsOf } from '../../../src/platform/extension/extensions.js';
import { asSuperuser, createDatabaseWithPlainOwner, queryAs } from './plain-owner.js';

export const withoutProgress: Progress = (_, work) => work(() => undefined);

const files: string[] = [];
afterAll(() => Promise.all(files.map((file) => rm(file, { force: true }))));

/** A path of its own, whose file is removed after the suite. */
export function temporaryFile(): string {
  const file = path.join(os.tmpdir(), `latitude-test-${randomUUID()}.backup`);
  files.push(file);
  return file;
}

export async function backUp(
  target: DatabaseTarget,
): Promise<{ file: string; header: BackupHeader }> {
  const file = temporaryFile();
  const header = await writeBackup(target, createWriteStream(file), withoutProgress);
  return { file, header };
}

/** Restores an exact copy. */
export async function restore(
  target: DatabaseTarget,
  file: string,
  extensions: readonly Extension[] = [],
): Promise<void> {
  const reader = await BackupReader.open(createReadStream(file));
  const extensionMigrations = extensionMigrationsOf(extensions);
  await restoreBackup(target, reader, withoutProgress, { extensionMigrations, resume: true });
}

/** All rows as text, by table. Tables that describe the schema are left out. */
export async function rowsByTable(target: DatabaseTarget): Promise<Record<string, string[]>> {
  const database = asSuperuser(target);
  const tables = await queryAs<{ name: string }>(
    database,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace
       and relkind in ('r', 'p') and not relispartition and relname not in ('migrations', 'typeorm_metadata')
       and not starts_with(relname, 'latitude_migrations_') order by 1`,
  );
  const contents: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await queryAs<{ row: string }>(
      database,
      `select to_jsonb(t)::text as row from ${name} t order by 1`,
    );
    contents[name] = rows.map(({ row }) => row);
  }
  return contents;
}

/** The foreign keys and triggers of a database, and its forced row-level security, which a restore suspends. */
export function constraintsAndTriggersOf(target: DatabaseTarget): Promise<{ rule: string }[]> {
  return queryAs(
    asSuperuser(target),
    `select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) as rule
       from pg_constraint where contype = 'f'
     union all select tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text
       from pg_trigger where not tgisinternal
     union all select oid::regclass || ' forced' from pg_class where relforcerowsecurity
     order by 1`,
  );
}

/** Creates an empty database, by the kind of its user. */
export const USERS: Record<string, () => Promise<DatabaseTarget>> = {
  'a superuser': () => createDatabase('empty'),
  'a plain owner with the tenant role': () => createDatabaseWithPlainOwner('latitude_app'),
  'a plain owner without the tenant role': () => createDatabaseWithPlainOwner(),
};

/** Starts a server and creates an operator and two organizations with records of every kind. */
export async function startFilled(database: DatabaseTarget) {
  const app = await TestApp.start({ database });
  await stopBackgroundWork(app);
  await app.app.get(OperatorsService).createKey('Reseller', null);
  const tenants = [await app.organization(), await app.organization()] as const;
  for (const tenant of tenants) {
    for (const { listed } of LIST_ROUTES) await listed(tenant);
  }
  return { app, tenants };
}

export async function expectCountersToHold(app: TestApp, tenants: readonly { id: string }[]) {
  const counts = app.app.get(TenantDataService);
  for (const tenant of tenants) expect(await counts.checkCounts({ tenant })).toEqual([]);
}
