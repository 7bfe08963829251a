import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  eventually,
  insertUntilDisconnected,
  hasEnded,
  isUp,
  runningPostmaster,
  open,
  openInChild,
  parentOf,
  query,
  sandbox,
  startUnrelatedProcess,
  useSandbox,
} from '../../../support/servers/embedded-postgres.js';

useSandbox();

describe('after processes were killed', () => {
  it.each([
    ['node', (pid: number) => pid],
    ["node's process group", (pid: number) => -pid],
  ])('%s: postgres ends by itself and no committed row is lost', async (_, target) => {
    const killed = openInChild();
    const { pid, connection } = await killed.ready;
    await query(
      connection,
      'drop table if exists numbers; create table numbers (id int primary key)',
    );
    const committed = await insertUntilDisconnected(connection, () => {
      process.kill(target(killed.pid), 'SIGKILL');
    });
    await eventually(() => hasEnded(pid));

    const next = await open();
    const rows = await query<{ id: number }>(next.connection, 'select id from numbers order by id');
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(committed));
  });

  it('Node.js during initdb: the next startup succeeds', async () => {
    sandbox.dataDir = join(sandbox.root, 'interrupted');
    const killed = openInChild();
    const half = `postgres.init-${killed.pid}`;
    await eventually(() => existsSync(join(sandbox.dataDir, half, 'base')));
    killed.child.kill('SIGKILL');
    await eventually(() => hasEnded(killed.pid));
    const next = await open();
    expect(await isUp(next.connection)).toBe(true);
    expect(await readdir(sandbox.dataDir)).not.toContain(half);
  });

  it('postgres: it is restarted on the same socket', async () => {
    const log: string[] = [];
    const postgres = await open('server', undefined, (line) => log.push(line));
    const { pid, connection } = postgres;
    process.kill(pid, 'SIGKILL');
    await eventually(async () => postgres.pid !== pid && (await isUp(connection)));
    expect(log.filter((line) => line.includes('ended unexpectedly'))).toHaveLength(1);
  });

  it('postgres: it can be stopped during the restart', async () => {
    const postgres = await open();
    process.kill(postgres.pid, 'SIGKILL');
    await eventually(() => hasEnded(postgres.pid));
    await postgres.stop();
    expect(await runningPostmaster()).toBeUndefined();
    expect(await readdir(sandbox.dataDir)).toEqual(['postgres']);
  });

  const onLinux = process.platform === 'linux' ? describe : describe.skip;

  onLinux('the guard', () => {
    it('alone: postgres is restarted on the same socket', async () => {
      const postgres = await open();
      const { pid, connection } = postgres;
      process.kill(await parentOf(pid), 'SIGKILL');
      await eventually(async () => postgres.pid !== pid && (await isUp(connection)));
      expect(await hasEnded(pid)).toBe(true);
    });

    it('together with Node.js: the next server takes over', async () => {
      const killed = openInChild();
      const { pid } = await killed.ready;
      const guard = await parentOf(pid);
      const siblings = await readFile(`/proc/${guard}/task/${guard}/children`, 'utf8');
      const rest = siblings
        .trim()
        .split(' ')
        .map(Number)
        .filter((child) => child !== pid);
      for (const each of [killed.pid, guard, ...rest]) process.kill(each, 'SIGKILL');
      await eventually(async () => (await hasEnded(guard)) && (await hasEnded(killed.pid)));
      expect(await hasEnded(pid)).toBe(false);

      const next = await open();
      expect(await hasEnded(pid)).toBe(true);
      expect(await isUp(next.connection)).toBe(true);
    });
  });
});

describe('startup after an earlier run', () => {
  it('does not signal an unrelated process that postmaster.pid names', async () => {
    await (await open()).stop();
    const pid = startUnrelatedProcess();
    await writeFile(
      join(sandbox.dataDir, 'postgres/postmaster.pid'),
      `${pid}\n${sandbox.dataDir}/postgres\n`,
    );
    const { connection } = await open();
    expect(await isUp(connection)).toBe(true);
    expect(await hasEnded(pid)).toBe(false);
  });

  it('does not use the postgres of another directory', async () => {
    const other = await open();
    sandbox.dataDir = join(sandbox.root, 'second');
    await (await open()).stop();
    await writeFile(join(sandbox.dataDir, 'postgres/postmaster.pid'), `${other.pid}\n`);
    await open();
    expect(await isUp(other.connection)).toBe(true);
  });

  it.each([
    ['dead', () => 2 ** 22 + 1],
    ['an unrelated process by now', startUnrelatedProcess],
  ])('takes over from an owner that is %s', async (_, pid) => {
    const owner = { pid: pid(), started: 'earlier', role: 'server', socketDirectory: '/nowhere' };
    await mkdir(join(sandbox.dataDir, 'owner'), { recursive: true });
    await writeFile(join(sandbox.dataDir, 'owner/earlier.json'), JSON.stringify(owner));
    expect(await isUp((await open()).connection)).toBe(true);
  });

  it('removes the incomplete directories of killed processes', async () => {
    for (const name of ['postgres.init-1', `owner.claim-${startUnrelatedProcess()}-a.json`]) {
      await mkdir(join(sandbox.dataDir, name, 'base'), { recursive: true });
    }
    await open();
    expect((await readdir(sandbox.dataDir)).sort()).toEqual(['owner', 'postgres', 'run']);
  });
});
