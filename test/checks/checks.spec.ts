import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = process.cwd();

let repository: string;

beforeEach(() => {
  repository = mkdtempSync(path.join(tmpdir(), 'latitude-checks-'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(repository, 'node_modules'));
});
afterEach(() => {
  rmSync(repository, { recursive: true });
});

/** Runs a check in a repository with these files. */
function check(name: string, files: Readonly<Record<string, string>>) {
  for (const [file, text] of Object.entries(files)) {
    const place = path.join(repository, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
  execFileSync('git', ['init', '--quiet'], { cwd: repository });
  execFileSync('git', ['add', '--', ...Object.keys(files)], { cwd: repository });
  const script = path.join(ROOT, 'scripts', `${name}.mjs`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    cwd: repository,
    encoding: 'utf8',
  });
  return { status, stdout, problems: stderr.split('\n').filter((line) => line !== '') };
}

describe('check:size', () => {
  const FILES = {
    'src/a/one.ts': [
      '// A comment.',
      '/** A comment. */',
      'export const text = `first /* no comment */',
      '',
      '// no comment`; // A comment.',
      '',
    ].join('\n'),
    'src/a/two.mjs': 'export {};\n',
    'src/a/one.spec.ts': 'export {};\n',
    'src/testing/kit.ts': 'export {};\n',
    'src/platform/data/migrations/1-first.ts': 'export {};\n',
    'src/client/openapi.ts': 'export {};\n',
  };

  it('counts the lines of code of the product by folder', () => {
    const { status, stdout, problems } = check('check-size', { ...FILES, '.size-limit': '3\n' });
    expect({ status, problems }).toEqual({ status: 0, problems: [] });
    expect(stdout.split('\n').map((line) => line.trim())).toEqual([
      '3  src/a',
      '3  lines, of at most 3 in .size-limit',
      '',
    ]);
  });

  it.each(['2', 'many'])('fails if there are more lines than the limit allows: %j', (limit) => {
    const { status, problems } = check('check-size', { ...FILES, '.size-limit': limit });
    expect(status).toBe(1);
    expect(problems).toHaveLength(1);
  });
});

describe('check:folders', () => {
  /** `a/deep` imports `b`, which imports `c`, which imports `a`. */
  const CIRCLE = {
    'src/a/one.ts': `export const one = 1;`,
    'src/a/deep/two.ts': `import { three } from '../../b/three.js';\nexport const two = three;`,
    'src/b/three.ts': `export { four as three } from '../c/four.js';`,
    'src/c/four.ts': `export const four = (await import('../a/one.js')).one;`,
  };

  it('names each import of a circle', () => {
    const { status, problems } = check('check-folders', CIRCLE);
    expect(status).toBe(1);
    expect(problems).toEqual([
      'check:folders: src/a imports src/b (src/a/deep/two.ts)',
      'check:folders: src/b imports src/c (src/b/three.ts)',
      'check:folders: src/c imports src/a (src/c/four.ts)',
    ]);
  });

  it('succeeds if there is no circle', () => {
    const { status } = check('check-folders', {
      ...CIRCLE,
      'src/c/four.ts': 'export const four = 4;',
    });
    expect(status).toBe(0);
  });
});

describe('check:internals', () => {
  const TSCONFIG = JSON.stringify({
    compilerOptions: {
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023'],
      types: ['node'],
      strict: true,
      skipLibCheck: true,
    },
  });
  const USES = `
    import { Server } from 'node:http';
    import { re } from 'semver/internal/re.js';
    import { satisfies } from 'semver/functions/satisfies.js';
    import { ChildProcess, type SpawnOptions } from 'node:child_process';
    import { ParseIntPipe } from '@nestjs/common';
    import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
    import 'reflect-metadata';

    interface Handle { readonly handle: { listen(backlog: number): void } }
    interface OwnServer extends Server { readonly state: number }

    const server = new Server();
    export const handle = (server as unknown as Handle).handle;
    export const ofPrivateName = (server as { _handle?: object })._handle;
    export const own = (server as OwnServer).state;
    export const imitation = { name: 'x' } as unknown as ChildProcess;
    export const kind: [typeof re, SpawnOptions] | undefined = undefined;
    export const isSatisfied = satisfies('1.0.0', '^1.0.0');
    Object.assign(server, { extra: true });
    Object.setPrototypeOf(server, null);
    Server.prototype.toString = () => 'server';
    server.closeIdleConnections = () => undefined;
    server.maxHeadersCount = 0;
    export const ofPipe = [new ParseIntPipe()['options'], new ParseIntPipe()['transform']];
    interface Options { readonly options?: object }
    interface Result { readonly value?: object }
    declare const unknown: unknown;
    export const casts = [unknown as Options, unknown as Result];
    const KEY = 'imports';
    const OWN_KEY = Symbol('own');
    for (const key of [OWN_KEY]) Reflect.getMetadata(key, Server);
    Reflect.getMetadata(KEY, Server);
    Reflect.getMetadata('design:type', Server);
    Reflect.getMetadata(ROUTE_ARGS_METADATA, Server);
  `;

  it('names what is not the API of a package or of Node.js, and nothing else', () => {
    const { status, problems } = check('check-internals', {
      'tsconfig.json': TSCONFIG,
      '.known-internals': 'src/gone.ts: reads _gone\n',
      'src/uses.ts': USES,
      'src/http/node-internals.ts': 'export {};',
    });
    expect(status).toBe(1);
    expect(problems.map((line) => line.replace(/^check:internals: | \(.*\)$/g, ''))).toEqual([
      'no longer found, so remove it from .known-internals: src/gone.ts: reads _gone',
      'src/http/node-internals.ts: is named -internals',
      'src/uses.ts: assigns Server.prototype.toString',
      'src/uses.ts: assigns server.closeIdleConnections',
      'src/uses.ts: calls Object.setPrototypeOf',
      expect.stringMatching(/^src\/uses\.ts: casts Server<.*> to Handle$/) as string,
      expect.stringMatching(
        /^src\/uses\.ts: casts Server<.*> to \{ _handle\?: object \}$/,
      ) as string,
      'src/uses.ts: casts unknown to Options',
      'src/uses.ts: casts { name: string; } to ChildProcess',
      expect.stringMatching(/^src\/uses\.ts: extends Server<.*> by Object\.assign$/) as string,
      'src/uses.ts: imports @nestjs/common/constants.js',
      'src/uses.ts: imports semver/internal/re.js',
      'src/uses.ts: reads _handle',
      'src/uses.ts: reads options',
      'src/uses.ts: reads the metadata imports',
    ]);
  });
});
