// Runs the fuzz tests: for longer, or once more with the same inputs.
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { run as runJest } from 'jest';

const DEFAULT_RUNS = 50;
const MOST_RUNS = 1_000_000;
const MOST_SEED = 2 ** 31 - 1;

const USAGE = `npm run test:fuzz -- [options] [files]

  --runs N   inputs that each property is tried with, 1 to ${MOST_RUNS} (${DEFAULT_RUNS})
  --seed N   what the inputs follow from, 0 to ${MOST_SEED} (another one each time)
  --help     show this
`;

const OPTIONS = { runs: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean' } };

/** @throws Error whose first line names the option that is wrong */
function readOptions(args) {
  const { values, positionals: files } = parseArgs({
    args,
    options: OPTIONS,
    allowPositionals: true,
  });
  return {
    runs: integer('--runs', values.runs ?? String(DEFAULT_RUNS), 1, MOST_RUNS),
    seed: integer('--seed', values.seed ?? String(randomInt(MOST_SEED)), 0, MOST_SEED),
    help: values.help ?? false,
    files,
  };
}

function integer(name, text, least, most) {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (value >= least && value <= most) return value;
  throw new Error(`${name} must be an integer from ${least} to ${most}`);
}

async function run({ runs, seed, files }) {
  const command = `npm run test:fuzz -- --runs ${runs} --seed ${seed}`;
  console.log(`Seed ${seed}. To run the same again: ${[command, ...files].join(' ')}`);
  Object.assign(process.env, { FUZZ_RUNS: runs, FUZZ_SEED: seed });
  await runJest(['--config', 'test/fuzz/jest.config.mjs', ...files]);
}

process.chdir(path.resolve(import.meta.dirname, '../..'));
try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) console.log(USAGE);
  else await run(options);
} catch (error) {
  const [problem] = error.message.split(/\n|\. /);
  process.stderr.write(`test:fuzz: ${problem}\n`);
  process.exitCode = 1;
}
