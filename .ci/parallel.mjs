// Runs commands, two at a time, because most commands wait for long. With more, tests exceed the timeouts of the servers
// that they start. A command starts when one before it has ended, so the long ones should come first. The output of a
// command is printed when it ends. If one fails, the others are ended. Usage: node .ci/parallel.mjs 'command' ...
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

const WORKERS = 2;

const waiting = process.argv.slice(2);

/** Running commands. Each is the leader of a process group. */
const running = new Set();

function endRunning() {
  for (const { pid } of running) process.kill(-pid, 'SIGTERM');
}
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.once(signal, () => {
    endRunning();
    process.exit(code);
  });
}

/** Prints the output of a command when it has ended. @throws Error if it failed */
async function run(command) {
  const started = performance.now();
  const child = spawn('bash', ['-c', `exec 2>&1; ${command}`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const output = text(child.stdout);
  const code = await ended;
  running.delete(child);
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stdout.write(`\n$ ${command} (${seconds} s)\n${await output}`);
  if (code !== 0) throw new Error(`${command} failed with ${code}`);
}

async function runWaiting() {
  while (waiting.length > 0) await run(waiting.shift());
}

try {
  await Promise.all(Array.from({ length: WORKERS }, runWaiting));
} catch (error) {
  console.error(`parallel: ${error.message}`);
  endRunning();
  process.exitCode = 1;
}
// Commands that are ended do not print their output.
if (process.exitCode) process.exit();
