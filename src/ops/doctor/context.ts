import type { Settings } from '../../platform/config/settings.js';
import type { ExecutedMigrations } from '../../platform/data/executed-migrations.js';
import type { Extension } from '../../platform/extension/extension.js';
import type { DatabaseHandle } from '../open-database.js';
import type { ReadOnlyDatabase } from './read-only-database.js';

/** What checks of the settings use. */
export interface SettingsContext {
  readonly settings: Settings;
  readonly extensions: readonly Extension[];
}

/** What checks of the database use. */
export interface DatabaseContext extends SettingsContext {
  readonly database: DatabaseHandle;
  readonly sql: ReadOnlyDatabase;
  /** Undefined if the user may not read them. */
  readonly executed: ExecutedMigrations | undefined;
  /** How many servers are connected to the database. */
  readonly instances: number;
}
