import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errorCode, unlessMissing } from './errors.js';
import { pollUntil } from './polling.js';

const run = promisify(execFile);
const hasProcfs = process.platform === 'linux';

/** Identifies a process. The id alone does not, because it is reused. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}

/** @returns the running process with this id; undefined for a zombie */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const started = await (hasProcfs ? startFromProc(pid) : startFromPs(pid));
  return started === undefined ? undefined : { pid, started };
}

export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  return (await identify(process.pid))?.started === process.started;
}

/** Sends a signal to exactly this process. @returns false if it has ended */
async function sendSignal(target: ProcessIdentity, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isAlive(target))) return false;
  try {
    return process.kill(target.pid, signal);
  } catch (error) {
    if (isAlreadyGone(error)) return false;
    throw error;
  }
}

/** Whether a process or zombie has this id, which is how PostgreSQL itself checks for a postmaster. */
export function isPidInUse(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !isAlreadyGone(error);
  }
}

/** Sends the signals one after another, and waits for the end of the process after each. */
export async function endProcess(
  target: ProcessIdentity,
  steps: readonly (readonly [signal: NodeJS.Signals, timeoutMs: number])[],
): Promise<void> {
  for (const [signal, timeout] of steps) {
    if (!(await sendSignal(target, signal))) return;
    if (await pollUntil(async () => !(await isAlive(target)), { every: 10, timeout })) return;
  }
}

/** The command line of a process, or the title that it set itself; '' if it has ended. */
export async function commandOf(pid: number): Promise<string> {
  if (!hasProcfs) return (await ps(['-ww', '-o', 'command=', '-p', String(pid)])).trim();
  const raw = await readProc(pid, 'cmdline');
  return raw.replaceAll('\0', ' ').trimEnd();
}

/** Undefined also without permission, as in a container without CAP_SYS_PTRACE. */
export async function workingDirectoryOf(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/cwd`).catch(() => undefined);
}

/** Finds the running processes whose command line or title matches. */
export async function findProcesses(
  isWanted: (command: string) => boolean,
): Promise<ProcessIdentity[]> {
  const all = await (hasProcfs ? commandsFromProc() : commandsFromPs());
  const wanted = all.filter(({ command }) => isWanted(command));
  const found = await Promise.all(wanted.map(({ pid }) => identify(pid)));
  return found.filter((each) => each !== undefined);
}

async function startFromProc(pid: number): Promise<string | undefined> {
  const stat = await readProc(pid, 'stat');
  // The name in parentheses may contain blanks and parentheses: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const ticksSinceBoot = fields[19];
  if (ticksSinceBoot === undefined || state === 'Z' || state === 'X') return undefined;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(unlessMissing(''));
  return `${boot.trim()}/${ticksSinceBoot}`;
}

async function startFromPs(pid: number): Promise<string | undefined> {
  const [, state, started] =
    /^(\S+)\s+(.+)$/.exec((await ps(['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)])).trim()) ??
    [];
  return state?.startsWith('Z') ? undefined : started;
}

async function commandsFromProc(): Promise<{ pid: number; command: string }[]> {
  const entries = await readdir('/proc');
  const pids = entries.map(Number).filter(Number.isInteger);
  return Promise.all(pids.map(async (pid) => ({ pid, command: await commandOf(pid) })));
}

async function commandsFromPs(): Promise<{ pid: number; command: string }[]> {
  const lines = (await ps(['-axww', '-o', 'pid=', '-o', 'command='])).split('\n');
  return lines.flatMap((line) => {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined ? [] : [{ pid: Number(pid), command }];
  });
}

/** '' for a process that has ended or is hidden from this user. Other failures are thrown. */
async function readProc(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) return '';
    throw error;
  });
}

/** Language and time zone are fixed, so that start times can be compared. */
async function ps(args: readonly string[]): Promise<string> {
  try {
    return (await run('env', ['LC_ALL=C', 'TZ=UTC', 'ps', ...args])).stdout;
  } catch (error) {
    // `ps` ended with an exit code, because there is no such process.
    if (errorCode(error) === undefined) return '';
    throw error;
  }
}

function isAlreadyGone(error: unknown): boolean {
  return errorCode(error) === 'ESRCH';
}
