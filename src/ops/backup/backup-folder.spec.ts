import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  backupName,
  isBackupDue,
  latestOf,
  listBackups,
  partialOf,
  removeOldBackups,
  removePartialBackups,
} from './backup-folder.js';

const AT = 3 * 60;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'latitude-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

const daysOf = (...days: number[]) => days.map((day) => new Date(Date.UTC(2026, 2, day, 3)));

async function fill(...names: string[]): Promise<void> {
  for (const name of names) await writeFile(path.join(folder, name), '');
}

describe('isBackupDue', () => {
  const due = (latest: string | undefined, now: string) =>
    isBackupDue(latest ? { file: '', madeAt: new Date(latest) } : undefined, AT, new Date(now));

  it.each([
    ['there is none', undefined, '2026-03-02T01:00:00Z'],
    ['the time of day has come', '2026-03-01T03:00:10Z', '2026-03-02T03:00:00Z'],
    ['the time of day was missed', '2026-03-01T03:00:10Z', '2026-03-02T14:00:00Z'],
    ['the last one is older than a day', '2026-02-28T02:00:00Z', '2026-03-01T02:30:00Z'],
    ['one was made between times', '2026-03-01T14:00:00Z', '2026-03-02T03:00:00Z'],
  ])('says yes if %s', (_, latest, now) => {
    expect(due(latest, now)).toBe(true);
  });

  it.each([
    ['was made at the time of day', '2026-03-02T03:00:00Z', '2026-03-02T03:01:00Z'],
    ['was made since the time of day', '2026-03-01T14:00:00Z', '2026-03-02T02:59:59Z'],
    ['was made a second ago', '2026-03-02T14:00:00Z', '2026-03-02T14:00:01Z'],
  ])('says no if the last one %s', (_, latest, now) => {
    expect(due(latest, now)).toBe(false);
  });
});

describe('the backups of a directory', () => {
  it('are none if it does not exist', async () => {
    expect(await listBackups(path.join(folder, 'missing'))).toEqual([]);
  });

  it('are listed from the newest to the oldest, without other files', async () => {
    const times = daysOf(2, 4, 3);
    const own = times.map(backupName);
    expect(own[0]).toBe('latitude-2026-03-02T03-00-00Z.backup');
    await fill(...own, partialOf(own[0]!), 'latitude.backup', 'erasures.ndjson');
    const listed = await listBackups(folder);
    expect(listed.map(({ madeAt }) => madeAt)).toEqual(daysOf(4, 3, 2));
    expect(listed[0]?.file).toBe(path.join(folder, own[1]!));
  });

  it('have a latest one, which no clock that was wrong has dated in the future', async () => {
    await fill(...daysOf(2, 3, 9).map(backupName));
    const latest = latestOf(await listBackups(folder), new Date('2026-03-04T00:00:00Z'));
    expect(latest?.madeAt).toEqual(daysOf(3)[0]);
  });

  it('stay up to a number, and among them the one that was just made', async () => {
    const [old, middle, made, future] = daysOf(1, 2, 3, 9).map(backupName);
    await fill(old!, middle!, made!, future!, 'other.backup');
    await removeOldBackups(folder, path.join(folder, made!), 2);
    expect((await readdir(folder)).sort()).toEqual([made, future, 'other.backup'].sort());
    await removeOldBackups(folder, path.join(folder, made!), 1);
    expect((await readdir(folder)).sort()).toEqual([made, 'other.backup'].sort());
  });

  it('lose the parts that killed backups have left', async () => {
    const [whole, killed] = daysOf(1, 2).map(backupName);
    await fill(whole!, partialOf(killed!), 'mine.partial');
    await removePartialBackups(folder);
    expect((await readdir(folder)).sort()).toEqual([whole, 'mine.partial'].sort());
  });
});
