import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../embedded-postgres/errors.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const NAME = /^latitude-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.backup$/;
const PARTIAL = '.partial';

/** A scheduled backup, which is complete and was verified. */
export interface ScheduledBackup {
  readonly file: string;
  /** When it began: it holds what was committed before. */
  readonly madeAt: Date;
}

/** The name of a backup that begins at a time. Until it is complete, it has the ending `.partial`. */
export function backupName(time: Date): string {
  return `latitude-${time.toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`;
}

export function partialOf(file: string): string {
  return `${file}${PARTIAL}`;
}

/** The scheduled backups of a directory, the newest first. None if it does not exist. Other files are left alone. */
export async function listBackups(directory: string): Promise<ScheduledBackup[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const backups = names.flatMap((name) => {
    const [, date, ...time] = NAME.exec(name) ?? [];
    if (date === undefined) return [];
    return [{ file: path.join(directory, name), madeAt: new Date(`${date}T${time.join(':')}Z`) }];
  });
  return backups.sort((a, b) => b.madeAt.getTime() - a.madeAt.getTime());
}

/** The newest backup that was made before a time: a clock that was wrong can have made later ones. */
export function latestOf(
  backups: readonly ScheduledBackup[],
  now: Date,
): ScheduledBackup | undefined {
  return backups.find(({ madeAt }) => madeAt <= now);
}

/**
 * Whether a backup is due: none was made since the last time of day at which one begins. A backup that is older than a
 * day is therefore never the last one.
 * @param at minutes after midnight UTC
 */
export function isBackupDue(latest: ScheduledBackup | undefined, at: number, now: Date): boolean {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS + at * MINUTE_MS;
  const last = today <= now.getTime() ? today : today - DAY_MS;
  return latest === undefined || latest.madeAt.getTime() < last;
}

/** Removes all but a number of backups. One of those that stay is the one that was just made. @returns the removed ones */
export async function removeOldBackups(
  directory: string,
  made: string,
  keep: number,
): Promise<string[]> {
  const others = (await listBackups(directory)).filter(({ file }) => file !== made);
  const old = others.slice(keep - 1).map(({ file }) => file);
  for (const file of old) await rm(file, { force: true });
  return old;
}

/** Removes what a backup has left that was killed. */
export async function removePartialBackups(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const isPartial = name.endsWith(PARTIAL) && NAME.test(name.slice(0, -PARTIAL.length));
    if (isPartial) await rm(path.join(directory, name), { force: true });
  }
}
