// Writes src/client/openapi.ts, the types that the client takes from the OpenAPI document of the build:
// the schemas and the query parameters.
// With --check, only fails if the file is out of date.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

const FILE = 'src/client/openapi.ts';
const HEADER =
  '// Made from the OpenAPI document by `npm run client:types`: all schemas, and of the operations only the query\n' +
  '// parameters. Do not edit.\n\n';

process.chdir(path.dirname(import.meta.dirname));
const document = execFileSync(process.execPath, ['dist/src/cli.js', 'openapi'], {
  encoding: 'utf8',
  maxBuffer: 16 * 1024 * 1024,
});
const { components, paths, ...others } = JSON.parse(document);
const { schemas } = components;
const nodes = await openapiTS({ ...others, components: { schemas }, paths: queriesOf(paths) });
const isUsed = ({ name }) => ['components', 'operations'].includes(name.text);
const types = HEADER + astToString(nodes.filter(isUsed));
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, types);
} else if (readFileSync(FILE, 'utf8') !== types) {
  console.error(`${FILE} is out of date: npm run client:types`);
  process.exitCode = 1;
}

/** Keeps the query parameters of the operations that have some. */
function queriesOf(paths) {
  const queries = Object.entries(paths).flatMap(([route, operations]) => {
    const kept = Object.entries(operations).flatMap(
      ([method, { operationId, parameters = [] }]) => {
        const inQuery = parameters.filter((parameter) => parameter.in === 'query');
        return inQuery.length > 0 ? [[method, { operationId, parameters: inQuery }]] : [];
      },
    );
    return kept.length > 0 ? [[route, Object.fromEntries(kept)]] : [];
  });
  return Object.fromEntries(queries);
}
