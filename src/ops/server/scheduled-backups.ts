import { createReadStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { BackupFileError, BackupReader } from '../backup/backup-file.js';
import {
  backupName,
  isBackupDue,
  latestOf,
  listBackups,
  partialOf,
  removeOldBackups,
  removePartialBackups,
} from '../backup/backup-folder.js';
import { writeBackup } from '../backup/write-backup.js';
import { erasureLines } from '../cli/erasures.js';
import { sync, writeSynced } from '../cli/partial-file.js';
import { errorCode } from '../embedded-postgres/errors.js';
import { logger } from '../../platform/config/logger.js';
import type { DatabaseTarget } from '../../platform/data/connection/data-source-options.js';
import type { Progress } from '../../platform/extension/command.js';
import { BackgroundWork } from '../../platform/jobs/background-work.js';
import { MetricsRegistry } from '../../platform/metrics-registry.js';

/** How often a server looks whether a backup is due. */
const CHECK_MS = 60_000;

/** The time until the next attempt after one that failed. */
const RETRY_MS = 3_600_000;

/** The erased leads, for the restore of an earlier backup. */
const ERASURES = 'erasures.ndjson';

const FAILURE = 'the scheduled backup could not be started';

const withoutProgress: Progress = (_, work) => work(() => undefined);

interface BackupPlan {
  readonly directory: string;
  /** When the backup of a day begins, in minutes after midnight UTC. Default: 03:00. */
  readonly at?: number | undefined;
  /** How many backups stay. */
  readonly keep?: number | undefined;
}

const DEFAULT_AT = 3 * 60;
const DEFAULT_KEEP = 7;

/**
 * Makes a backup of the embedded PostgreSQL each day, verifies it, and removes old ones. No lease is needed: the embedded
 * PostgreSQL serves one server.
 */
export class ScheduledBackups {
  private readonly background = this.app.get(BackgroundWork);
  private readonly registers = [this.app.get(MetricsRegistry)];
  private readonly outcomes = new Counter({
    name: 'latitude_backups_total',
    help: 'Scheduled backups by outcome: succeeded, failed.',
    labelNames: ['outcome'],
    registers: this.registers,
  });
  private readonly lastSuccess = new Gauge({
    name: 'latitude_backup_last_success_timestamp_seconds',
    help: 'Unix time at which the newest complete scheduled backup began; 0 if there is none.',
    registers: this.registers,
  });
  private isRunning = false;
  /** When the next attempt may begin. */
  private notBefore = new Date(0);

  /** @param stop is aborted when the server is to stop, and ends a running backup */
  constructor(
    private readonly app: INestApplicationContext,
    private readonly database: DatabaseTarget,
    private readonly plan: BackupPlan,
    private readonly stop: AbortSignal,
  ) {
    for (const outcome of ['succeeded', 'failed']) this.outcomes.inc({ outcome }, 0);
  }

  /** Makes a backup at once if one is due, and from then on whenever one is. */
  start(): void {
    const check = () => this.check();
    this.background.start(check, FAILURE);
    this.background.repeat(CHECK_MS, check, FAILURE);
  }

  /** Makes a backup if one is due, and none is running. */
  async check(now = new Date()): Promise<void> {
    if (this.isRunning || now < this.notBefore) return;
    this.isRunning = true;
    try {
      const latest = latestOf(await listBackups(this.plan.directory), now);
      this.lastSuccess.set((latest?.madeAt.getTime() ?? 0) / 1_000);
      if (isBackupDue(latest, this.plan.at ?? DEFAULT_AT, now)) await this.make(now);
    } catch (error) {
      if (this.stop.aborted) {
        logger.info('the backup was stopped; the next start makes it');
        return;
      }
      this.notBefore = new Date(now.getTime() + RETRY_MS);
      this.outcomes.inc({ outcome: 'failed' });
      const line = { err: error, directory: this.plan.directory, reason: reasonOf(error) };
      logger.error(line, 'a backup failed; the next attempt is in an hour');
    } finally {
      this.isRunning = false;
    }
  }

  private async make(now: Date): Promise<void> {
    const { directory, keep = DEFAULT_KEEP } = this.plan;
    const file = path.join(directory, backupName(now));
    const start = performance.now();
    await this.write(file);
    this.outcomes.inc({ outcome: 'succeeded' });
    this.lastSuccess.set(Math.floor(now.getTime() / 1_000));
    const removed = await removeOldBackups(directory, file, keep).catch((error: unknown) => {
      logger.warn({ err: error, directory }, 'old backups could not be removed');
      return [];
    });
    const { size: bytes } = await stat(file);
    const ms = Math.round(performance.now() - start);
    logger.info({ file, bytes, ms, removed }, 'a backup was made and verified');
  }

  /** Writes a backup, which gets its name after it was verified. */
  private async write(file: string): Promise<void> {
    const { directory } = this.plan;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await removePartialBackups(directory);
    const partial = partialOf(file);
    try {
      await writeSynced(partial, (sink) =>
        writeBackup(this.database, sink, withoutProgress, this.stop),
      );
      const reader = await BackupReader.open(createReadStream(partial, { signal: this.stop }));
      await reader.verify();
      await this.writeErasures();
      await rename(partial, file);
      // Windows cannot do so.
      if (process.platform !== 'win32') await sync(directory);
    } finally {
      await rm(partial, { force: true });
    }
  }

  private async writeErasures(): Promise<void> {
    const file = path.join(this.plan.directory, ERASURES);
    const partial = partialOf(file);
    const lines = await erasureLines(this.app);
    await rm(partial, { force: true });
    await writeSynced(partial, (sink) => pipeline(lines, sink));
    await rename(partial, file);
  }
}

/** The message of an error that contains no stored data. */
function reasonOf(error: unknown): string | undefined {
  const isKnown = error instanceof BackupFileError || isSystemError(error);
  return isKnown ? error.message : undefined;
}

/** Whether an error is one of the operating system, such as a full disk. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return /^E[A-Z]+$/.test(errorCode(error) ?? '') && 'syscall' in (error as Error);
}
