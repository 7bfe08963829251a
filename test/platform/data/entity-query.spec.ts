import { Injectable, Module } from '@nestjs/common';
import type { SelectQueryBuilder } from 'typeorm';
import { Lead } from '../../../src/modules/leads/lead.entity.js';
import { Task } from '../../../src/modules/tasks/task.entity.js';
import type { Call, TenantCall } from '../../../src/platform/data/call.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { TenantRepository } from '../../../src/platform/data/records/tenant-repository.js';
import { createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { Order, ordersExtension } from '../extension/extensions/orders.extension.js';

type Build<E extends object> = (records: SelectQueryBuilder<E>) => SelectQueryBuilder<E>;

/** Repositories of a team. */
@Injectable()
class LeadQueries extends TenantRepository<Lead> {
  constructor(database: TenantDatabase) {
    super(database, Lead);
  }

  select(call: TenantCall, build: Build<Lead>): Promise<Lead[]> {
    return this.query(call, build);
  }
}

@Injectable()
class OrderQueries extends TenantRepository<Order> {
  constructor(database: TenantDatabase) {
    super(database, Order);
  }

  above(call: TenantCall, total: string): Promise<Order[]> {
    return this.query(call, (orders) => orders.where('orders.total > :total', { total }));
  }
}

@Module({ providers: [LeadQueries, OrderQueries] })
class QueriesModule {}

let app: TestApp;
let tenant: Tenant;
let call: Call;
let leads: LeadQueries;

beforeAll(async () => {
  app = await TestApp.start({ extensions: [ordersExtension], modules: [QueriesModule] });
  leads = app.app.get(LeadQueries);
});
beforeEach(async () => {
  tenant = await app.organization();
  call = await app.call(tenant);
});
afterAll(() => app.stop());

const namesOf = (found: readonly Lead[]) => found.map(({ first_name }) => first_name);
const all: Build<Lead> = (records) => records.orderBy('leads.id');

describe('a query of a repository', () => {
  it('returns entities with the values of the record', async () => {
    const created = await createLead(tenant.api, {
      ...{ first_name: 'Ada', tags: ['roof'], custom_fields: { budget: 12 } },
    });
    const [lead] = await leads.select(call, (records) => records.where({ id: created.id }));
    expect(lead).toBeInstanceOf(Lead);
    expect(lead!.created_at).toBeInstanceOf(Date);
    expect(JSON.parse(JSON.stringify(lead))).toEqual(created);
  });

  it('returns hidden columns if it names them', async () => {
    await createLead(tenant.api, { email: 'ADA@example.com' });
    const [lead] = await leads.select(call, (records) =>
      records.select(['leads.id', 'leads.email_compared']),
    );
    expect(lead).toEqual({ id: expect.any(String) as string, email_compared: 'ada@example.com' });
  });

  it('finds no record of another organization, whatever its conditions are', async () => {
    await createLead((await app.organization()).api, { first_name: 'Eve' });
    await createLead(tenant.api, { first_name: 'Ada' });
    const anything: Build<Lead> = (records) => records.where('true').orWhere('true');
    expect(namesOf(await leads.select(call, anything))).toEqual(['Ada']);
    expect(namesOf(await leads.select(call, all))).toEqual(['Ada']);
    await app.sql('alter table leads disable row level security');
    expect(namesOf(await leads.select(call, anything))).toEqual(['Ada']);
    await app.sql('alter table leads enable row level security');
  });

  it('finds deleted records only if it asks for them', async () => {
    const { id } = await createLead(tenant.api);
    await tenant.api.delete(`${LEADS}/${id}`);
    const byId: Build<Lead> = (records) => records.where('leads.id = :id', { id });
    expect(await leads.select(call, byId)).toEqual([]);
    expect(await leads.select(call, (records) => byId(records).withDeleted())).toHaveLength(1);
  });

  it('can join other entities for its conditions', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'Ada' });
    await createLead(tenant.api, { first_name: 'Bob' });
    dataOf(await tenant.api.post('/api/v1/tasks', { title: 'Call', contact_id: id }), 201);
    const found = await leads.select(call, (records) =>
      records.innerJoin(Task, 'task', 'task.contact_id = leads.id'),
    );
    expect(namesOf(found)).toEqual(['Ada']);
  });

  it('fails if it selects other values than columns of the entity', async () => {
    await createLead(tenant.api);
    const counting = leads.select(call, (records) => records.select('count(*)', 'total'));
    await expect(counting).rejects.toThrow('The query selects total, which is no column of Lead.');
  });

  it('fails with query_failed if PostgreSQL refuses it', async () => {
    const failing = leads.select(call, (records) => records.where('no_such_column = 1'));
    await expect(failing).rejects.toMatchObject({ code: 'query_failed' });
  });

  it('returns decimals as strings, and nested objects with times', async () => {
    const since = '2026-01-05T16:20:00.000Z';
    const owner = await app.organization({ scopes: ['orders:write'] });
    dataOf(
      await owner.api.post('/api/v1/orders', { total: '9.50', address: { city: 'Bern', since } }),
      201,
    );
    const [order] = await app.app.get(OrderQueries).above(await app.call(owner), '9');
    expect(order).toMatchObject({
      total: '9.50',
      address: { city: 'Bern', since: new Date(since) },
    });
  });
});

describe('a query in a transaction', () => {
  it('is part of it', async () => {
    const database = app.app.get(TenantDatabase);
    const { id } = await createLead(tenant.api, { first_name: 'Ada' });
    await database.dryRun(call, async (inner) => {
      await leads.update(inner, id, { first_name: 'Grace' });
      expect(namesOf(await leads.select(inner, all))).toEqual(['Grace']);
    });
    expect(namesOf(await leads.select(call, all))).toEqual(['Ada']);
  });

  it('leaves the transaction usable if it fails', async () => {
    await createLead(tenant.api, { first_name: 'Ada' });
    const names = await app.app.get(TenantDatabase).transaction(call, async (inner) => {
      const failing = leads.select(inner, (records) => records.where('no_such_column = 1'));
      await expect(failing).rejects.toMatchObject({ code: 'create_failed' });
      return namesOf(await leads.select(inner, all));
    });
    expect(names).toEqual(['Ada']);
  });
});
