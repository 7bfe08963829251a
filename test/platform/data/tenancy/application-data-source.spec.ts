import { Injectable, Module } from '@nestjs/common';
import { InjectDataSource, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import pg from 'pg';
import { Column, DataSource, Entity, PrimaryGeneratedColumn, Repository } from 'typeorm';
import { ApiKey } from '../../../../src/modules/auth/api-key.entity.js';
import { Organization } from '../../../../src/modules/auth/organization.entity.js';
import { poolOf } from '../../../../src/platform/data/connection/driver-pool.js';
import { Lead } from '../../../../src/modules/leads/lead.entity.js';
import { createLead } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { queryAs } from '../../../support/database/plain-owner.js';

/** A table of a team that holds no data of an organization. */
@Entity('exchange_rates')
class ExchangeRate {
  @PrimaryGeneratedColumn() id: number;
  @Column('text') currency: string;
}

@Injectable()
class Reports {
  constructor(
    @InjectDataSource() readonly dataSource: DataSource,
    @InjectRepository(Organization) readonly organizations: Repository<Organization>,
    @InjectRepository(ExchangeRate) readonly rates: Repository<ExchangeRate>,
  ) {}

  /** Startup warns of `@InjectRepository(Lead)`. */
  get leads(): Repository<Lead> {
    return this.dataSource.getRepository(Lead);
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Lead, Organization, ExchangeRate])],
  providers: [Reports],
})
class ReportsModule {}

const WHO = 'select current_user as who';
const TENANT = [{ who: 'latitude_app' }];

let database: Awaited<ReturnType<typeof createDatabase>>;
let app: TestApp;
let tenant: Tenant;
let reports: Reports;
let source: DataSource;

beforeAll(async () => {
  database = await createDatabase();
  await queryAs(
    database,
    'create table exchange_rates (id serial primary key, currency text not null)',
  );
  app = await TestApp.start({ database, modules: [ReportsModule] });
  tenant = await app.organization();
  await createLead(tenant.api);
  reports = app.app.get(Reports, { strict: false });
  source = reports.dataSource;
});
afterAll(async () => {
  await app.stop();
  await dropDatabase(database);
});

/** Returns a complete row of `leads` that can be inserted again under another id. */
async function someLead(): Promise<{ id: string }> {
  const [row] = await app.sql<{ id: string; search_text?: string }>('select * from leads limit 1');
  const { search_text: _, ...lead } = row!;
  return Object.assign(lead, { email_compared: null, phone_compared: null });
}

/** Expects every connection of the pool to be back under the login role and outside a transaction. */
async function expectNothingLeftBehind(): Promise<void> {
  const ask = `select current_user = session_user as is_login, current_setting('role') as role,
    coalesce(current_setting('app.organization_id', true), '') as organization`;
  // The method of pg itself sets no session context.
  const query = Reflect.get(pg.Client.prototype, 'query') as (
    text: string,
  ) => Promise<pg.QueryResult>;
  for (const { rows } of await onEveryConnection((client) => query.call(client, ask))) {
    expect(rows).toEqual([{ is_login: true, role: 'none', organization: '' }]);
  }
}

/** Runs work on every connection of the pool at once. */
async function onEveryConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T[]> {
  const pool = poolOf(source);
  const clients: pg.PoolClient[] = [];
  try {
    // Connects one after another, because opening all at once is slow on a busy machine.
    while (clients.length < pool.options.max) clients.push(await pool.connect());
    return await Promise.all(clients.map(work));
  } finally {
    for (const client of clients) client.release();
  }
}

/** Runs `work` with a client of the pool. */
async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const runner = source.createQueryRunner();
  try {
    return await work((await runner.connect()) as pg.PoolClient);
  } finally {
    await runner.release();
  }
}

const FORBIDDEN = ['api_keys', 'operator_keys', 'mcp_sessions', 'migrations', 'typeorm_metadata'];

