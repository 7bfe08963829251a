// Writes src/client/openapi.ts, the types of the API, from the OpenAPI document of the build.
// With --check, only fails if the file is out of date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

const FILE = 'src/client/openapi.ts';
const HEADER = '// Made from the OpenAPI document by `npm run client:types`. Do not edit.\n\n';

process.chdir(path.dirname(import.meta.dirname));
const document = execFileSync(process.execPath, ['dist/src/cli.js', 'openapi'], {
  encoding: 'utf8',
  maxBuffer: 16 * 1024 * 1024,
});
const types = HEADER + astToString(await openapiTS(JSON.parse(document)));
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, types);
} else if (readFileSync(FILE, 'utf8') !== types) {
  console.error(`${FILE} is out of date: npm run client:types`);
  process.exitCode = 1;
}
