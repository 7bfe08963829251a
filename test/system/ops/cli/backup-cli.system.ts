import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { VERSION } from '../../../../src/platform/config/version.js';
import { MIGRATIONS } from '../../../../src/platform/data/connection/data-source-options.js';
import { ApiClient } from '../../../../src/testing/api-client.js';
import { temporaryFile } from '../../../support/database/backups.js';
import { dropDatabase } from '../../../../src/testing/databases.js';
import { createDatabaseWithPlainOwner, urlOf } from '../../../support/database/plain-owner.js';
import { latitude, runCommand } from '../../../support/command-line.js';
import { Product } from '../../../support/servers/product.js';

const run = promisify(execFile);
const CLI = path.resolve(__dirname, '../../../../dist/src/cli.js');

/** A command that opened this database would fail. */
const NO_DATABASE = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };

interface Summary {
  rows: number;
  tables: Record<string, number>;
}

describe('latitude backup and restore', () => {
  const source = new Product();
  const file = temporaryFile();
  let key: string;

  beforeAll(async () => {
    ({ key } = await latitude<{ key: string }>(source.environment, 'demo', '--leads', '20'));
    await latitude(source.environment, 'demo', '--leads', '10');
  });
  afterAll(async () => {
    await source.remove();
    await rm(file, { force: true });
  });

  it('write a file with mode 600 while a server runs, and replace it only with --force', async () => {
    const server = await source.start();
    const tables = { organizations: 2, api_keys: 2, leads: 30, appointments: 18, tasks: 11 };
    const made = await latitude<Summary>(source.environment, 'backup', file);
    expect(made).toMatchObject({ file, bytes: expect.any(Number), tables });
    expect(made.rows).toBe(Object.values(made.tables).reduce((sum, rows) => sum + rows));
    const { mode, size } = await stat(file);
    expect(made).toMatchObject({ latitude: VERSION, schema: MIGRATIONS.at(-1)!.name });
    const { file: _, bytes: __, ...summary } = made as unknown as Record<string, unknown>;
    expect(await latitude(NO_DATABASE, 'restore', '--verify', file)).toEqual(summary);
    expect([mode & 0o777, size]).toEqual([0o600, (made as unknown as { bytes: number }).bytes]);

    const refused = await runCommand(['backup', file], source.environment);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`${file} exists`);
    await latitude(source.environment, 'backup', '--force', file);
    expect(await server.stop()).toBe(0);
    const others = await readdir(path.dirname(file));
    expect(others.filter((name) => name.startsWith(`${path.basename(file)}.`))).toEqual([]);
  });

  it('copy the data to another embedded database, in which keys work and search uses its index', async () => {
    const product = new Product();
    const restored = await latitude<Summary>(product.environment, 'restore', file);
    expect(restored).toMatchObject({ tables: { leads: 30 }, counters_repaired: 0 });
    expect(await latitude(product.environment, 'counters', 'check')).toMatchObject({ wrong: [] });

    const server = await product.start();
    expect(server.stdout).not.toContain('shown only now');
    const { status, body } = await new ApiClient(server.url, key).get('/api/v1/leads');
    expect([status, body.meta.total]).toEqual([200, 20]);
    const [mark] = await product.sql<object>(
      `select proleakproof from pg_proc where oid = 'textlike(text, text)'::regprocedure`,
    );
    expect(mark).toEqual({ proleakproof: true });
    const again = await runCommand(['restore', file], product.environment);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('not empty');
    await server.stop();
    await product.remove();
  });

  it('copy the data to an external server, and back through standard streams', async () => {
    const database = await createDatabaseWithPlainOwner('latitude_app');
    const env = { DATABASE_URL: urlOf(database) };
    await latitude({ ...source.environment, ...env }, 'restore', file);
    const product = new Product();
    const pipe = `"$NODE" "$CLI" backup - | DATABASE_URL= "$NODE" "$CLI" --json restore -`;
    const { stdout } = await run('bash', ['-o', 'pipefail', '-c', pipe], {
      env: {
        ...{ ...env, PATH: process.env.PATH, NODE: process.execPath, CLI },
        DATA_DIR: path.join(product.dataDir, 'data'),
      },
    });
    expect(JSON.parse(stdout)).toMatchObject({ tables: { organizations: 2, leads: 30 } });
    await product.remove();
    await dropDatabase(database);
  });

  it.each([
    ['a missing file', undefined],
    ['a file that is not a backup', 'something else'],
  ])('reject %s with one line before a database is created', async (_, content) => {
    const other = temporaryFile();
    if (content !== undefined) await writeFile(other, content);
    const product = new Product();
    const { code, stdout, stderr } = await runCommand(['restore', other], product.environment);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(other);
    expect(existsSync(path.join(product.dataDir, 'data'))).toBe(false);
    await product.remove();
    await rm(other, { force: true });
  });
});
