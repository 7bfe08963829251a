// Builds and tests the examples as repositories of their own, with the packed Latitude. examples/messages also
// starts on the embedded PostgreSQL and answers a request.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { manifest } from '../../scripts/packages.mjs';
import { ROOT, run, withServer } from '../server.mjs';

const ARCHIVE = `latitude-${manifest.version}.tgz`;
const INSTALL = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];

await run('npm', ['run', '-s', 'pack'], { cwd: ROOT });
await testExample('messages', async (npm, repository) => {
  await npm('run', 'build');
  await withServer(listMessages, {}, path.join(repository, 'dist/main.js'));
});
await testExample('sign-in');

async function testExample(name, andThen = () => undefined) {
  const repository = mkdtempSync(path.join(os.tmpdir(), `latitude-${name}-`));
  const npm = (...args) => run('npm', args, { cwd: repository });
  try {
    cpSync(path.join(ROOT, 'examples', name), repository, { recursive: true });
    cpSync(path.join(ROOT, 'dist', ARCHIVE), path.join(repository, 'vendor', ARCHIVE));
    await npm('install', ...INSTALL, '--loglevel', 'error');
    await npm('run', 'typecheck');
    await npm('test');
    await andThen(npm, repository);
  } finally {
    rmSync(repository, { recursive: true });
  }
}

async function listMessages({ key, url }) {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/api/v1/messages`, { headers });
  const body = await response.json();
  if (response.status !== 200 || body.meta.total !== 0) {
    throw new Error(`GET /api/v1/messages answered ${response.status} ${JSON.stringify(body)}`);
  }
  console.log('examples/messages: tested, and started with its route');
}
