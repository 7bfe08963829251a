import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errorCode } from './errors.js';
import { pollUntil } from './polling.js';

const run = promisify(execFile);

/** What identifies a process. The id alone does not, because it is reused. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}

interface RunningProcess extends ProcessIdentity {
  /** The command line, or the title that the process set itself. */
  readonly command: string;
}

/** @returns the running process with this id; undefined for a zombie */
export function findProcess(pid: number): Promise<RunningProcess | undefined> {
  // The images of Docker have no `ps`, and macOS has no /proc.
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid);
}

export async function isAlive({ pid, started }: ProcessIdentity): Promise<boolean> {
  return (await findProcess(pid))?.started === started;
}

/** Sends the signals one after another, and waits for the end of the process after each. */
export async function endProcess(
  target: ProcessIdentity,
  steps: readonly (readonly [signal: NodeJS.Signals, timeoutMs: number])[],
): Promise<void> {
  const hasEnded = async () => !(await isAlive(target));
  for (const [signal, timeout] of steps) {
    if (await hasEnded()) return;
    try {
      process.kill(target.pid, signal);
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw error;
    }
    await pollUntil(hasEnded, { timeout });
  }
}

async function readFromProc(pid: number): Promise<RunningProcess | undefined> {
  const stat = await readProc(`${pid}/stat`);
  // The name in parentheses may contain blanks and parentheses: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const ticksSinceBoot = fields[19];
  if (ticksSinceBoot === undefined || state === 'Z' || state === 'X') return undefined;
  const boot = (await readProc('sys/kernel/random/boot_id')).trim();
  const command = (await readProc(`${pid}/cmdline`)).replaceAll('\0', ' ').trimEnd();
  return { pid, started: `${boot}/${ticksSinceBoot}`, command };
}

/** '' for a process that has ended or is hidden from this user. Other failures are thrown. */
async function readProc(file: string): Promise<string> {
  return readFile(`/proc/${file}`, 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) return '';
    throw error;
  });
}

/** Language and time zone are fixed, so that start times can be compared. */
async function readFromPs(pid: number): Promise<RunningProcess | undefined> {
  const columns = ['stat', 'lstart', 'command'].flatMap((name) => ['-o', `${name}=`]);
  const ps = ['LC_ALL=C', 'TZ=UTC', 'ps', '-ww', ...columns, '-p', String(pid)];
  const { stdout } = await run('env', ps).catch((error: unknown) => {
    // `ps` ended with an exit code, because there is no such process.
    if (errorCode(error) === undefined) return { stdout: '' };
    throw error;
  });
  const [, started, command] = /^[^Z\s]\S* +(\w+ +\w+ +\d+ [\d:]+ \d+) +(.*)$/m.exec(stdout) ?? [];
  return started !== undefined && command !== undefined ? { pid, started, command } : undefined;
}
