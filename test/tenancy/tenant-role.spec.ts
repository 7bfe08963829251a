import { randomUUID } from 'node:crypto';
import { setLogOutput } from '../../src/config/logger.js';
import type { DatabaseTarget } from '../../src/database/connection/data-source-options.js';
import { createLead, dataOf, LEADS } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import { createDatabase, dropDatabase } from '../../src/testing/databases.js';
import {
  asSuperuser,
  asUser,
  createDatabaseWithPlainOwner,
  queryAs,
} from '../support/plain-owner.js';

/** Privileges as they are after a restore without them, or where the role was made later. */
const LOSE_PRIVILEGES = [
  'revoke all on all tables in schema public from latitude_app',
  'revoke usage on schema public from latitude_app, public',
];

const apps: TestApp[] = [];
const databases: DatabaseTarget[] = [];

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop()));
  for (const database of databases.splice(0)) await dropDatabase(database);
});

async function newDatabase(): Promise<DatabaseTarget> {
  const database = await createDatabase();
  databases.push(database);
  return database;
}

/** A database of a plain owner who may not use the tenant role. */
async function newPlainOwnersDatabase(): Promise<DatabaseTarget> {
  const database = await createDatabaseWithPlainOwner();
  databases.push(database);
  return database;
}

async function start(database: DatabaseTarget): Promise<TestApp> {
  const app = await TestApp.start({ database });
  apps.push(app);
  return app;
}

/** Starts and ends an instance, and returns the messages of its log. */
async function messagesOfStart(database: DatabaseTarget): Promise<string[]> {
  const lines: string[] = [];
  setLogOutput({ write: (line: string) => lines.push(line) });
  const app = await TestApp.start({ database, settings: { logLevel: 'info' } });
  await app.stop();
  setLogOutput(process.stdout);
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
}

/** A new user of the cluster, who owns nothing in a database. */
async function newUser(
  database: DatabaseTarget,
  attributes = '',
): Promise<[string, DatabaseTarget]> {
  const name = `user_${randomUUID().replaceAll('-', '')}`;
  await execute(database, [`create role ${name} login password 'secret' ${attributes}`]);
  return [name, asUser(database, name, 'secret')];
}

async function execute(database: DatabaseTarget, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await queryAs(database, statement);
}

async function userOf(database: DatabaseTarget): Promise<string> {
  const [row] = await queryAs<{ name: string }>(database, 'select current_user as name');
  return row!.name;
}

/** Proves that every kind of statement works for an organization. */
async function expectRequestsToWork(app: TestApp): Promise<void> {
  const { api } = await app.organization();
  const { id } = await createLead(api);
  expect(dataOf(await api.put(`${LEADS}/${id}`, { notes: 'x' })).notes).toBe('x');
  expect((await api.get(LEADS)).body.meta.total).toBe(1);
  expect((await api.delete(`${LEADS}/${id}`)).status).toBe(200);
}

