// Generates clients from the OpenAPI document of the running server with four generators at their default
// options, compiles each under `tsc --strict`, and creates, lists and handles an error with it. The
// generators are not dependencies of the project. They have a lock file of their own here.
import { rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { install, run, withServer } from '../server.mjs';

const DOCUMENT = './generated/openapi.json';
const GENERATORS = [
  ['openapi-typescript', DOCUMENT, '--output', './generated/openapi-typescript/schema.d.ts'],
  ['openapi-ts', '--input', DOCUMENT, '--output', './generated/hey-api'],
  ['orval', '--config', './orval.config.mjs'],
  ['kubb', 'generate', '--silent', '--config', './kubb.config.mjs'],
];
const PROGRAMS = ['openapi-fetch', 'hey-api', 'orval', 'kubb'];

process.chdir(import.meta.dirname);
rmSync('generated', { recursive: true, force: true });
await mkdir('generated');
await install(import.meta.dirname);
await withServer(async ({ key, url }) => {
  const document = await fetch(`${url}/openapi.json`);
  await writeFile(DOCUMENT, await document.text());
  for (const [generator, ...args] of GENERATORS) await runTool(generator, args);
  await runTool('tsc', ['--project', '.']);
  const env = { ...process.env, BASE_URL: url, API_KEY: key };
  for (const program of PROGRAMS) {
    await runTool('tsx', [`programs/${program}.ts`], { env });
    console.log(`${program}: created, listed and handled an error`);
  }
});

function runTool(name, args, options) {
  return run(path.join('node_modules/.bin', name), args, options);
}
