// Builds dist/: the server, with the assets of nest-cli.json, the client and the console. `nest build` also builds
// the server, with TypeScript 6, and takes several times as long.
import { spawn } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { buildConsole } from './console.mjs';

process.chdir(path.dirname(import.meta.dirname));
const { sourceRoot, compilerOptions } = JSON.parse(readFileSync('nest-cli.json', 'utf8'));
rmSync('dist', { recursive: true, force: true });
const [server, client] = await Promise.all([
  compile(compilerOptions.tsConfigPath),
  compile('src/client'),
  buildConsole(),
]);
for (const asset of compilerOptions.assets.flatMap(filesOf)) {
  cpSync(path.join(sourceRoot, asset), path.join('dist', sourceRoot, asset));
}
process.exitCode = Math.max(server, client);

/** @returns the exit code */
async function compile(project) {
  const compiler = spawn('tsc', ['-p', project], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  return new Promise((resolve) => compiler.once('exit', (code) => resolve(code ?? 1)));
}

/** Returns the files of a pattern, whose name may be `*` with an extension. */
function filesOf(pattern) {
  const { dir, base, name, ext } = path.parse(pattern);
  if (name !== '*') return [path.join(dir, base)];
  const files = readdirSync(path.join(sourceRoot, dir));
  return files.filter((file) => path.extname(file) === ext).map((file) => path.join(dir, file));
}
