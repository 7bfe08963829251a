import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import {
  type DatabaseTarget,
  dataSourceOptions,
  MIGRATIONS,
} from '../../../../src/platform/data/connection/data-source-options.js';
import { MIGRATION_NAMES, namesOf } from '../../../../src/platform/data/executed-migrations.js';
import { migrate } from '../../../../src/platform/data/migrate.js';
import { protectTenantTable } from '../../../../src/platform/data/tenant-role/tenant-role.js';
import {
  USERS,
  startFilled,
  backUp,
  expectCountersToHold,
  rowsByTable,
  restore,
} from '../../../support/database/backups.js';
import { createLead } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { createDatabase } from '../../../../src/testing/databases.js';
import {
  asSuperuser,
  createDatabaseWithPlainOwner,
  queryAs,
} from '../../../support/database/plain-owner.js';
import { createOutdatedDatabase } from '../../../support/database/migrate-database.js';

describe('a restore into another schema', () => {
  const names = MIGRATION_NAMES;

  it.each([
    ['the last migration', -1],
    ['the last two', -2],
    ['all after those of release 0.3.0', 1],
  ])('runs %s after restoring an older backup', async (_, end) => {
    const migrations = MIGRATIONS.slice(0, end);
    const source = await databaseWith(migrations);
    const organization = randomUUID();
    await queryAs(
      source,
      `insert into organizations (id, name, phone_region) values ($1, 'Old', 'US')`,
      [organization],
    );
    const { file, header } = await backUp(source);
    expect(header.migrations).toEqual(namesOf(migrations));

    const target = await createDatabaseWithPlainOwner();
    await restore(target, file);
    const app = await TestApp.start({ database: target });
    const seen = await queryAs<{ name: string }>(target, 'select name from migrations order by id');
    expect(seen.map(({ name }) => name)).toEqual(names);
    const { api } = await app.key(organization);
    await createLead(api);
    await expectCountersToHold(app, [{ id: organization }]);
    await app.stop();
  });

  it('rejects an older backup if later migrations have run', async () => {
    const { file } = await backUp(await databaseWith(MIGRATIONS.slice(0, -1)));
    const restored = restore(await createDatabase(), file);
    await expect(restored).rejects.toThrow(
      `older than the schema of the database, which has the migrations ${names.at(-1)}`,
    );
  });

  it('rejects a backup of a later version', async () => {
    const source = await createDatabase();
    await queryAs(
      source,
      `insert into migrations (timestamp, name) values (1, 'Later1999999999999')`,
    );
    const { file } = await backUp(source);
    const restored = restore(await createDatabase('empty'), file);
    await expect(restored).rejects.toThrow('Later1999999999999');
  });

  it('rejects a backup of a schema before that of release 0.3.0, and names the version that restores it', async () => {
    const { file } = await backUp(await createOutdatedDatabase());
    const restored = restore(await createDatabase('empty'), file);
    await expect(restored).rejects.toThrow('restore it with release 0.4.0 and make a new backup');
  });

  it('rejects different tables and columns, and names them', async () => {
    const source = await createDatabase();
    await queryAs(source, 'create table rugs (organization_id uuid not null, id uuid not null)');
    await queryAs(source, 'alter table tasks add column colour text');
    await queryAs(source, 'alter table leads alter column notes type varchar(9000)');
    const target = await createDatabase();
    await queryAs(target, 'alter table appointments add column place text');
    const before = await rowsByTable(target);
    const restored = restore(target, (await backUp(source)).file);
    await expect(restored).rejects.toThrow(
      'does not fit the schema of the database: appointments.place (text) is not in the backup; ' +
        'leads.notes (character varying(9000)) is missing; leads.notes (text) is not in the backup; ' +
        'table rugs is missing; tasks.colour (text) is missing.',
    );
    expect(await rowsByTable(target)).toEqual(before);
  });
});

describe('tables of added modules', () => {
  /** A lookup table that its migration fills, and records with a trigger, an identity and a cycle. */
  const TABLES = [
    `create table colours (name text primary key)`,
    `insert into colours values ('red')`,
    `create table rugs (
       organization_id uuid not null, id uuid not null, number int generated always as identity,
       title text not null, title_length int generated always as (length(title)) stored,
       colour text references colours, replaces uuid, primary key (organization_id, id),
       foreign key (organization_id, replaces) references rugs (organization_id, id))`,
    `create table rug_log (id serial primary key, organization_id uuid not null, rug uuid)`,
    `alter table rugs add column log int references rug_log`,
    `create function log_rug() returns trigger language plpgsql as
       $$ begin insert into rug_log (organization_id, rug) values (new.organization_id, new.id);
         return null; end $$`,
    `create trigger log_rug after insert on rugs for each row execute function log_rug()`,
    ...protectTenantTable('rugs'),
  ];

  it.each(Object.entries(USERS))(
    'are part of the backup and the restore of the database of %s',
    async (_, create) => {
      const [source, target] = await Promise.all([create(), create()]);
      const { app, tenants } = await startFilled(source);
      await (await TestApp.start({ database: target })).stop();
      for (const database of [source, target]) {
        for (const statement of TABLES) await queryAs(database, statement);
      }
      await queryAs(source, `insert into colours values ('blue')`);
      const insert = `insert into rugs (organization_id, id, title, colour, replaces, log)
      values ($1, $2, 'Roof', 'blue', $2, (select max(id) from rug_log))`;
      for (const { id } of [...tenants, ...tenants]) {
        await queryAs(asSuperuser(source), insert, [id, randomUUID()]);
      }

      await restore(target, (await backUp(source)).file);
      expect(await rowsByTable(target)).toEqual(await rowsByTable(source));
      const [added] = await queryAs<{ number: number }>(
        asSuperuser(target),
        `insert into rugs (organization_id, id, title) values ($1, $2, 'Door') returning number`,
        [tenants[0].id, randomUUID()],
      );
      expect(added).toEqual({ number: 5 });
      const logged = await queryAs<{ id: number }>(target, 'select id from rug_log order by id');
      expect(logged.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
      await app.stop();
    },
  );
});

async function databaseWith(migrations: (typeof MIGRATIONS)[number][]): Promise<DatabaseTarget> {
  const database = await createDatabase('empty');
  const dataSource = new DataSource({ ...dataSourceOptions(database), migrations });
  await dataSource.initialize();
  await migrate(dataSource);
  await dataSource.destroy();
  return database;
}
