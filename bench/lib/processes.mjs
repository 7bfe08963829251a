import { readdir, readFile } from 'node:fs/promises';

/** The clock of /proc/<pid>/stat, which Linux keeps at 100 Hz for programs. */
const MICROSECONDS_PER_TICK = 10_000;

/** Processor time that a process has used in all its threads; undefined where none is told. */
export async function cpuOf(pid) {
  const stat = await statOf(pid);
  return stat && stat.own * MICROSECONDS_PER_TICK;
}

/** Processor time of a process and all its children, those that have ended included. */
export async function cpuOfFamily(pid) {
  for (;;) {
    const head = await statOf(pid);
    if (head === undefined) return undefined;
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const stats = await Promise.all(pids.map(statOf));
    const children = stats.filter((stat) => stat?.parent === pid);
    // A child that ended meanwhile may be missing among them.
    if ((await statOf(pid))?.ended !== head.ended) continue;
    const ticks = children.reduce((sum, { own }) => sum + own, head.own + head.ended);
    return ticks * MICROSECONDS_PER_TICK;
  }
}

async function statOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the name in parentheses, which may hold anything.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return { parent: fields[1], own: fields[11] + fields[12], ended: fields[13] + fields[14] };
}
