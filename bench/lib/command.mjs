import { parseArgs } from 'node:util';

/**
 * Runs a command that takes one number, and undoes what it did however it ends.
 * @param option its name, the least, the most and the default of its number
 * @param main is given the number, and a list for the steps that undo what it does, the last first
 */
export async function runCommand({ name, usage, option }, main) {
  const undo = [];
  const interrupted = new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.once(signal, () => reject(new Error(`ended by ${signal}`)));
    }
  });
  try {
    const number = readNumber(option, usage);
    if (number === undefined) console.log(usage);
    else await Promise.race([main(number, undo), interrupted]);
  } catch (error) {
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exitCode = 1;
  } finally {
    for (const step of undo.reverse()) await step().catch(() => undefined);
  }
  process.exit();
}

function readNumber({ name, least, most, fallback }, usage) {
  const { values } = parseArgs({
    options: {
      [name]: { type: 'string', default: String(fallback) },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw new Error(`--${name} must be an integer from ${least} to ${most}\n\n${usage}`);
}
