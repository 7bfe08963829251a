import { readdir, readFile } from 'node:fs/promises';

/** Resolution of the times in /proc/<pid>/stat, which is 100 Hz on Linux. */
const MICROSECONDS_PER_TICK = 10_000;

/** @returns processor time of all threads of a process, in microseconds; undefined without /proc */
export async function cpuOf(pid) {
  const stat = await statOf(pid);
  return stat && stat.own * MICROSECONDS_PER_TICK;
}

/** @returns processor time of a process and its children, including those that have ended, in microseconds */
export async function cpuOfProcessTree(pid) {
  for (;;) {
    const head = await statOf(pid);
    if (head === undefined) return undefined;
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const stats = await Promise.all(pids.map(statOf));
    const children = stats.filter((stat) => stat?.parent === pid);
    // Start again if a child has ended meanwhile.
    if ((await statOf(pid))?.ended !== head.ended) continue;
    const ticks = children.reduce((sum, { own }) => sum + own, head.own + head.ended);
    return ticks * MICROSECONDS_PER_TICK;
  }
}

async function statOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the name in parentheses, which may contain spaces.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return { parent: fields[1], own: fields[11] + fields[12], ended: fields[13] + fields[14] };
}
