import { setLogLevel } from '../../../src/platform/config/logger.js';
import { readSettings } from '../../../src/platform/config/settings.js';
import type { DatabaseTarget } from '../../../src/platform/data/connection/data-source-options.js';
import { openDatabase } from '../../../src/ops/open-database.js';
import { NAMES_COLLATION } from '../../../src/platform/data/names-collation.js';
import { Deadline } from '../../../src/platform/data/gateway/policies.js';
import { Replica } from '../../../src/platform/data/gateway/replicas/replica.js';
import { createDatabase, dropDatabase, query, urlOf } from '../../../src/testing/databases.js';

// Broken on purpose for docs/operating/runbook.md#a-read-replica-is-left-out

const NO_FILE = 'postgres://127.0.0.1:1/db?sslrootcert=/missing.pem';

describe('a read replica', () => {
  let database: DatabaseTarget;
  let replica: Replica;

  beforeAll(async () => {
    setLogLevel('silent');
    database = await createDatabase('empty');
  });
  beforeEach(() => {
    replica = new Replica(urlOf(database), 'test', 2);
    replica.availability.succeed();
  });
  afterAll(() => dropDatabase(database));

  async function failWith(code: string): Promise<void> {
    const text = `do $$ begin raise exception using errcode = '${code}'; end $$`;
    expect(await replica.read(new Deadline(5_000), () => [{ text }])).toBeUndefined();
  }

  it.each([
    ...['22012', '22P02', '22023', '25006', '40001', '40P01'],
    ...['53100', '53200', '54001', '55P03', '57014', 'P0001'],
  ])('stays in use after a statement that fails with SQLSTATE %s', async (code) => {
    await failWith(code);
    expect(replica.availability.problem).toBeUndefined();
    await replica.close();
  });

  it.each([
    ...['08P01', '0A000', '26000', '28000', '3D000', '42501', '42P05'],
    ...['53300', '57P01', '58030', 'XX001'],
  ])('is left out after SQLSTATE %s, which all reads run into', async (code) => {
    await failWith(code);
    expect(replica.availability.problem).toBe(`it refuses statements (SQLSTATE ${code})`);
    await replica.close();
  });

  it('is not reported as left out when a check ends after the shutdown', async () => {
    await replica.close();
    await replica.check({ lsn: '0/0', timeline: '1', database: '' });
    expect(replica.availability.problem).toBeUndefined();
  });
});

describe('a read replica with another version of ICU', () => {
  it('runs no reads that sort names', async () => {
    const database = await createDatabase();
    /** Whether a checked replica is free for reads with and without a sort by names. */
    const isFree = async () => {
      const replica = new Replica(urlOf(database), 'test', 2);
      await replica.check({ lsn: '0/0', timeline: '1', database: '' });
      // The check has found that this database is no standby.
      replica.availability.succeed();
      const free = [true, false].map((ordersNames) => replica.isFreeFor({ ordersNames }));
      await replica.close();
      return free;
    };
    expect(await isFree()).toEqual([true, true]);
    const anotherVersion = `update pg_collation set collversion = '1' where collname = $1`;
    await query(database, anotherVersion, [NAMES_COLLATION]);
    expect(await isFree()).toEqual([false, true]);
    await dropDatabase(database);
  });
});

describe('a URL with an unknown sslmode', () => {
  const BOGUS = 'postgres://user:secret@127.0.0.1:1/a?sslmode=bogus';

  it.each([
    ['DATABASE_URL', { DATABASE_URL: BOGUS }],
    ['DATABASE_REPLICA_URLS', { DATABASE_URL: 'postgres://a', DATABASE_REPLICA_URLS: BOGUS }],
  ])('is reported with its setting %s', async (name, env) => {
    const opening = openDatabase(readSettings(env), 'command');
    await expect(opening).rejects.toThrow(
      `${name} has the sslmode "bogus", which must be one of disable, no-verify, prefer, require, verify-ca, verify-full`,
    );
  });
});

describe('a DATABASE_URL whose search_path has no schema', () => {
  it('is reported', async () => {
    const database = await createDatabase('empty');
    const url = new URL(urlOf(database));
    url.searchParams.set('options', '-c search_path=missing');
    const opening = openDatabase(readSettings({ DATABASE_URL: url.href }), 'command');
    await expect(opening).rejects.toThrow(
      'DATABASE_URL leads to a database in which the user has no schema: check its search_path',
    );
    await dropDatabase(database);
  });
});

describe('a URL that names a file that does not exist', () => {
  it.each([
    ['DATABASE_URL', { DATABASE_URL: NO_FILE }],
    ['DATABASE_REPLICA_URLS', { DATABASE_URL: 'postgres://a', DATABASE_REPLICA_URLS: NO_FILE }],
  ])('is reported with its setting %s', async (name, env) => {
    const opening = openDatabase(readSettings(env), 'command');
    await expect(opening).rejects.toThrow(
      new RegExp(`^${name} cannot be used: ENOENT.* '/missing.pem'$`),
    );
  });
});
