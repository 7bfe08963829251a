import type { Settings } from '../config/settings.js';

export const TEST_SETTINGS: Pick<
  Settings,
  'port' | 'readsPerMinute' | 'writesPerMinute' | 'databaseMaxConnections'
>;
