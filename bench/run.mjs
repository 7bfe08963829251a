// Compares Latitude with other servers, or measures requests by the size of an organization (bench/README.md).
import { setTimeout } from 'node:timers';
import { measureBySize } from './flat/by-size.mjs';
import { compare } from './lib/comparison.mjs';
import { readOptions } from './lib/options.mjs';

const started = performance.now();
const progress = (line) => {
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stderr.write(`${String(seconds).padStart(4)} s  ${line}\n`);
};

/** Clean-up steps, which run at the end in reverse order. */
const cleanups = [];

async function main(options, signal) {
  const measure = options.mode === 'flat' ? measureBySize : compare;
  await measure(options, { progress, cleanups, signal });
  progress('done');
}

/** Time after an interruption in which complete rounds are reported. */
const REPORT_TIMEOUT_MS = 10_000;

const interrupted = new AbortController();
const interruption = new Promise((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      interrupted.abort();
      setTimeout(() => reject(new Error(`ended by ${signal}`)), REPORT_TIMEOUT_MS);
    });
  }
});

try {
  const options = readOptions(process.argv.slice(2));
  if (options) await Promise.race([main(options, interrupted.signal), interruption]);
} catch (error) {
  progress(`bench: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const step of cleanups.reverse()) await step().catch((error) => progress(error.message));
}
process.exit();
