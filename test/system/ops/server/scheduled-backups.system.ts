import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { BackupFileError, BackupReader } from '../../../../src/ops/backup/backup-file.js';
import { ScheduledBackups } from '../../../../src/ops/server/scheduled-backups.js';
import { openDatabase } from '../../../../src/ops/open-database.js';
import { readSettings } from '../../../../src/platform/config/settings.js';
import { MetricsRegistry } from '../../../../src/platform/metrics-registry.js';
import { urlOf } from '../../../../src/testing/databases.js';
import { createLead, dataOf, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { captureLog } from '../../../support/captured-log.js';
import { latitude, runCommand } from '../../../support/command-line.js';

// Broken on purpose for docs/operating/runbook.md#the-backup-is-old

const HOUR_MS = 3_600_000;

let app: TestApp;
let tenant: Tenant;
let directory: string;
let stop: AbortController;
let backups: ScheduledBackups;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization({ scopes: [...app.scopes.ordinary, 'leads:erase'] });
});
beforeEach(async () => {
  directory = path.join(await mkdtemp(path.join(os.tmpdir(), 'latitude-scheduled-')), 'backups');
  stop = new AbortController();
  backups = schedule({ directory, at: 3 * 60, keep: 2 });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(path.dirname(directory), { recursive: true });
});
afterAll(() => app.stop());

const log = captureLog('info');

/** Schedules backups with metrics of their own. */
function schedule(plan: ConstructorParameters<typeof ScheduledBackups>[2]): ScheduledBackups {
  const registry = app.app.get(MetricsRegistry);
  registry.removeSingleMetric('latitude_backups_total');
  registry.removeSingleMetric('latitude_backup_last_success_timestamp_seconds');
  return new ScheduledBackups(app.app, app.database, plan, stop.signal);
}

/** The times of the backups in the directory, in their order. */
async function times(): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.backup'));
  return names.sort().map((name) => name.slice('latitude-'.length, -'.backup'.length));
}

/** The number of backups by outcome, and when the last one began. */
async function metrics() {
  const text = await app.app.get(MetricsRegistry).metrics();
  const valueOf = (sample: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(sample))
        ?.split(' ')[1],
    );
  return {
    succeeded: valueOf('latitude_backups_total{outcome="succeeded"}'),
    failed: valueOf('latitude_backups_total{outcome="failed"}'),
    last: valueOf('latitude_backup_last_success_timestamp_seconds '),
  };
}

const failures = () =>
  log
    .map((line) => JSON.parse(line) as { msg: string; reason?: string })
    .filter(({ msg }) => msg.startsWith('a backup failed'));