async function failureOfStart(database: DatabaseTarget): Promise<string> {
  try {
    await start(database);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it started');
}

describe('a start after privileges of the tenant role were lost', () => {
  it('grants them again, as after a restore without them', async () => {
    const database = await newDatabase();
    await execute(database, LOSE_PRIVILEGES);
    await expectRequestsToWork(await start(database));
  });

  it('grants them where the role was made after a plain owner had begun without it', async () => {
    const database = await newPlainOwnersDatabase();
    await expectRequestsToWork(await start(database));
    const owner = await userOf(database);
    // The role of other tests was there, and so it was granted what it would not have been.
    await execute(database, ['revoke all on all tables in schema public from latitude_app']);
    await execute(asSuperuser(database), [`grant latitude_app to ${owner}`]);
    const app = await start(database);
    await expectRequestsToWork(app);
    const roles = await queryAs(
      database,
      `select has_table_privilege('latitude_app', 'leads', 'select, insert, update, delete') as may`,
    );
    expect(roles).toEqual([{ may: true }]);
  });

  it('grants them when several instances start at once', async () => {
    const database = await newDatabase();
    await execute(database, LOSE_PRIVILEGES);
    const started = await Promise.all([1, 2, 3].map(() => start(database)));
    for (const app of started) await expectRequestsToWork(app);
  });

  it('grants nothing where nothing is missing', async () => {
    const database = await newDatabase();
    await execute(database, LOSE_PRIVILEGES);
    const granted = (messages: string[]) =>
      messages.filter((message) => message.startsWith('granted'));
    expect(granted(await messagesOfStart(database))).toContain(
      'granted role latitude_app select, insert, update, delete on table public.leads',
    );
    expect(granted(await messagesOfStart(database))).toEqual([]);
  });
});

describe('a start is refused with one sentence', () => {
  it('where the user may not grant what is missing', async () => {
    const database = await newDatabase();
    const [guest, asGuest] = await newUser(database);
    await execute(database, [
      `grant all on migrations, typeorm_metadata, organizations, api_keys to ${guest}`,
      `grant create on schema public to ${guest}`,
      `grant latitude_app to ${guest}`,
      'revoke update on leads from latitude_app',
    ]);
    expect(await failureOfStart(asGuest)).toBe(
      `Role latitude_app lacks privileges that the database user ${guest} may not grant; ` +
        'run as a superuser: grant update on table public.leads to latitude_app',
    );
  });

  it('where the user bypasses row-level security and may not use the role', async () => {
    const database = await newDatabase();
    const [guest, asGuest] = await newUser(database, 'bypassrls');
    await execute(database, [
      `grant all on migrations, typeorm_metadata to ${guest}`,
      `grant create on schema public to ${guest}`,
    ]);
    expect(await failureOfStart(asGuest)).toContain(`grant latitude_app to ${guest}`);
  });

  it('where the user may not read the migrations', async () => {
    const database = await newDatabase();
    const [guest, asGuest] = await newUser(database);
    await execute(database, [`grant create on schema public to ${guest}`]);
    expect(await failureOfStart(asGuest)).toContain(
      `The database user ${guest} must own the tables of Latitude`,
    );
  });

  it.each([
    ['keys', 'grant latitude_app to USER', 'api_keys'],
    ['records, for want of the role', 'grant all on organizations, api_keys to USER', 'leads'],
  ])('where the user may not read and write the %s', async (_, granted, table) => {
    const database = await newDatabase();
    const [guest, asGuest] = await newUser(database);
    await execute(database, [
      `grant all on migrations, typeorm_metadata to ${guest}`,
      `grant create on schema public to ${guest}`,
      granted.replace('USER', guest),
    ]);
    expect(await failureOfStart(asGuest)).toContain(
      `The database user ${guest} lacks privileges; run as a superuser: grant`,
    );
    expect(await failureOfStart(asGuest)).toContain(
      `grant select, insert, update, delete on table public.${table} to ${guest}`,
    );
  });
});

describe('tables of a team', () => {
  it('with an organization_id but without row-level security are named, and granted nothing', async () => {
    const database = await newDatabase();
    await execute(database, ['create table unprotected (organization_id uuid not null)']);
    expect(await messagesOfStart(database)).toContainEqual(
      expect.stringContaining('table unprotected has'),
    );
    const rows = await queryAs(
      database,
      `select has_table_privilege('latitude_app', 'unprotected', 'select') as may`,
    );
    expect(rows).toEqual([{ may: false }]);
  });

  it('are granted with the sequences of their columns, and no sequence of another table', async () => {
    const database = await newDatabase();
    await execute(database, [
      'create table "Team Notes" (id serial primary key, number int generated always as identity)',
    ]);
    await messagesOfStart(database);
    const rows = await queryAs(
      database,
      `select relname, has_sequence_privilege('latitude_app', oid, 'usage') as may
      from pg_class where relkind = 'S' order by 1`,
    );
    expect(rows).toEqual([
      { relname: 'Team Notes_id_seq', may: true },
      { relname: 'Team Notes_number_seq', may: true },
      { relname: 'migrations_id_seq', may: false },
    ]);
  });
});

describe('tables in another schema than public', () => {
  it.each([
    ['a schema of the search path of the user', 'crm'],
    ['a schema of the name of the user', undefined],
  ])('are found and granted: %s', async (_, name) => {
    const database = await newPlainOwnersDatabase();
    const owner = await userOf(database);
    const schema = name ?? owner;
    await execute(asSuperuser(database), [
      `create schema ${schema} authorization ${owner}`,
      `grant latitude_app to ${owner}`,
      ...(name ? [`alter role ${owner} set search_path = ${name}, public`] : []),
    ]);
    const app = await start(database);
    await expectRequestsToWork(app);
    const [row] = await queryAs(
      database,
      `select relnamespace::regnamespace::text as schema from pg_class where relname = 'leads'`,
    );
    expect(row).toEqual({ schema });
  });
});
