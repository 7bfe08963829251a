import { readSettings } from '../../../platform/config/settings.js';
import { SETTINGS_CHECKS } from './settings.js';

const DATABASE_URL = 'postgres://user:hunter2@host/database';
const PUBLIC_URL = 'https://latitude.example';

const examine = (env: Record<string, string>) =>
  SETTINGS_CHECKS.settings!({ settings: readSettings(env), extensions: [] });

it.each([
  [{}],
  [{ DATABASE_URL }],
  [{ DATA_DIR: '/data', BACKUP_DIR: '/backups' }],
  [{ DATABASE_URL, PUBLIC_URL, TRUST_PROXY: '1' }],
])('finds no contradiction in %j', (env) => {
  expect(examine(env)).toMatchObject({ status: 'ok' });
});

it.each([
  ['DATA_DIR has no effect', { DATABASE_URL, DATA_DIR: '/data' }],
  ['no replica', { DATABASE_URL, DATABASE_REPLICA_URLS: DATABASE_URL }],
  ['TRUST_PROXY is off', { PUBLIC_URL }],
  ['RATE_LIMIT_READS_PER_MINUTE is more', { RATE_LIMIT_READS_PER_MINUTE: '7000' }],
  ['RATE_LIMIT_WRITES_PER_MINUTE is more', { RATE_LIMIT_WRITES_PER_MINUTE: '4000' }],
  ['MCP_MAX_SESSIONS is less', { MCP_MAX_SESSIONS: '5', MCP_MAX_SESSIONS_PER_KEY: '6' }],
  ['CORS_ORIGINS has *', { CORS_ORIGINS: '*,https://app.example' }],
  ['into your network', { PUBLIC_URL, TRUST_PROXY: '1', WEBHOOKS_ALLOW_PRIVATE_TARGETS: 'on' }],
  ['LOG_ERRORS is full', { PUBLIC_URL, TRUST_PROXY: '1', LOG_ERRORS: 'full' }],
  ['BACKUP_DIR is in DATA_DIR', { DATA_DIR: '/data', BACKUP_DIR: '/data/backups' }],
])('warns that %s', (message, env) => {
  const finding = examine(env);
  expect(finding).toMatchObject({ status: 'warning', message: expect.stringContaining(message) });
  expect(JSON.stringify(finding)).not.toContain('hunter2');
});

it('refuses what ends the start of a server', () => {
  expect(examine({ DATABASE_URL, BACKUP_DIR: '/backups' })).toMatchObject({ status: 'failed' });
});