describe('a repository of tenant records in a module of a team', () => {
  afterEach(expectNothingLeftBehind);

  it('finds, counts and streams no record of any organization', async () => {
    expect((await app.sql('select id from leads')).length).toBeGreaterThan(0);
    expect(await reports.leads.find()).toEqual([]);
    expect(await reports.leads.count()).toBe(0);
    expect(await reports.leads.findBy({ first_name: 'Ada' })).toEqual([]);
    expect(
      await reports.leads.createQueryBuilder('l').where('l.id = :id', { id: tenant.id }).getMany(),
    ).toEqual([]);
  });

  it('inserts no record', async () => {
    const copy = { ...(await someLead()), id: '11111111-1111-4111-8111-111111111111' };
    await expect(reports.leads.insert(copy as object)).rejects.toThrow('row-level security');
  });

  it('updates and deletes no record', async () => {
    const { id } = await someLead();
    const before = await app.sql('select *, xmin from leads');
    expect((await reports.leads.update({ id }, { notes: 'x' })).affected).toBe(0);
    expect((await reports.leads.delete({ id })).affected).toBe(0);
    expect(await app.sql('select *, xmin from leads')).toEqual(before);
  });

  it('reads no organization, key or grant, and never the hash of a key', async () => {
    expect(await reports.organizations.find()).toEqual([]);
    expect(await source.getRepository(ApiKey).find()).toEqual([]);
    expect(await source.query('select * from oauth_grants')).toEqual([]);
    for (const table of FORBIDDEN) {
      await expect(source.query(`select * from ${table}`)).rejects.toThrow(
        `permission denied for table ${table}`,
      );
    }
    await expect(source.query('select key_hash from api_keys')).rejects.toThrow(
      'permission denied for table api_keys',
    );
  });
});

describe('statements of the data source', () => {
  afterEach(expectNothingLeftBehind);

  it('run under the tenant role, with and without parameters', async () => {
    expect(await source.query(WHO)).toEqual(TENANT);
    expect(await source.query(`${WHO};`)).toEqual(TENANT);
    expect(await source.query(`${WHO} where $1`, [true])).toEqual(TENANT);
    expect(await source.manager.query(WHO)).toEqual(TENANT);
    expect(await source.query('select * from leads')).toEqual([]);
    expect(await source.query('select * from leads where $1', [true])).toEqual([]);
    const built = reports.rates
      .createQueryBuilder()
      .select('count(*)::int', 'n')
      .addSelect('current_user', 'who');
    expect(await built.getRawMany()).toEqual([{ n: 0, who: 'latitude_app' }]);
  });

  it('run under the tenant role in transactions, however these begin and end', async () => {
    await source.transaction(async (manager) => {
      expect(await manager.query(WHO)).toEqual(TENANT);
      expect(await manager.find(Lead)).toEqual([]);
      const isolation = 'show transaction_isolation';
      expect(await manager.query(isolation)).toEqual([{ transaction_isolation: 'read committed' }]);
      await manager.transaction(async (inner) => {
        expect(await inner.query(`${WHO} where $1`, [true])).toEqual(TENANT);
      });
    });
    await expectNothingLeftBehind();
    await source.transaction('SERIALIZABLE', async (manager) => {
      expect(await manager.query(WHO)).toEqual(TENANT);
      expect(await manager.query('show transaction_isolation')).toEqual([
        { transaction_isolation: 'serializable' },
      ]);
    });
    await expectNothingLeftBehind();
    const failed = source.transaction((manager) => manager.query('select 1 / 0'));
    await expect(failed).rejects.toThrow('division by zero');
    await expectNothingLeftBehind();
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    await runner.query('savepoint a');
    await runner.query('select no_such_column').catch(() => undefined);
    await runner.query('rollback to savepoint a');
    expect(await runner.query(WHO)).toEqual(TENANT);
    await runner.rollbackTransaction();
    expect(await runner.query(WHO)).toEqual(TENANT);
    await runner.release();
  });

  it('run under the tenant role when one query has several statements', async () => {
    await withClient(async (client) => {
      const several = (await client.query(`select 1 as n; ${WHO}`)) as unknown as pg.QueryResult[];
      expect(several.map(({ rows }) => rows as object[])).toEqual([[{ n: 1 }], TENANT]);
      const whole = `begin transaction isolation level repeatable read; ${WHO}; commit`;
      const [, who] = (await client.query(whole)) as unknown as pg.QueryResult[];
      expect(who!.rows).toEqual(TENANT);
    });
  });

  it.each(['commit; select * from leads', 'begin; commit and chain', 'rollback; begin; select 1'])(
    'are rejected if statements follow the end of the transaction in one query: %s',
    async (text) => {
      await expect(source.query(text)).rejects.toThrow(
        'Only the last statement of a query may end its transaction',
      );
    },
  );

  it('see no records after a statement set the organization of their session', async () => {
    await createLead(tenant.api);
    const runner = source.createQueryRunner();
    await runner.query(`select set_config('app.organization_id', $1, false)`, [tenant.id]);
    const count = 'select count(*)::int as count from leads';
    expect(await runner.query(count)).toEqual([{ count: 0 }]);
    expect(await runner.query(`${count} where $1`, [true])).toEqual([{ count: 0 }]);
    await runner.startTransaction();
    expect(await runner.query(count)).toEqual([{ count: 0 }]);
    await runner.rollbackTransaction();
    await runner.query('reset app.organization_id');
    await runner.release();
  });

  it('are accepted in every form that pg accepts', async () => {
    await withClient(async (client) => {
      const rows = async (query: Promise<pg.QueryResult>) => (await query).rows as unknown[];
      expect(await rows(client.query({ text: WHO }))).toEqual(TENANT);
      expect(await rows(client.query({ text: `${WHO} where $1`, values: [true] }))).toEqual(TENANT);
      const named = { name: 'who', text: `${WHO} where $1`, values: [true] };
      expect(await rows(client.query(named))).toEqual(TENANT);
      expect(await rows(client.query(named))).toEqual(TENANT);
      const arrays = { text: WHO, rowMode: 'array' as const };
      expect((await client.query(arrays)).rows).toEqual([['latitude_app']]);
      const answered = await new Promise<pg.QueryResult>((resolve, reject) => {
        client.query(`${WHO} where $1`, [true], (error: Error | null, result) => {
          if (error) reject(error);
          else resolve(result);
        });
      });
      expect(answered.rows).toEqual(TENANT);
      expect(await rows(Promise.resolve(client.query('')))).toEqual([]);
      const queued = await Promise.all([
        client.query('begin'),
        client.query(WHO),
        client.query('commit'),
      ]);
      expect(queued[1].rows).toEqual(TENANT);
    });
  });

  it('run under the tenant role through a cursor', async () => {
    await withClient(async (client) => {
      const rows = await readByCursor(client);
      expect(rows).toEqual(TENANT);
    });
  });

  it('return the original errors of PostgreSQL', async () => {
    const failure = source.query('select no_such_column').catch((error: unknown) => error);
    expect(await failure).toMatchObject({ driverError: { code: '42703', position: '8' } });
    const withValues = source
      .query('select no_such_column, $1', [1])
      .catch((error: unknown) => error);
    expect(await withValues).toMatchObject({ driverError: { code: '42703', position: '8' } });
    expect(await source.query(WHO)).toEqual(TENANT);
  });

  it('run under the tenant role on every connection of the pool, alongside requests', async () => {
    const answers = await onEveryConnection((client) => client.query(WHO));
    for (const { rows } of answers) expect(rows).toEqual(TENANT);
    const asks = Array.from({ length: 30 }, async (_, i) => {
      if (i % 3 === 0) return source.query<object[]>(WHO);
      if (i % 3 === 1) return source.query<object[]>(`${WHO} where $1`, [true]);
      await tenant.api.get('/api/v1/leads');
      return TENANT;
    });
    for (const answer of await Promise.all(asks)) expect(answer).toEqual(TENANT);
  });

  it('leave no open transaction on a released connection', async () => {
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    await runner.release();
    await expectNothingLeftBehind();
  });
});

