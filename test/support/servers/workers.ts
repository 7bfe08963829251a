import { execFileSync } from 'node:child_process';
import { type RunningServer, until } from './product.js';

/** Returns the ids of the workers of a server. */
export function workersOf({ pid: parent }: RunningServer): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return lines.split('\n').flatMap((line) => {
    const [, pid, ppid, args = ''] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [];
    return Number(ppid) === parent && args.includes('main.js') ? [Number(pid)] : [];
  });
}

/** Waits until no process has the ids. */
export function untilGone(pids: readonly number[]): Promise<void> {
  return until(() => Promise.resolve(pids.every((pid) => !isRunning(pid))));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
