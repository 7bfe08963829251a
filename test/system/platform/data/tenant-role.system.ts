import { randomUUID } from 'node:crypto';
import type { DatabaseTarget } from '../../../../src/platform/data/connection/data-source-options.js';
import { OperatorsService } from '../../../../src/modules/auth/operators.service.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { createLead, dataOf, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { captureLog } from '../../../support/captured-log.js';
import {
  asSuperuser,
  asUser,
  createDatabaseWithPlainOwner,
  queryAs,
} from '../../../support/database/plain-owner.js';

// Broken on purpose for docs/operating/runbook.md#the-role-of-requests-lacks-grants

/** Revokes the privileges that a restore without privileges, or a role created later, lacks. */
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

/** Creates a database whose owner is not a superuser and cannot use the tenant role. */
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

const lines = captureLog();

/** Starts and stops an instance, and returns its log messages. */
async function messagesOfStart(database: DatabaseTarget): Promise<string[]> {
  const before = lines.length;
  const app = await TestApp.start({ database, settings: { logLevel: 'info' } });
  await app.stop();
  return lines.slice(before).map((line) => (JSON.parse(line) as { msg: string }).msg);
}

/** Creates a database user who owns no objects. */
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

/** Expects creates, updates, lists and deletes to work for an organization. */
async function expectRequestsToWork(app: TestApp): Promise<void> {
  const { api } = await app.organization();
  const { id } = await createLead(api);
  expect(dataOf(await api.put(`${LEADS}/${id}`, { notes: 'x' })).notes).toBe('x');
  expect((await api.get(LEADS)).body.meta.total).toBe(1);
  expect((await api.delete(`${LEADS}/${id}`)).status).toBe(200);
}

/** Expects keys to be made, rotated and revoked, and an operator to create and change an organization. */
async function expectKeysToWork(app: TestApp): Promise<void> {
  const { api } = await app.organization({ scopes: ['leads:read', 'keys:read', 'keys:write'] });
  const made = dataOf<{ id: string; key: string }>(
    await api.post('/api/v1/keys', { name: 'Made', scopes: ['leads:read'] }),
    201,
  );
  expect((await app.client(made.key).get(LEADS)).status).toBe(200);
  const rotated = dataOf<{ id: string; key: string }>(
    await api.post(`/api/v1/keys/${made.id}/rotate`, { overlap_seconds: 0 }),
    201,
  );
  expect((await app.client(rotated.key).get(LEADS)).status).toBe(200);
  expect((await api.get('/api/v1/keys')).body.meta.total).toBe(3);
  expect((await api.delete(`/api/v1/keys/${rotated.id}`)).status).toBe(200);
  const issued = await app.app.get(OperatorsService).createKey('Operator', null);
  const operator = app.client(issued.key);
  const created = await operator.post('/api/v1/organizations', { name: 'New' }, onceOnly());
  const { id } = dataOf<{ id: string }>(created, 201);
  const first = await operator.post(
    `/api/v1/organizations/${id}/keys`,
    { name: 'First' },
    onceOnly(),
  );
  expect(first.status).toBe(201);
  const stored = await operator.get(`/api/v1/organizations/${id}`);
  expect(stored.body.data).toMatchObject({ name: 'New', has_had_key: true });
  const headers = { 'If-Match': stored.headers.get('etag') ?? '' };
  const renamed = await operator.put(
    `/api/v1/organizations/${id}`,
    { name: 'Renamed' },
    { headers },
  );
  expect(dataOf(renamed)).toMatchObject({ name: 'Renamed', has_had_key: true });
}

function onceOnly() {
  return { headers: { 'Idempotency-Key': randomUUID() } };
}

