import fs, { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { writeFileAtOnce } from '../../../../src/ops/cli/partial-file.js';
import { STOP_SIGNALS } from '../../../../src/platform/config/stop-signals.js';
import type { DatabaseTarget } from '../../../../src/platform/data/connection/data-source-options.js';
import {
  configOf,
  createDatabase,
  dropDatabase,
  urlOf,
} from '../../../../src/testing/databases.js';
import { latitude, runCommand } from '../../../support/command-line.js';
import { Product, resultWhenEnded, until } from '../../../support/servers/product.js';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'latitude-backups-'));
  file = path.join(folder, 'a.backup');
});
afterEach(() => rm(folder, { recursive: true }));

describe('latitude backup', () => {
  const product = new Product();
  let database: DatabaseTarget;
  let env: Record<string, string>;
  let blocker: pg.Client;

  beforeAll(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: urlOf(database) };
    blocker = new pg.Client(configOf(database));
    await blocker.connect();
  });
  afterAll(async () => {
    await blocker.end();
    await product.remove();
    await dropDatabase(database);
  });

  /** Starts backups to the file, which wait for a lock. */
  async function startBlocked(...optionsOfEach: string[][]) {
    await blocker.query('begin; lock table leads');
    const running = optionsOfEach.map((options) =>
      product.spawnCommand(['backup', ...options, file], env),
    );
    await until(async () => {
      const { rows } = await blocker.query(`select from pg_locks join pg_database on oid = database
        where not granted and datname = current_database()`);
      return rows.length === running.length;
    });
    return running;
  }

  it('to one file twice at a time completes once, and says that the file exists', async () => {
    const running = await startBlocked([], []);
    await blocker.query('commit');
    const results = await Promise.all(running.map(resultWhenEnded));
    expect(results.map(({ code }) => code).sort()).toEqual([0, 1]);
    const failed = results.find(({ code }) => code === 1);
    expect(failed?.stderr).toContain(`${file} exists`);
    await expectCompleteFile();
  });

  it('to one file twice at a time with --force completes both times', async () => {
    const running = await startBlocked(['--force'], ['--force']);
    await blocker.query('commit');
    const results = await Promise.all(running.map(resultWhenEnded));
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    await expectCompleteFile();
  });

  it.each(STOP_SIGNALS)('leaves no file after %s', async (signal) => {
    const [running] = await startBlocked([]);
    expect(await readdir(folder)).toHaveLength(1);
    running?.signal(signal);
    // A signal ended the process, so that there is no exit code.
    expect(await running?.ended).toBeNull();
    await blocker.query('rollback');
    expect(await readdir(folder)).toEqual([]);
  });

  it('names the file of a backup that was killed', async () => {
    const [running] = await startBlocked([]);
    running?.signal('SIGKILL');
    await running?.ended;
    await blocker.query('rollback');
    const [left] = await readdir(folder);
    const { code, stderr } = await runCommand(['backup', file], env);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `latitude: ${path.join(folder, String(left))} is incomplete: its backup still runs, or was killed.\n`,
    );
  });

  async function expectCompleteFile(): Promise<void> {
    expect(await readdir(folder)).toEqual([path.basename(file)]);
    const target = await createDatabase('empty');
    await latitude({ DATABASE_URL: urlOf(target) }, 'restore', file);
    await dropDatabase(target);
  }
});

it('a file whose content fails is reported with this failure, and removed', async () => {
  const broken = new Error('broken');
  async function* content() {
    yield 'a';
    await Promise.reject(broken);
  }
  const writing = writeFileAtOnce(file, false, (sink) => pipeline(content, sink));
  await expect(writing).rejects.toBe(broken);
  expect(await readdir(folder)).toEqual([]);
});

describe('a file that is written at once, where links are not supported', () => {
  const unsupported = Object.assign(new Error('no links'), { code: 'EPERM' });
  let link: jest.SpyInstance;

  beforeEach(() => {
    link = jest.spyOn(fs, 'link').mockRejectedValue(unsupported);
  });
  afterEach(() => {
    link.mockRestore();
  });

  const write = () =>
    writeFileAtOnce(file, false, async (sink) => {
      await pipeline(['new'], sink);
    });

  it('gets its name', async () => {
    await write();
    expect(link).toHaveBeenCalled();
    expect(await readFile(file, 'utf8')).toBe('new');
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('replaces no other file', async () => {
    await writeFile(file, 'old');
    await expect(write()).rejects.toThrow(`${file} exists`);
    expect(await readFile(file, 'utf8')).toBe('old');
    expect(await readdir(folder)).toHaveLength(1);
  });
});
