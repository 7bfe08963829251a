import type { Settings } from '../platform/config/settings.js';

export const TEST_SETTINGS: Pick<
  Settings,
  'port' | 'readsPerMinute' | 'writesPerMinute' | 'databaseMaxConnections'
>;
