// Builds and tests repositories of extensions with the packed Latitude: those in examples, and one that
// `latitude new` makes, to which `nest generate resource` adds a resource. Nest's command line is not a
// dependency of the project, because it needs Node.js 22. It has a lock file here.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { manifest } from '../../scripts/packages.mjs';
import { install, ROOT, run, withServer } from '../server.mjs';

const ARCHIVE = `latitude-${manifest.version}.tgz`;
const INSTALL = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
const NEST = path.join(import.meta.dirname, 'node_modules/@nestjs/cli/bin/nest.js');

/** The folder of the repositories. */
const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-extension-'));
/** The installed packages of the last repository, most of which the next one needs too. */
let packages;

try {
  await install(import.meta.dirname);
  await run('npm', ['run', '-s', 'pack'], { cwd: ROOT });
  await inRepository('acme-x', makeScaffold, async (repository) => {
    await run('npm', ['run', 'typecheck'], { cwd: repository });
    await generateResource(repository);
    await test(repository);
    await withServer(useThings, {}, await build(repository));
  });
  await inRepository('messages', copyExample, async (repository) => {
    await test(repository);
    await withServer(listMessages, {}, await build(repository));
  });
  await inRepository('sign-in', copyExample, test);
} finally {
  rmSync(directory, { recursive: true });
}

/** Makes a repository and installs its packages. */
async function inRepository(name, make, use) {
  const repository = path.join(directory, name);
  await make(repository);
  if (packages) renameSync(packages, path.join(repository, 'node_modules'));
  await run('npm', ['install', ...INSTALL, '--loglevel', 'error'], { cwd: repository });
  packages = path.join(repository, 'node_modules');
  await use(repository);
}

function copyExample(repository) {
  const example = path.join(ROOT, 'examples', path.basename(repository));
  cpSync(example, repository, { recursive: true });
  mkdirSync(path.join(repository, 'vendor'));
  cpSync(path.join(ROOT, 'dist', ARCHIVE), path.join(repository, 'vendor', ARCHIVE));
}

async function makeScaffold(repository) {
  const cli = path.join(ROOT, 'dist/src/cli.js');
  await run(process.execPath, [cli, 'new', path.basename(repository), repository]);
}

async function test(repository) {
  await run('npm', ['run', 'typecheck'], { cwd: repository });
  await run('npm', ['test'], { cwd: repository });
}

/** @returns the file that starts the server */
async function build(repository) {
  await run('npm', ['run', 'build'], { cwd: repository });
  return path.join(repository, 'dist/main.js');
}

/** Adds what Nest generates, and declares the access to its routes and a field of its DTO. */
async function generateResource(repository) {
  const options = ['generate', 'resource', 'things', '--type', 'rest', '--crud'];
  await run(process.execPath, [NEST, ...options], { cwd: repository });
  edit(path.join(repository, 'src/things/things.controller.ts'), (generated) => {
    const declared = generated.replaceAll(/^ {2}@(Get|Post|Patch|Delete)\(/gm, '  @AnyKey()\n$&');
    return `import { AnyKey } from 'latitude';\n${declared}`;
  });
  edit(path.join(repository, 'src/things/dto/create-thing.dto.ts'), (generated) => {
    const declared = generated.replace('{}', '{\n  @IsString() name: string;\n}');
    return `import { IsString } from 'class-validator';\n\n${declared}`;
  });
}

function edit(file, change) {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

async function listMessages({ key, url }) {
  const { status, body } = await send(`${url}/api/v1/messages`, key);
  expectEqual([status, body.meta?.total], [200, 0]);
  console.log('examples/messages: tested, and started with its route');
}

async function useThings({ key, url }) {
  const answers = [];
  for (const [method, target, input] of [
    ['POST', '/things', { name: 'one' }],
    ['GET', '/things'],
    ['GET', '/things/7'],
    ['PATCH', '/things/7', { name: 'two' }],
    ['DELETE', '/things/7'],
  ]) {
    const { status, body } = await send(`${url}${target}`, key, method, input);
    answers.push([status, body.data]);
  }
  expectEqual(answers, [
    [201, 'This action adds a new thing'],
    [200, 'This action returns all things'],
    [200, 'This action returns a #7 thing'],
    [200, 'This action updates a #7 thing'],
    [200, 'This action removes a #7 thing'],
  ]);
  console.log('latitude new: tested, and started with a resource of nest generate');
}

async function send(url, key, method = 'GET', input = undefined) {
  const response = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: input && JSON.stringify(input),
  });
  return { status: response.status, body: await response.json() };
}

function expectEqual(actual, expected) {
  const [one, other] = [actual, expected].map((value) => JSON.stringify(value));
  if (one !== other) throw new Error(`Expected ${other}, but the answer was ${one}`);
}