async function failureOfStart(database: DatabaseTarget): Promise<string> {
  try {
    await start(database);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it started');
}

describe('startup when the tenant role lacks privileges', () => {
  it('grants them after a restore without privileges', async () => {
    const database = await newDatabase();
    await execute(database, LOSE_PRIVILEGES);
    await expectRequestsToWork(await start(database));
  });

  it('grants them if the role was created after the first start of a plain owner', async () => {
    const database = await newPlainOwnersDatabase();
    await expectRequestsToWork(await start(database));
    const owner = await userOf(database);
    // The role already exists because of other tests, so the first start granted privileges to it.
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

  it('warns if the user cannot use the role, with the statements that a superuser runs', async () => {
    const database = await newPlainOwnersDatabase();
    const messages = await messagesOfStart(database);
    const warning = messages.find((message) => message.includes('latitude_app is not available'));
    const [, sql = ''] = /run as a superuser, and restart: (.*)$/.exec(warning ?? '') ?? [];
    expect(sql).toContain(`grant latitude_app to ${await userOf(database)};`);
    await execute(asSuperuser(database), [sql]);
    const later = await messagesOfStart(database);
    expect(later.filter((message) => message.includes('is not available'))).toEqual([]);
    await expectRequestsToWork(await start(database));
  });

  it('grants nothing if no privilege is missing', async () => {
    const database = await newDatabase();
    await execute(database, LOSE_PRIVILEGES);
    const granted = (messages: string[]) =>
      messages.filter((message) => message.startsWith('granted'));
    expect(granted(await messagesOfStart(database))).toContain(
      'granted select, insert, update, delete on table public.leads to role latitude_app',
    );
    expect(granted(await messagesOfStart(database))).toEqual([]);
  });
});

it('startup revokes the privileges on administrative tables that an earlier release has granted', async () => {
  const database = await newDatabase();
  await messagesOfStart(database);
  await execute(database, ['grant select, insert on mcp_sessions to latitude_app']);
  expect(await messagesOfStart(database)).toEqual(
    expect.arrayContaining([
      'revoked insert on table public.mcp_sessions from role latitude_app',
      'revoked select on table public.mcp_sessions from role latitude_app',
    ]),
  );
  const sql = `select has_table_privilege('latitude_app', 'mcp_sessions', 'select, insert') as may`;
  expect(await queryAs(database, sql)).toEqual([{ may: false }]);
  expect(await messagesOfStart(database)).not.toContainEqual(expect.stringMatching(/^revoked/));
});

it('startup leaves the privileges on columns that a later release has granted', async () => {
  const database = await newDatabase();
  await messagesOfStart(database);
  const tables = ['api_keys', 'oauth_grants', 'mcp_sessions'];
  await execute(
    database,
    tables.flatMap((table) => [
      `alter table ${table} add column added_later uuid`,
      `grant select (id, added_later), update (added_later) on ${table} to latitude_app`,
    ]),
  );
  await execute(database, ['grant insert, delete on api_keys to latitude_app']);
  const messages = await messagesOfStart(database);
  expect(messages).not.toContainEqual(expect.stringMatching(/^(revoked|granted)/));
  for (const table of tables) {
    const sql = `select has_column_privilege('latitude_app', '${table}', 'added_later', 'select')
      and has_column_privilege('latitude_app', '${table}', 'added_later', 'update') as may`;
    expect(await queryAs(database, sql)).toEqual([{ may: true }]);
  }
  await expectRequestsToWork(await start(database));
});

it.each([
  ['on the whole table', 'grant select, update on api_keys to latitude_app'],
  ['on the column', 'grant select (key_hash), update (key_hash) on api_keys to latitude_app'],
])('startup revokes a privilege on the hashes of keys: %s', async (_, grant) => {
  const database = await newDatabase();
  await messagesOfStart(database);
  await execute(database, [grant]);
  expect(await messagesOfStart(database)).toContainEqual(expect.stringMatching(/^revoked select/));
  const sql = `select has_column_privilege('latitude_app', 'api_keys', 'key_hash', 'select')
    or has_column_privilege('latitude_app', 'api_keys', 'key_hash', 'update') as may`;
  expect(await queryAs(database, sql)).toEqual([{ may: false }]);
  await expectKeysToWork(await start(database));
});

it('startup grants a privilege on a column that is missing', async () => {
  const database = await newDatabase();
  await messagesOfStart(database);
  await execute(database, [
    'revoke select (scopes), update (revoked_at) on api_keys from latitude_app',
  ]);
  expect(await messagesOfStart(database)).toContainEqual(
    expect.stringMatching(/^granted update \(.*revoked_at.*\) on table public\.api_keys/),
  );
  await expectKeysToWork(await start(database));
});

describe('keys, organizations and grants of a plain owner, whom row-level security binds', () => {
  it.each([
    ['with the tenant role', 'latitude_app'],
    ['without the tenant role', undefined],
  ])('work %s', async (_, role) => {
    const database = await createDatabaseWithPlainOwner(role);
    databases.push(database);
    await expectKeysToWork(await start(database));
  });

  it('are hidden from other organizations, without the tenant role too', async () => {
    const app = await start(await newPlainOwnersDatabase());
    const [ours, theirs] = [await app.organization(), await app.organization()];
    const read = (text: string) =>
      app.app.get(TenantDatabase).read({ tenant: ours }, { text, values: [] });
    for (const table of ['api_keys', 'oauth_grants']) {
      const others = `select from ${table} where organization_id <> '${ours.id}'`;
      expect(await read(others)).toEqual([]);
    }
    expect(await read('select id from organizations')).toEqual([{ id: ours.id }]);
    expect(await read(`select from api_keys where organization_id = '${theirs.id}'`)).toEqual([]);
  });
});

describe('startup fails with an error message', () => {
  it('if the user cannot grant the missing privileges', async () => {
    const database = await newDatabase();
    const [guest, asGuest] = await newUser(database);
    await execute(database, [
      `grant all on migrations, typeorm_metadata, organizations, organization_defaults, api_keys, job_schedules, event_handlers, event_position, mcp_sessions, mcp_secrets, oauth_clients, oauth_grants, oauth_artifacts, operator_keys, operator_responses to ${guest}`,
      `grant create on schema public to ${guest}`,
      `grant latitude_app to ${guest}`,
      'revoke update on leads from latitude_app',
    ]);
    expect(await failureOfStart(asGuest)).toBe(
      `Role latitude_app lacks privileges that the database user ${guest} may not grant; ` +
        'run as a superuser: grant update on table public.leads to latitude_app',
    );
  });

  it('if the user bypasses row-level security and cannot use the role', async () => {
    const database = await newDatabase();
    const [guest, asGuest] = await newUser(database, 'bypassrls');
    await execute(database, [
      `grant all on migrations, typeorm_metadata to ${guest}`,
      `grant create on schema public to ${guest}`,
    ]);
    expect(await failureOfStart(asGuest)).toContain(`grant latitude_app to ${guest}`);
  });

  it.each([
    ['pg_trgm', []],
    ['btree_gist', ['create extension pg_trgm', 'create extension btree_gin']],
  ])('if the user cannot create the extension %s', async (extension, prepared) => {
    const database = await createDatabase('empty');
    databases.push(database);
    const [guest, asGuest] = await newUser(database);
    await execute(database, [`grant all on schema public to ${guest}`, ...prepared]);
    const message = await failureOfStart(asGuest);
    const [, name] = /needs the extension \w+ in the database (\w+)/.exec(message) ?? [];
    expect(message).toContain(
      `Latitude needs the extension ${extension} in the database ${name}, and cannot create it ` +
        `(permission denied to create extension "${extension}").`,
    );
    expect(message).toContain(
      `grant create on database ${name} to ${guest}; or, in ${name}: create extension ${extension}`,
    );
    await execute(database, [`grant create on database ${name} to ${guest}`]);
    await expectRequestsToWork(await start(asGuest));
  });

  it('if the user cannot read the migrations', async () => {
    const database = await newDatabase();
    const [guest, asGuest] = await newUser(database);
    await execute(database, [`grant create on schema public to ${guest}`]);
    expect(await failureOfStart(asGuest)).toContain(
      `The database user ${guest} must own the tables of Latitude`,
    );
  });

  it.each([
    ['keys', 'grant latitude_app to USER', 'api_keys'],
    ['sessions', 'grant latitude_app to USER', 'mcp_sessions'],
    [
      'records, without the tenant role',
      'grant all on organizations, api_keys, mcp_sessions to USER',
      'leads',
    ],
  ])('if the user cannot read and write the %s', async (_, granted, table) => {
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
  it('with organization_id but without row-level security get a warning and no privileges', async () => {
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

  it('are shown by views with security_invoker; other views get a warning and no privileges', async () => {
    const database = await newDatabase();
    await execute(database, [
      'create view own_leads with (security_invoker = true) as select id from leads',
      'create view all_leads as select id from leads',
      'create materialized view stored_leads as select id from leads',
    ]);
    const messages = (await messagesOfStart(database)).filter((text) => text.startsWith('view '));
    const warning = (name: string) =>
      `view ${name} runs as its owner, because it has no security_invoker: ` +
      'role latitude_app gets no privileges on it';
    expect(messages).toEqual([warning('all_leads'), warning('stored_leads')]);
    const rows = await queryAs(
      database,
      `select relname, has_table_privilege('latitude_app', oid, 'select') as may
      from pg_class where relname like '%\\_leads' order by 1`,
    );
    expect(rows).toEqual([
      { relname: 'all_leads', may: false },
      { relname: 'own_leads', may: true },
      { relname: 'stored_leads', may: false },
    ]);
  });

  it('get privileges on the sequences of their own columns only', async () => {
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
      { relname: 'event_outbox_seq_seq', may: true },
      { relname: 'migrations_id_seq', may: false },
      { relname: 'webhook_deliveries_seq_seq', may: true },
    ]);
  });
});

describe('tables in another schema than public', () => {
  it.each([
    ['the schema in the search path of the user', 'crm'],
    ['the schema with the name of the user', undefined],
  ])('get the privileges: %s', async (_, name) => {
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