describe('scheduled backups', () => {
  it('are made at once, and then when the time of day has come', async () => {
    const { id } = await createLead(tenant.api);
    expect(await metrics()).toEqual({ succeeded: 0, failed: 0, last: 0 });
    for (const now of ['T14:00:00', 'T14:01:00', 'T23:59:59']) {
      await backups.check(new Date(`2026-03-01${now}Z`));
    }
    expect(await times()).toEqual(['2026-03-01T14-00-00Z']);
    for (const now of ['T02:59:59', 'T03:00:07', 'T03:01:00']) {
      await backups.check(new Date(`2026-03-02${now}Z`));
    }
    expect(await times()).toEqual(['2026-03-01T14-00-00Z', '2026-03-02T03-00-07Z']);
    const last = Date.parse('2026-03-02T03:00:07Z') / 1_000;
    expect(await metrics()).toEqual({ succeeded: 2, failed: 0, last });

    const file = path.join(directory, 'latitude-2026-03-02T03-00-07Z.backup');
    const found = await latitude<{ tables: { leads: number } }>({}, 'restore', '--verify', file);
    expect(found.tables.leads).toBeGreaterThanOrEqual(1);
    const modes = await Promise.all([directory, file].map((name) => stat(name)));
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600]);
    dataOf(await tenant.api.get(`${LEADS}/${id}`));
  });

  it('stay up to a number, beside files of other names', async () => {
    await backups.check(new Date('2026-03-01T03:00:00Z'));
    await writeFile(path.join(directory, 'mine.backup'), '');
    for (const day of ['02', '03']) await backups.check(new Date(`2026-03-${day}T03:00:00Z`));
    expect((await readdir(directory)).sort()).toEqual([
      'erasures.ndjson',
      'latitude-2026-03-02T03-00-00Z.backup',
      'latitude-2026-03-03T03-00-00Z.backup',
      'mine.backup',
    ]);
  });

  it('have the erasures so far beside them', async () => {
    const { id } = await createLead(tenant.api);
    await backups.check(new Date('2026-03-01T03:00:00Z'));
    dataOf(await tenant.api.post(`${LEADS}/${id}/erase`, undefined));
    await backups.check(new Date('2026-03-02T03:00:00Z'));
    const lines = (await readFile(path.join(directory, 'erasures.ndjson'), 'utf8')).split('\n');
    const leads = lines.filter(Boolean).map((line) => JSON.parse(line) as { lead_id: string });
    expect(leads).toContainEqual(
      expect.objectContaining({ lead_id: id, organization_id: tenant.id }),
    );
  });

  it('are not replaced by one that cannot be verified, which is made again after an hour', async () => {
    backups = schedule({ directory, keep: 1 });
    await backups.check(new Date('2026-03-01T03:00:00Z'));
    const damaged = new BackupFileError('is damaged: a checksum does not match');
    jest.spyOn(BackupReader.prototype, 'verify').mockRejectedValueOnce(damaged);
    const night = Date.parse('2026-03-02T03:00:00Z');
    await backups.check(new Date(night));
    const before = ['erasures.ndjson', 'latitude-2026-03-01T03-00-00Z.backup'];
    expect((await readdir(directory)).sort()).toEqual(before);
    expect(await metrics()).toEqual({
      ...{ succeeded: 1, failed: 1 },
      last: Date.parse('2026-03-01T03:00:00Z') / 1_000,
    });
    expect(failures()).toMatchObject([{ reason: damaged.message }]);
    await backups.check(new Date(night + HOUR_MS - 1));
    expect((await readdir(directory)).sort()).toEqual(before);
    await backups.check(new Date(night + HOUR_MS));
    expect(await times()).toEqual(['2026-03-02T04-00-00Z']);
  });

  it('are tried again where the directory cannot be used', async () => {
    await writeFile(directory, 'a file');
    const now = Date.parse('2026-03-01T03:00:00Z');
    await backups.check(new Date(now));
    expect(failures()).toMatchObject([{ reason: expect.stringContaining('ENOTDIR') as string }]);
    expect(await metrics()).toEqual({ succeeded: 0, failed: 1, last: 0 });
    await rm(directory);
    await backups.check(new Date(now + HOUR_MS));
    expect(await times()).toEqual(['2026-03-01T04-00-00Z']);
  });

  it('are not failures if the server stops meanwhile', async () => {
    await backups.check(new Date('2026-03-01T03:00:00Z'));
    const verify = jest.spyOn(BackupReader.prototype, 'verify');
    verify.mockImplementationOnce(() => {
      stop.abort('SIGTERM');
      return Promise.reject(new Error('aborted'));
    });
    await backups.check(new Date('2026-03-02T03:00:00Z'));
    expect(verify).toHaveBeenCalledTimes(1);
    expect(await readdir(directory)).toHaveLength(2);
    expect(await metrics()).toMatchObject({ succeeded: 1, failed: 0 });
    expect(failures()).toEqual([]);
  });
});

it('BACKUP_DIR with DATABASE_URL ends the start of a server, and not a command', async () => {
  const env = { BACKUP_DIR: 'backups', DATABASE_URL: urlOf(app.database) };
  const { stderr } = await runCommand(['organizations', 'list'], env);
  expect(stderr).toBe('');
  await expect(openDatabase(readSettings(env), 'server')).rejects.toThrow(
    /^BACKUP_DIR is for the embedded PostgreSQL, but DATABASE_URL is set: [^\n]+$/,
  );
});
