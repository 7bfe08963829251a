import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { PACKAGE_ROOT } from '../../platform/config/version.js';
import { isJson, writeOutput, writeResult } from './output.js';

/** Packages of a new repository whose versions are those of Latitude. */
const DEPENDENCIES = ['@nestjs/common', '@nestjs/core', 'typeorm', 'uuid'];
const DEV_DEPENDENCIES = [
  ...['@nestjs/testing', '@swc/core', '@swc/jest', '@types/jest', '@types/node'],
  ...['jest', 'typescript'],
];

type Manifest = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** `latitude new`. */
export function addNew(program: Command): void {
  program
    .command('new')
    .description('create a repository with one extension, its tests and a Dockerfile')
    .argument('<name>', 'name of the extension, such as acme', extensionName)
    .argument('[directory]', 'the new folder; by default the name')
    .action((name: string, directory: string = name) => {
      const target = path.resolve(directory);
      if (existsSync(target) && readdirSync(target).length > 0) {
        throw new Error(`${target} is not empty: name another folder.`);
      }
      const archive = packLatitude(path.join(target, 'vendor'));
      copyTemplate(path.join(PACKAGE_ROOT, 'templates', 'extension'), target, name);
      addDependencies(path.join(target, 'package.json'), archive);
      if (isJson(program)) writeResult({ directory: target }, true);
      else writeOutput(`${target} is ready: cd ${directory} && npm install && npm test\n`);
    });
}

/** @throws InvalidArgumentError */
function extensionName(text: string): string {
  if (/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(text)) return text;
  throw new InvalidArgumentError('It must consist of lower-case letters, digits and hyphens.');
}

/**
 * Packs Latitude, because the name on the registry belongs to another package.
 * @returns the name of the archive
 */
function packLatitude(folder: string): string {
  const isCheckout = existsSync(path.join(PACKAGE_ROOT, 'src', 'index.ts'));
  const source = isCheckout ? path.join(PACKAGE_ROOT, 'dist', 'package') : PACKAGE_ROOT;
  if (!existsSync(source))
    throw new Error('This is a checkout of Latitude: run `npm run pack` first.');
  mkdirSync(folder, { recursive: true });
  const options = ['pack', source, '--pack-destination', folder, '--silent', '--ignore-scripts'];
  const output = execFileSync('npm', options, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  });
  return output.trim();
}

/** Copies a folder, and replaces `acme` in names and contents. */
function copyTemplate(source: string, target: string, name: string): void {
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(source)) {
    const from = path.join(source, entry);
    // npm does not pack files that are named .gitignore.
    const to = path.join(target, entry.replace(/^_/, '.').replace('acme', name));
    if (statSync(from).isDirectory()) copyTemplate(from, to, name);
    else writeFileSync(to, rename(readFileSync(from, 'utf8'), name));
  }
}

function rename(text: string, name: string): string {
  const camelCase = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const renamed: Readonly<Record<string, string>> = {
    acmeExtension: `${camelCase}Extension`,
    'acme: typeof': `'${name}': typeof`,
    acme: name,
  };
  // In one pass, because the new name may contain the old one.
  return text.replaceAll(/acmeExtension|acme: typeof|acme/g, (match) => renamed[match] ?? match);
}

function addDependencies(file: string, archive: string): void {
  const own = readManifest(path.join(PACKAGE_ROOT, 'package.json'));
  const versions = { ...own.devDependencies, ...own.peerDependencies, ...own.dependencies };
  const pick = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, versions[name]]));
  const manifest = {
    ...readManifest(file),
    dependencies: { ...pick(DEPENDENCIES), latitude: `file:vendor/${archive}` },
    devDependencies: pick(DEV_DEPENDENCIES),
  };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
}
