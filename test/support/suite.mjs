// Runs test suites that are not part of `npm test`, with options for their length.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { run as runJest } from 'jest';

/**
 * Runs `test/<name>`. Options of the command line become environment variables: `--runs 5` of the suite
 * `fuzz` sets `FUZZ_RUNS`.
 * @param usage text of `--help`
 * @param options bounds and default of each option, all integers
 * @param announce returns the first line of the output, from the values and the complete command
 */
export async function runSuite(name, { usage, options, announce }) {
  process.chdir(path.resolve(import.meta.dirname, '../..'));
  try {
    const { help, files, values } = readOptions(process.argv.slice(2), options);
    if (help) {
      console.log(usage);
      return;
    }
    const flags = Object.entries(values).map(([option, value]) => `--${option} ${value}`);
    const line = announce?.(values, [`npm run test:${name} --`, ...flags, ...files].join(' '));
    if (line) console.log(line);
    for (const [option, value] of Object.entries(values)) {
      process.env[`${name}_${option}`.toUpperCase()] = String(value);
    }
    await runJest(['--config', `test/${name}/jest.config.mjs`, ...files]);
  } catch (error) {
    const [problem] = error.message.split(/\n|\. /);
    process.stderr.write(`test:${name}: ${problem}\n`);
    process.exitCode = 1;
  }
}

/** @throws Error whose first line names the option that is wrong */
function readOptions(args, options) {
  const strings = Object.keys(options).map((name) => [name, { type: 'string' }]);
  const { values, positionals: files } = parseArgs({
    args,
    options: { ...Object.fromEntries(strings), help: { type: 'boolean' } },
    allowPositionals: true,
  });
  const integers = Object.entries(options).map(([name, bounds]) => [
    name,
    integer(`--${name}`, values[name] ?? String(bounds.default), bounds),
  ]);
  return { help: values.help ?? false, files, values: Object.fromEntries(integers) };
}

function integer(name, text, { min, max }) {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (value >= min && value <= max) return value;
  throw new Error(`${name} must be an integer from ${min} to ${max}`);
}
