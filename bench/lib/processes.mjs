import { readdir, readFile } from 'node:fs/promises';

/** Resolution of the times in /proc/<pid>/stat, which is 100 Hz on Linux. */
const MICROSECONDS_PER_TICK = 10_000;
const BYTES_PER_PAGE = 4_096;
const BYTES_PER_MIB = 2 ** 20;

/**
 * Adds up the processor time and the memory of a process and its descendants. The processor time includes
 * that of children that have ended.
 * @param except a descendant that is left out, with its own descendants
 * @returns processor time in microseconds and resident memory in MiB; undefined without /proc
 */
export async function usageOfProcessTree(pid, except) {
  for (;;) {
    const head = await statOf(pid);
    if (head === undefined) return undefined;
    const tree = treeOf(pid, await allStats(), except);
    // Start again if a child has ended meanwhile.
    if ((await statOf(pid))?.ended !== head.ended) continue;
    const sumOf = (value) => tree.reduce((sum, stat) => sum + value(stat), 0);
    return {
      cpu: sumOf(({ own, ended }) => own + ended) * MICROSECONDS_PER_TICK,
      memory: (sumOf(({ pages }) => pages) * BYTES_PER_PAGE) / BYTES_PER_MIB,
    };
  }
}

function treeOf(root, stats, except) {
  const tree = stats.filter(({ pid }) => pid === root);
  // The list grows while it is read.
  for (const { pid } of tree) {
    tree.push(...stats.filter((stat) => stat.parent === pid && stat.pid !== except));
  }
  return tree;
}

async function allStats() {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return (await Promise.all(pids.map(statOf))).filter((stat) => stat !== undefined);
}

async function statOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the name in parentheses, which may contain spaces.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [own, ended] = [fields[11] + fields[12], fields[13] + fields[14]];
  return { pid, parent: fields[1], own, ended, pages: fields[21] };
}
