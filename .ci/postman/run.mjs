// Runs docs/postman_collection.json with newman against the built server with its default settings and a key of the console, and checks
// every response against the OpenAPI document of the server. newman is not a dependency of the project. It has
// a lock file of its own here.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { listedOperations } from '../../scripts/postman/collection.mjs';
import { install, ROOT, withServer } from '../server.mjs';

const COLLECTION = path.join(ROOT, 'docs/postman_collection.json');

await install(import.meta.dirname);
const { default: newman } = await import('newman');
const fromRoot = createRequire(path.join(ROOT, 'package.json'));
const { Ajv2020 } = fromRoot('ajv/dist/2020.js');
const addFormats = fromRoot('ajv-formats');

await withServer(async ({ key, url, directory }) => {
  const document = await (await fetch(`${url}/openapi.json`)).json();
  const unverified = new Set(listedOperations(document).map(({ operation }) => operation));
  const problems = [];
  const summary = await runCollection(
    { base_url: url, api_key: await consoleKey(url, key, directory) },
    (name, request, response) => {
      const operation = operationAt(document, request);
      if (response.code < 300) unverified.delete(operation);
      const found = operation ? problemsOf(document, operation, response) : ['is not described'];
      problems.push(...found.map((problem) => `${name}: ${problem}`));
    },
  );
  for (const { operationId } of unverified) problems.push(`${operationId} never succeeded`);
  for (const problem of problems) console.error(problem);
  if (problems.length + summary.run.failures.length > 0) process.exitCode = 1;
});

/** @returns a key whose rate limits a run of the whole collection does not reach */
async function consoleKey(url, key, directory) {
  const headers = { Authorization: `Bearer ${key}` };
  const { data } = await (await fetch(`${url}/api/v1/me`, { headers })).json();
  const cli = path.join(ROOT, 'dist/src/cli.js');
  const env = { ...process.env, DATA_DIR: path.join(directory, 'data') };
  const args = [cli, 'console', '--organization', data.organization.id];
  const [, secret] = /#key=(lat_\w+)/.exec(
    execFileSync(process.execPath, args, { env, encoding: 'utf8' }),
  );
  return secret;
}

function runCollection(variables, onResponse) {
  const envVar = Object.entries(variables).map(([key, value]) => ({ key, value }));
  const collection = JSON.parse(readFileSync(COLLECTION, 'utf8'));
  return new Promise((resolve, reject) => {
    newman
      .run({ collection, envVar, reporters: 'cli', timeoutRequest: 30_000 }, (error, summary) => {
        if (error) reject(error);
        else resolve(summary);
      })
      .on('request', (error, { item, request, response }) => {
        if (!error) onResponse(item.name, request, response);
      });
  });
}

function operationAt({ paths }, { method, url }) {
  const steps = url.path.map((step) =>
    step.startsWith(':') ? url.variables.get(step.slice(1)) : step,
  );
  const [, methods] =
    Object.entries(paths).find(([template]) => {
      const expected = template.slice(1).split('/');
      return (
        expected.length === steps.length &&
        expected.every((step, index) => step.startsWith('{') || step === steps[index])
      );
    }) ?? [];
  return methods?.[method.toLowerCase()];
}

/** @returns the differences between a response and the document */
function problemsOf(document, { responses }, { code, headers, stream }) {
  const { components } = document;
  const resolve = (node) => {
    if (!node?.$ref) return node;
    const [, , kind, name] = node.$ref.split('/');
    return components[kind][name];
  };
  const described = resolve(responses[code]);
  if (!described) return [`the status ${code} is not described`];
  const missing = Object.entries(described.headers)
    .filter(([name, header]) => resolve(header).required && !headers.has(name))
    .map(([name]) => `the header ${name} is missing`);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  const { schema } = described.content['application/json'];
  const validate = ajv.compile({ ...schema, components });
  return validate(JSON.parse(stream.toString()))
    ? missing
    : [...missing, ajv.errorsText(validate.errors)];
}
