import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings, type Settings } from '../../platform/config/settings.js';
import {
  INSUFFICIENT_PRIVILEGE,
  LOCK_NOT_AVAILABLE,
  sqlStateOf,
} from '../../platform/data/connection/driver-error.js';
import { readExecutedMigrations } from '../../platform/data/executed-migrations.js';
import { COUNT_INSTANCES } from '../../platform/data/instances.js';
import type { LatitudeConfig } from '../../platform/extension/config.js';
import { settingsOf } from '../../platform/extension/listed-extensions.js';
import { withConnection } from '../connection.js';
import { messageOf } from '../embedded-postgres/errors.js';
import { type DatabaseHandle, openDatabase } from '../open-database.js';
import { type Checks, failed, ok, sentence } from './check.js';
import { BACKUP_CHECKS } from './checks/backup.js';
import { CATALOGUE_CHECKS } from './checks/catalogue.js';
import { CONNECTION_CHECKS } from './checks/connections.js';
import { DEEP_CHECKS } from './checks/deep.js';
import { MIGRATION_CHECKS, schemaStateOf } from './checks/migrations.js';
import { POSTGRES_CHECKS } from './checks/postgres.js';
import { SCHEMA_CHECKS } from './checks/schema.js';
import { SETTINGS_CHECKS } from './checks/settings.js';
import { SURROUNDINGS_CHECKS } from './checks/surroundings.js';
import { TENANCY_CHECKS } from './checks/tenancy.js';
import { UPGRADE_CHECKS } from './checks/upgrade.js';
import { WORK_CHECKS } from './checks/work.js';
import type { DatabaseContext, SettingsContext } from './context.js';
import { Diagnosis } from './diagnosis.js';
import { ReadOnlyDatabase } from './read-only-database.js';
import { readUpgradePlan } from './upgrade/read-upgrade-plan.js';
import { compareSchemas, readActualSchema, readExpectedSchema } from './schema-picture.js';

export interface DoctorOptions {
  /** Whether what is computed from records is compared with them, which reads whole tables. */
  readonly deep: boolean;
  /** Whether the database is to be upgraded to this version, so that migrations that are missing are no failure. */
  readonly upgrade: boolean;
}

/** The checks that need the tables of Latitude. */
const TABLE_CHECKS: Checks<DatabaseContext> = {
  ...CATALOGUE_CHECKS,
  ...TENANCY_CHECKS,
  ...WORK_CHECKS,
};

/**
 * Runs all checks on the settings, the database and the surroundings of this process. It changes nothing: each statement
 * is a read-only transaction.
 */
export async function examine(
  { extensions }: LatitudeConfig,
  options: DoctorOptions,
): Promise<Diagnosis> {
  const diagnosis = new Diagnosis();
  let settings: Settings;
  try {
    settings = readSettings(undefined, settingsOf(extensions));
  } catch (error) {
    diagnosis.giveUp('settings', failed(sentence(messageOf(error)), 'Correct this setting.'));
    return diagnosis;
  }
  const context = { settings, extensions };
  await diagnosis.run(SETTINGS_CHECKS, context);
  const database = await open(settings, diagnosis);
  if (!database) return diagnosis;
  try {
    await withConnection(database.target, async (client) => {
      await examineDatabase(diagnosis, context, database, new ReadOnlyDatabase(client), options);
    });
  } catch (error) {
    diagnosis.giveUp('database', failed(sentence(messageOf(error)), 'Run it again.'));
  } finally {
    await database.close();
  }
  return diagnosis;
}

/** @returns undefined if there is no database that answers, which the diagnosis then says */
async function open(settings: Settings, diagnosis: Diagnosis): Promise<DatabaseHandle | undefined> {
  const { databaseUrl, dataDir } = settings;
  if (databaseUrl === undefined && !existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) {
    const problem = `There is no embedded database in ${dataDir}.`;
    const remedy = 'Set DATA_DIR or DATABASE_URL. The first start of a server creates a database.';
    diagnosis.giveUp('database', failed(problem, remedy));
    return undefined;
  }
  try {
    return await openDatabase(settings, 'command');
  } catch (error) {
    const remedy = 'Start PostgreSQL, or correct the setting. The message says what it answered.';
    diagnosis.giveUp('database', failed(sentence(messageOf(error)), remedy));
    return undefined;
  }
}

async function examineDatabase(
  diagnosis: Diagnosis,
  settingsContext: SettingsContext,
  database: DatabaseHandle,
  sql: ReadOnlyDatabase,
  { deep, upgrade }: DoctorOptions,
): Promise<void> {
  const executed = await readExecutedMigrations((text) => sql.read(text)).catch(unlessForbidden);
  const { instances } = await sql.readOne<{ instances: number }>(COUNT_INSTANCES);
  const context: DatabaseContext = { ...settingsContext, database, sql, executed, instances };
  diagnosis.add('database', await describeDatabase(context));
  await diagnosis.run({ ...CONNECTION_CHECKS, ...POSTGRES_CHECKS }, context);
  await diagnosis.run({ ...SURROUNDINGS_CHECKS, ...BACKUP_CHECKS }, context);
  if (upgrade) {
    diagnosis.upgrade = await readUpgradePlan(context);
    await diagnosis.run(UPGRADE_CHECKS, { ...context, plan: diagnosis.upgrade });
  } else {
    await diagnosis.run(MIGRATION_CHECKS, context);
  }
  const state = schemaStateOf(context);
  if (state === 'empty') {
    const message = 'The database is empty.';
    diagnosis.skip({ ...SCHEMA_CHECKS, ...TABLE_CHECKS, ...(deep && DEEP_CHECKS) }, message);
    return;
  }
  if (state === 'current') {
    await examineSchema(diagnosis, context);
  } else {
    const message = 'The database does not have the migrations of this version, and no others.';
    diagnosis.skip(SCHEMA_CHECKS, message);
  }
  await diagnosis.run(TABLE_CHECKS, context);
  if (deep) await diagnosis.run(DEEP_CHECKS, context);
}

/** PostgreSQL locks a table to describe it: while another transaction has locked it whole, there is nothing to compare. */
async function examineSchema(diagnosis: Diagnosis, context: DatabaseContext): Promise<void> {
  let actual: Awaited<ReturnType<typeof readActualSchema>>;
  try {
    actual = await readActualSchema(context.sql);
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    diagnosis.skip(SCHEMA_CHECKS, 'A table is locked.');
    return;
  }
  const differences = compareSchemas(readExpectedSchema(), actual);
  await diagnosis.run(SCHEMA_CHECKS, { ...context, differences });
}

/** @throws any error but that of a user who may not read */
function unlessForbidden(error: unknown): undefined {
  if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
}

async function describeDatabase({ sql, database }: DatabaseContext) {
  const { name, user } = await sql.readOne<{ name: string; user: string }>(
    'select current_database() as name, current_user as user',
  );
  const kind = database.embedded ? 'The embedded database' : `The database ${name}`;
  return ok(`${kind} answers to the user ${user}.`);
}
