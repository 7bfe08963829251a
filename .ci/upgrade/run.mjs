// Runs the code of the last release on the schema of this version: first its tests, then its server alongside the
// server of this version, under load. Usage: .ci/with-postgres-15 node .ci/upgrade/run.mjs [test files]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../dist/src/platform/data/connection/data-source-options.js';
import { migrate } from '../../dist/src/platform/data/migrate.js';
import { setLogLevel } from '../../dist/src/platform/config/logger.js';
import { ROOT, run } from '../server.mjs';
import { assertLastRelease, git } from './last-release.mjs';
import { upgradeUnderLoad } from './rolling-upgrade.mjs';

const require = createRequire(import.meta.url);
const RELEASE = require('./release.json');

/**
 * The tests of the contract that depend on the schema, in the layout of the release. Excluded are those that list all tables,
 * and those of an empty database.
 */
const SUITES = [
  ...['test/modules/leads/leads.spec', 'test/modules/leads/lead-identity'],
  ...['test/modules/appointments', 'test/modules/tasks', 'test/modules/auth/api-keys'],
  // The sessions, idempotency keys and versions of records are stored; what answers look like is not.
  ...['test/platform/http/response/idempotency', 'test/modules/mcp/sessions/sessions'],
  ...['test/platform/http/response/replay', 'test/modules/mcp/sessions/session-keys'],
];

/** The page with the indexes that a new database lacks and the release needs. Its statements are run as they are written. */
const UPGRADES = path.join(ROOT, 'docs/operating/upgrades.md');

function hasCommit(commit) {
  try {
    git(ROOT, 'cat-file', '-e', `${commit}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

/** Builds the code of the last release in a directory. */
async function buildRelease(directory) {
  await run('bash', ['-c', `git archive ${RELEASE.commit} | tar -x -C "${directory}"`], {
    cwd: ROOT,
  });
  // Most packages are those of this version: npm only replaces the others.
  await run('cp', ['-a', path.join(ROOT, 'node_modules'), directory]);
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--no-save'];
  await run('npm', ['install', '--loglevel', 'error', ...options], { cwd: directory });
  await run('npm', ['run', '-s', 'build'], { cwd: directory });
}

function databaseUrl(name) {
  const url = new URL(process.env.TEST_DATABASE_URL);
  url.pathname = `/${name}`;
  return url.href;
}

/** Gives databases that are created from now on the schema of this version. */
async function migrateTemplate() {
  setLogLevel('warn');
  const dataSource = new DataSource(dataSourceOptions({ url: databaseUrl('template1') }));
  await dataSource.initialize();
  await dataSource.query('create database rolling_upgrade template template0');
  await migrate(dataSource);
  const indexes = readFileSync(UPGRADES, 'utf8').match(/^create index .*;$/gm);
  for (const index of indexes) await dataSource.query(index);
  await dataSource.destroy();
}

assertLastRelease(ROOT, RELEASE, require('../../package.json').version);
if (!hasCommit(RELEASE.commit)) {
  console.log(
    `SKIPPED: the upgrade from ${RELEASE.version} is not tested. This clone lacks its commit ${RELEASE.commit}; ` +
      'fetch the whole history, as with git fetch --unshallow.',
  );
  process.exit();
}
const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-release-'));
try {
  await buildRelease(directory);
  await migrateTemplate();
  console.log(`tests of ${RELEASE.version} on the schema of this version`);
  const files = process.argv.slice(2);
  await run('npx', ['jest', ...(files.length > 0 ? files : SUITES)], { cwd: directory });
  await upgradeUnderLoad(path.join(directory, 'dist/src'), databaseUrl('rolling_upgrade'));
} finally {
  rmSync(directory, { recursive: true });
}
