import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errorCode, unlessMissing } from './errors.js';
import { pollUntil } from './polling.js';

const run = promisify(execFile);
const procfs = process.platform === 'linux';

/** One process in time: the id alone is given again to a stranger sooner or later. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}

/** The living process with this id; a zombie counts as dead. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const started = await (procfs ? startFromProc(pid) : startFromPs(pid));
  return started === undefined ? undefined : { pid, started };
}

export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  return (await identify(process.pid))?.started === process.started;
}

/** Signals this very process; false when it is already gone. */
export async function sendSignal(
  target: ProcessIdentity,
  signal: NodeJS.Signals,
): Promise<boolean> {
  if (!(await isAlive(target))) return false;
  try {
    return process.kill(target.pid, signal);
  } catch (error) {
    if (isAlreadyGone(error)) return false;
    throw error;
  }
}

/** Whether the id is taken at all, be it by a zombie; this is all that postgres itself looks at. */
export function isPidInUse(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !isAlreadyGone(error);
  }
}

/** Sends each signal in turn, giving the process that many milliseconds to end after each. */
export async function endProcess(
  target: ProcessIdentity,
  steps: readonly (readonly [signal: NodeJS.Signals, timeoutMs: number])[],
): Promise<void> {
  for (const [signal, timeout] of steps) {
    if (!(await sendSignal(target, signal))) return;
    if (await pollUntil(async () => !(await isAlive(target)), { every: 10, timeout })) return;
  }
}

/** The arguments joined by blanks, or the title that the process gave itself; '' when it is gone. */
export async function commandOf(pid: number): Promise<string> {
  if (!procfs) return (await ps(['-ww', '-o', 'command=', '-p', String(pid)])).trim();
  const raw = await readProc(pid, 'cmdline');
  return raw.replaceAll('\0', ' ').trimEnd();
}

/** Undefined also when the system does not let us look, as in a container without CAP_SYS_PTRACE. */
export async function workingDirectoryOf(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/cwd`).catch(() => undefined);
}

/** The living processes whose command, or title, is such a one. */
export async function findProcesses(
  isWanted: (command: string) => boolean,
): Promise<ProcessIdentity[]> {
  const all = await (procfs ? commandsFromProc() : commandsFromPs());
  const wanted = all.filter(({ command }) => isWanted(command));
  const found = await Promise.all(wanted.map(({ pid }) => identify(pid)));
  return found.filter((each) => each !== undefined);
}

async function startFromProc(pid: number): Promise<string | undefined> {
  const stat = await readProc(pid, 'stat');
  // The name, in parentheses, may itself contain blanks and parentheses: count from the last one.
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

/** '' for a process that is gone or hidden from this user; no other failure may pass for death. */
async function readProc(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) return '';
    throw error;
  });
}

/** With fixed language and time zone, so that two processes read the same start time alike. */
async function ps(args: readonly string[]): Promise<string> {
  try {
    return (await run('env', ['LC_ALL=C', 'TZ=UTC', 'ps', ...args])).stdout;
  } catch (error) {
    // A number is ps' own exit code: there is no such process.
    if (errorCode(error) === undefined) return '';
    throw error;
  }
}

function isAlreadyGone(error: unknown): boolean {
  return errorCode(error) === 'ESRCH';
}
