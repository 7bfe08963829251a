import { latestOf, listBackups } from '../../backup/backup-folder.js';
import { type Checks, failed, type Finding, ok, skipped, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';

const HOUR_MS = 3_600_000;

/** A backup is made each day, and takes a while. */
const OLD_HOURS = 26;
const TOO_OLD_HOURS = 7 * 24;

/** Whether the data is kept elsewhere. */
export const BACKUP_CHECKS: Checks<DatabaseContext> = {
  backup: (context) =>
    context.database.embedded ? examineBackups(context) : examineArchive(context),
};

async function examineBackups({ settings: { backupDir } }: DatabaseContext): Promise<Finding> {
  if (backupDir === undefined) {
    return warning(
      'BACKUP_DIR is not set, so that no backups are made.',
      'Set BACKUP_DIR to a directory on another disk.',
    );
  }
  const now = new Date();
  const latest = latestOf(await listBackups(backupDir), now);
  const remedy = 'Look for "a backup failed" in the log of the server, which makes the backups.';
  if (!latest) return warning(`There is no backup yet in ${backupDir}.`, remedy);
  const hours = Math.floor((now.getTime() - latest.madeAt.getTime()) / HOUR_MS);
  const message = `The last backup in ${backupDir} is ${hours} hours old.`;
  if (hours >= TOO_OLD_HOURS) return failed(message, remedy);
  return hours >= OLD_HOURS ? warning(message, remedy) : ok(message);
}

/** Of the backups of a server, SQL shows only whether it archives its write-ahead log. */
async function examineArchive({ sql }: DatabaseContext): Promise<Finding> {
  const { mode, fails } = await sql.readOne<{ mode: string; fails: boolean | null }>(
    `select current_setting('archive_mode') as mode,
       last_failed_time > coalesce(last_archived_time, '-infinity') as fails from pg_stat_archiver`,
  );
  if (mode === 'off') {
    return skipped('SQL does not show whether backups are made of a PostgreSQL of your own.');
  }
  if (!fails) return ok('The server archives its write-ahead log.');
  return warning(
    'The server could not archive the last file of its write-ahead log.',
    'Look for archive_command in the log of PostgreSQL.',
  );
}
