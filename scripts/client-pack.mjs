// Packs `latitude/client` as dist/latitude-client-<version>.tgz: ES modules with types, without dependencies.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

process.chdir(path.dirname(import.meta.dirname));
const { version, license } = JSON.parse(readFileSync('package.json', 'utf8'));
const manifest = {
  name: 'latitude-client',
  version,
  description: 'Client of the Latitude API: leads, appointments and tasks',
  license,
  type: 'module',
  sideEffects: false,
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
  engines: { node: '>=20' },
};
writeFileSync('dist/client/package.json', `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync('docs/client.md', 'dist/client/README.md');
copyFileSync('LICENSE', 'dist/client/LICENSE');
execFileSync('npm', ['pack', './dist/client', '--pack-destination', 'dist', '--silent'], {
  stdio: ['ignore', 'inherit', 'inherit'],
  shell: process.platform === 'win32',
});
