// Runs queues of commands at the same time, because most commands wait for long. `--` starts the next queue.
// The output of a command is printed when it ends. If one fails, the others are ended. Usage: node
// .ci/queues.mjs 'command' 'command' -- 'command' ...
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

const queues = [[]];
for (const argument of process.argv.slice(2)) {
  if (argument === '--') queues.push([]);
  else queues.at(-1).push(argument);
}

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

/** @returns its combined output. @throws Error if it fails */
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

try {
  await Promise.all(
    queues.map(async (commands) => {
      for (const command of commands) await run(command);
    }),
  );
} catch (error) {
  console.error(`queues: ${error.message}`);
  endRunning();
  process.exitCode = 1;
}
// Commands that are ended do not print their output.
if (process.exitCode) process.exit();
