// Packs `latitude` as dist/latitude-<version>.tgz, for the repositories of extensions.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { manifest, ROOT } from './packages.mjs';

/** Packages of which a program must have one copy, because decorators and `instanceof` depend on it. */
const PEERS = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/platform-express',
  '@nestjs/swagger',
  '@nestjs/throttler',
  '@nestjs/typeorm',
  'class-transformer',
  'class-validator',
  'prom-client',
  'reflect-metadata',
  'rxjs',
  'typeorm',
];

/** Development packages that `latitude/testing` needs. */
const FOR_TESTING = ['ajv', 'ajv-formats'];

/** Development packages of extensions and their tests. */
const OPTIONAL_PEERS = [
  '@nestjs/testing',
  '@swc/core',
  '@swc/jest',
  '@types/jest',
  '@types/node',
  'jest',
  'typescript',
];

const FILES = [
  ...['CHANGELOG.md', 'LICENSE', 'README.md', 'api', 'docs', 'dist/src', 'dist/client'],
  ...['dist/console', 'src/testing', 'templates'],
];

process.chdir(ROOT);
const staging = path.join('dist', 'package');
rmSync(staging, { recursive: true, force: true });
mkdirSync(staging, { recursive: true });
for (const file of FILES) cpSync(file, path.join(staging, file), { recursive: true, filter });
writeFileSync(path.join(staging, 'package.json'), `${JSON.stringify(packed(), null, 2)}\n`);
execFileSync('npm', ['pack', `./${staging}`, '--pack-destination', 'dist', '--silent'], {
  stdio: ['ignore', 'inherit', 'inherit'],
  shell: process.platform === 'win32',
});

/** Leaves out source maps, and the sources of the test kit that are compiled. */
function filter(file) {
  return !file.endsWith('.map') && !/^src.*\.ts$/.test(file);
}

function packed() {
  const { name, version, description, license, type, engines, bin, exports } = manifest;
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const peers = PEERS.filter((peer) => dependencies[peer]);
  return {
    ...{ name, version, description, license, type, engines, bin, exports },
    dependencies: {
      ...omit(dependencies, peers),
      ...pick(devDependencies, FOR_TESTING),
    },
    optionalDependencies,
    peerDependencies: { ...pick(dependencies, peers), ...pick(devDependencies, OPTIONAL_PEERS) },
    peerDependenciesMeta: Object.fromEntries(
      OPTIONAL_PEERS.map((peer) => [peer, { optional: true }]),
    ),
  };
}

function pick(versions, names) {
  return Object.fromEntries(names.map((name) => [name, versions[name]]));
}

function omit(versions, names) {
  return Object.fromEntries(Object.entries(versions).filter(([name]) => !names.includes(name)));
}
