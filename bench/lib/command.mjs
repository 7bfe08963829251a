import { parseArgs } from 'node:util';

/**
 * Runs a command with one numeric option, and cleans up afterwards, also after an error or a signal.
 * @param option name, minimum, maximum and default of the option
 * @param main receives the number and a list for clean-up steps, which run in reverse order
 */
export async function runCommand({ name, usage, option }, main) {
  const cleanups = [];
  const interrupted = new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.once(signal, () => reject(new Error(`ended by ${signal}`)));
    }
  });
  try {
    const number = readNumber(option, usage);
    if (number === undefined) console.log(usage);
    else await Promise.race([main(number, cleanups), interrupted]);
  } catch (error) {
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exitCode = 1;
  } finally {
    for (const step of cleanups.reverse()) await step().catch(() => undefined);
  }
  process.exit();
}

function readNumber({ name, min, max, fallback }, usage) {
  const { values } = parseArgs({
    options: {
      [name]: { type: 'string', default: String(fallback) },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new Error(`--${name} must be an integer from ${min} to ${max}\n\n${usage}`);
}
