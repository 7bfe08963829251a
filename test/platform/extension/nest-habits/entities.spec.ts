import { randomUUID } from 'node:crypto';
import { Injectable, Module, type Type } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  Column,
  DataSource,
  Entity,
  PrimaryColumn,
  Repository,
  ViewEntity,
  ViewColumn,
  VirtualColumn,
} from 'typeorm';
import { Lead } from '../../../../src/modules/leads/lead.entity.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { createLead, getLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { captureLog } from '../../../support/captured-log.js';
import { queryAs } from '../../../support/database/plain-owner.js';
import { failureOfStart } from '../../../support/failure-of-start.js';

/** A table that belongs to no organization. */
@Entity('Cities')
class City {
  @PrimaryColumn('text') name: string;
  @VirtualColumn({ query: (alias) => `select length(${alias}.name)` }) length: number;
}

@ViewEntity('long_cities')
class LongCity {
  @ViewColumn() name: string;
}

@Injectable()
class CitiesRepository extends Repository<City> {
  constructor(dataSource: DataSource) {
    super(City, dataSource.createEntityManager());
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([City, LongCity, Lead])],
  providers: [CitiesRepository],
})
class CitiesModule {}

@Injectable()
class LeadsByName extends Repository<Lead> {
  constructor(dataSource: DataSource) {
    super(Lead, dataSource.createEntityManager());
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Lead])], providers: [LeadsByName] })
class LeadsModule {}

/** An entity that maps only some columns of a table. */
@Entity('leads')
class LeadName {
  @PrimaryColumn('uuid') id: string;
  @Column('text') first_name: string;
}

@Injectable()
class Names {
  constructor(@InjectRepository(LeadName) readonly names: Repository<LeadName>) {}
}

@Module({ imports: [TypeOrmModule.forFeature([LeadName])], providers: [Names] })
class NamesModule {}

@Entity('never_made')
class NeverMade {
  @PrimaryColumn('uuid') id: string;
}

@Entity('Cities')
class LargeCity {
  @PrimaryColumn('text') name: string;
  @Column('int') inhabitants: number;
  @Column({ name: 'area', type: 'int' }) size: number;
}

@Entity('towns', { schema: 'geography' })
class Town {
  @PrimaryColumn('text') name: string;
}

@Injectable()
class Atlas {
  constructor(@InjectRepository(NeverMade) readonly records: Repository<NeverMade>) {}
}

@Module({ imports: [TypeOrmModule.forFeature([NeverMade, LargeCity, Town])], providers: [Atlas] })
class AtlasModule {}

/** Returns the statements of the warnings in the log, and expects them to name the table. */
function statementsIn(log: readonly string[]): (string | undefined)[] {
  const warning =
    /^A statement of the TypeORM data source uses the table leads, .+ The statement begins: (.+)$/;
  return log.flatMap((line) => {
    const { level, msg } = JSON.parse(line) as { level: number; msg: string };
    return level === 40 && msg.includes('statement') ? [warning.exec(msg)?.[1]] : [];
  });
}

describe('startup with entities of a team', () => {
  const log = captureLog();
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();
    await queryAs(database, 'create table "Cities" (name text primary key)');
    await queryAs(database, 'create view long_cities as select name from "Cities"');
    await queryAs(database, 'create schema geography');
  });
  afterAll(() => dropDatabase(database));

  const failureOf = (module: Type<unknown>) => failureOfStart(module, database);

  it('succeeds with a repository of a table that belongs to no organization', async () => {
    const app = await TestApp.start({ modules: [CitiesModule], database });
    try {
      const cities = app.app.get(CitiesRepository);
      await cities.insert({ name: 'Rome' });
      expect(await cities.find()).toEqual([{ name: 'Rome', length: 4 }]);
    } finally {
      await app.stop();
    }
  });

  it('warns of statements of repositories of a table with records of organizations, which read and write nothing', async () => {
    const app = await TestApp.start({
      modules: [LeadsModule, NamesModule],
      database,
      settings: { logLevel: 'warn' },
    });
    try {
      const { api, id: organization_id } = await app.organization();
      const lead = await createLead(api, { first_name: 'Ada' });
      const { names } = app.app.get(Names);
      expect(await names.find()).toEqual([]);
      expect(await names.update(lead.id, { first_name: 'Bob' })).toMatchObject({ affected: 0 });
      expect(await names.delete(lead.id)).toMatchObject({ affected: 0 });
      const leads = app.app.get(LeadsByName);
      await expect(leads.insert({ organization_id, id: randomUUID() } as object)).rejects.toThrow();
      expect(await getLead(api, lead.id)).toEqual(lead);
      const dataSource = app.app.get(DataSource);
      const count = "select count(*)::int as count from leads where first_name <> 'Eve'";
      expect(await dataSource.query(count)).toEqual([{ count: 0 }]);
      expect(await dataSource.query(count)).toEqual([{ count: 0 }]);
      const found = await app.app
        .get(TenantDatabase)
        .transaction({ tenant: { id: organization_id } }, (_, manager) =>
          manager.withRepository(names).find(),
        );
      expect(found).toEqual([{ id: lead.id, first_name: 'Ada' }]);
      const { body } = await api.get(LEADS);
      expect(body).toMatchObject({ meta: { total: 1 } });
      expect(statementsIn(log)).toEqual([
        expect.stringMatching(/^SELECT "LeadName"."id" AS "LeadName_id", .+ FROM "leads"/),
        'UPDATE "leads" SET "first_name" = $1 WHERE "id" = $2',
        'DELETE FROM "leads" WHERE "id" = $1',
        expect.stringMatching(/^INSERT INTO "leads"/),
        'select count(*)::int as count from leads where first_name <>',
      ]);
    } finally {
      await app.stop();
    }
  });

  it('fails if the database lacks the table or a column of an entity', async () => {
    expect(await failureOf(AtlasModule)).toEqual([
      'The entity NeverMade maps the table never_made, which does not exist. Add a migration that creates it.',
      'The entity LargeCity maps the columns inhabitants, area, which the table Cities lacks. Add a migration that creates them.',
      'The entity Town maps the table geography.towns, which does not exist. Add a migration that creates it.',
    ]);
  });
});