describe('a table of a team without data of organizations', () => {
  it('can be read and written through its repository', async () => {
    const saved = await reports.rates.save({ currency: 'EUR' });
    expect(await reports.rates.find()).toEqual([saved]);
    await reports.rates.update(saved.id, { currency: 'CHF' });
    expect((await reports.rates.findOneBy({ id: saved.id }))?.currency).toBe('CHF');
    await reports.rates.delete(saved.id);
    expect(await reports.rates.count()).toBe(0);
  });
});

/** Reads all rows as pg-cursor does: over the extended protocol, with a single Sync at the end. */
function readByCursor(client: pg.PoolClient): Promise<object[]> {
  return new Promise((resolve, reject) => {
    const rows: object[] = [];
    client.query({
      submit(connection: {
        parse(m: object): void;
        bind(m: object): void;
        execute(m: object): void;
        sync(): void;
      }) {
        connection.parse({ text: WHO });
        connection.bind({});
        connection.execute({ rows: 1 });
        connection.sync();
      },
      handleDataRow: ({ fields }: { fields: string[] }) => rows.push({ who: String(fields[0]) }),
      handleCommandComplete: () => undefined,
      handlePortalSuspended: () => undefined,
      handleReadyForQuery: () => {
        resolve(rows);
      },
      handleError: reject,
    } as unknown as pg.Submittable);
  });
}
