import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectoryInUseError } from '../../../../src/ops/embedded-postgres/errors.js';
import {
  eventually,
  hasEnded,
  isUp,
  open,
  openInChild,
  query,
  sandbox,
  useSandbox,
} from '../../../support/servers/embedded-postgres.js';

useSandbox();

describe('the embedded PostgreSQL', () => {
  it('creates its database on first use and keeps the rows', async () => {
    sandbox.dataDir = join(sandbox.root, 'missing/as yet');
    const first = await open();
    await query(first.connection, 'create table kept as select 42 as answer');
    await first.stop();
    const second = await open();
    expect(await query(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(second.connection.database).toBe('latitude');
  });

  it('is durable, and accepts connections only through a socket of its user', async () => {
    const { connection } = await open();
    const [settings] = await query(
      connection,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
              current_setting('listen_addresses') as addresses`,
    );
    expect(settings).toEqual({ fsync: 'on', commit: 'on', addresses: '' });
    expect((await stat(connection.host)).mode & 0o777).toBe(0o700);
  });

  it('passes flags to postgres', async () => {
    const { connection } = await open('server', ['-c', 'fsync=off']);
    expect(await query(connection, 'show fsync')).toEqual([{ fsync: 'off' }]);
  });

  it('leaves nothing behind after one or more calls of stop()', async () => {
    const postgres = await open();
    await Promise.all([postgres.stop(), postgres.stop()]);
    await postgres.stop();
    expect(await hasEnded(postgres.pid)).toBe(true);
    expect(await readdir(sandbox.dataDir)).toEqual(['postgres']);
  });

  it('does not keep the process running after stop()', async () => {
    const { child, ready } = openInChild();
    await ready;
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it.each([
    ['an odd name', `o'd"d, n\u00e4me $HOME`, true],
    ['a name too long for a socket', 'x'.repeat(100), false],
  ])('works in a directory with %s', async (_, name, socketInside) => {
    sandbox.dataDir = join(sandbox.root, name);
    const { connection } = await open();
    expect(await isUp(connection)).toBe(true);
    expect(connection.host.startsWith(sandbox.dataDir)).toBe(socketInside);
  });
});

describe('a data directory that two processes use', () => {
  it('refuses a second server and names the first one', async () => {
    await open();
    const second = open();
    await expect(second).rejects.toThrow(DataDirectoryInUseError);
    await expect(second).rejects.toThrow(
      `The data directory ${sandbox.dataDir} is in use by another Latitude server (process ${process.pid}): stop that one, or set DATA_DIR to another directory.`,
    );
  });

  it('connects a command to the PostgreSQL of the running server, and does not stop it', async () => {
    const server = await open();
    const command = await open('command');
    expect(command.pid).toBe(server.pid);
    expect(command.connection).toEqual(server.connection);
    await command.stop();
    expect(await isUp(server.connection)).toBe(true);
  });

  it('does not use the server of the original directory if it is a copy', async () => {
    const first = await open();
    await first.stop();
    const original = sandbox.dataDir;
    const copy = join(sandbox.root, 'copy');
    await cp(original, copy, { recursive: true, preserveTimestamps: true });
    const server = await open();
    for (const name of ['owner', 'postgres/postmaster.pid']) {
      await cp(join(original, name), join(copy, name), { recursive: true });
    }
    sandbox.dataDir = copy;
    const command = await open('command');
    expect(command.pid).not.toBe(server.pid);
    const place = `select current_setting('data_directory') as path`;
    expect(await query(command.connection, place)).toEqual([{ path: join(copy, 'postgres') }]);
    await command.stop();
    expect(await isUp(server.connection)).toBe(true);
    await server.stop();
  });

  it('makes a command wait for a server that is starting', async () => {
    const server = openInChild();
    await eventually(() => existsSync(join(sandbox.dataDir, 'owner')));
    const command = await open('command');
    expect(command.pid).toBe((await server.ready).pid);
  });

  it('makes a server wait for the end of a command', async () => {
    const command = await open('command');
    const server = openInChild();
    await eventually(async () => isUp(command.connection));
    const { pid } = command;
    await command.stop();
    expect((await server.ready).pid).not.toBe(pid);
  });

  it('lets only one of several servers start at the same time', async () => {
    sandbox.dataDir = join(sandbox.root, 'raced');
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => openInChild().outcome));
    expect(outcomes.filter(({ pid }) => pid !== undefined)).toHaveLength(1);
    expect(outcomes.filter(({ name }) => name === 'DataDirectoryInUseError')).toHaveLength(3);
  });
});

describe('the error of a failed startup', () => {
  it('names DATA_DIR if it is a file', async () => {
    sandbox.dataDir = join(sandbox.root, 'file');
    await writeFile(sandbox.dataDir, '');
    await expect(open()).rejects.toThrow(
      `The data directory ${sandbox.dataDir} cannot be used (ENOTDIR`,
    );
  });

  it('says how to move the data of another major version, and changes no file', async () => {
    await (await open()).stop();
    const versionFile = join(sandbox.dataDir, 'postgres/PG_VERSION');
    const version = await readFile(versionFile, 'utf8');
    await writeFile(versionFile, '15\n');
    const before = await filesOf(sandbox.dataDir);
    for (const role of ['server', 'command'] as const) {
      await expect(open(role)).rejects.toThrow(
        new RegExp(
          `${sandbox.dataDir} is of PostgreSQL 15, .* includes PostgreSQL ${version.trim()}. Nothing has been changed. ` +
            `.*"latitude backup latitude.backup" .*` +
            `"mv ${sandbox.dataDir} ${sandbox.dataDir}.postgres15".*"latitude restore --resume latitude.backup"`,
        ),
      );
    }
    expect(await filesOf(sandbox.dataDir)).toEqual(before);
    await writeFile(versionFile, version);
    await open();
  });

  it('quotes postgres if the cluster is damaged', async () => {
    await (await open()).stop();
    const control = join(sandbox.dataDir, 'postgres/global/pg_control');
    const sound = await readFile(control);
    await writeFile(control, sound.subarray(0, 100));
    await expect(open()).rejects.toThrow(/PostgreSQL could not start in .*: .*pg_control/);
    expect(await readdir(sandbox.dataDir)).not.toContain('owner');
    await writeFile(control, sound);
  });

  it('names the directory of the socket if other users can enter it', async () => {
    await mkdir(join(sandbox.dataDir, 'run'), { recursive: true, mode: 0o755 });
    await expect(open()).rejects.toThrow(`${sandbox.dataDir}/run`);
    await rmdir(join(sandbox.dataDir, 'run'));
  });
});

/** The path, time of the last change, and size of each file. */
async function filesOf(directory: string): Promise<(string | number)[][]> {
  const names = await readdir(directory, { recursive: true });
  const rows = names.sort().map(async (name) => {
    const stats = await stat(join(directory, name));
    return stats.isFile() ? [[name, stats.mtimeMs, stats.size, stats.uid]] : [];
  });
  return (await Promise.all(rows)).flat();
}
