import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errorCode } from './errors.js';
import { pollUntil } from './polling.js';

const run = promisify(execFile);
const hasProcfs = process.platform === 'linux';

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
export async function findProcess(pid: number): Promise<RunningProcess | undefined> {
  if (hasProcfs) return readFromProc(pid);
  const [found] = await readFromPs('-p', String(pid));
  return found;
}

/** Finds the running processes whose command line or title matches. */
export async function findProcesses(
  isWanted: (command: string) => boolean,
): Promise<RunningProcess[]> {
  const all = await (hasProcfs ? readAllFromProc() : readFromPs('-ax'));
  return all.filter((each) => each !== undefined && isWanted(each.command)) as RunningProcess[];
}

export async function isAlive({ pid, started }: ProcessIdentity): Promise<boolean> {
  return (await findProcess(pid))?.started === started;
}

/** Whether a process or zombie of this user has this id, which is how PostgreSQL checks for a postmaster. */
export function isPidInUse(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
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
    await pollUntil(hasEnded, { every: 10, timeout });
  }
}

async function readAllFromProc(): Promise<(RunningProcess | undefined)[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  return Promise.all(pids.map(readFromProc));
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
async function readFromPs(...selection: readonly string[]): Promise<RunningProcess[]> {
  const columns = ['pid', 'stat', 'lstart', 'command'].flatMap((name) => ['-o', `${name}=`]);
  const ps = ['LC_ALL=C', 'TZ=UTC', 'ps', '-ww', ...columns, ...selection];
  const { stdout } = await run('env', ps).catch((error: unknown) => {
    // `ps` ended with an exit code, because there is no such process.
    if (errorCode(error) === undefined) return { stdout: '' };
    throw error;
  });
  const rows = stdout.matchAll(/^ *(\d+) +([^Z\s]\S*) +(\w+ +\w+ +\d+ [\d:]+ \d+) +(.*)$/gm);
  return [...rows].map(([, pid, , started = '', command = '']) => ({
    pid: Number(pid),
    started,
    command,
  }));
}
