// What Latitude costs, beside other servers or by the size of an organization: bench/README.md.
import { measureFlatness } from './flat/flatness.mjs';
import { compare } from './lib/comparison.mjs';
import { readOptions } from './lib/options.mjs';

const started = performance.now();
const note = (line) => {
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stderr.write(`${String(seconds).padStart(4)} s  ${line}\n`);
};

/** What has to be undone at the end, the last first. */
const undo = [];

async function main(options, signal) {
  const measure = options.flat ? measureFlatness : compare;
  await measure(options, { note, undo, signal });
  note('done');
}

const interrupted = new AbortController();
const interruption = new Promise((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      reject(new Error(`ended by ${signal}`));
      interrupted.abort();
    });
  }
});

try {
  const options = readOptions(process.argv.slice(2));
  if (options) await Promise.race([main(options, interrupted.signal), interruption]);
} catch (error) {
  note(`bench: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const step of undo.reverse()) await step().catch((error) => note(error.message));
}
process.exit();
