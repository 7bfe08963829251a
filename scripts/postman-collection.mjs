// Writes docs/postman_collection.json from the OpenAPI document of the build.
// With --check, only fails if the file is out of date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { collectionOf } from './postman/collection.mjs';

const FILE = 'docs/postman_collection.json';

process.chdir(path.dirname(import.meta.dirname));
const document = execFileSync(process.execPath, ['dist/src/cli.js', 'openapi'], {
  encoding: 'utf8',
  env: { PATH: process.env.PATH },
  maxBuffer: 16 * 1024 * 1024,
});
const collection = `${JSON.stringify(collectionOf(JSON.parse(document)), undefined, 2)}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, collection);
} else if (readFileSync(FILE, 'utf8') !== collection) {
  console.error(`${FILE} is out of date: npm run postman:collection`);
  process.exitCode = 1;
}
