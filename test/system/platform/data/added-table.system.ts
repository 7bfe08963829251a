import { randomUUID } from 'node:crypto';
import { Injectable, Module } from '@nestjs/common';
import { OrganizationRemovalService } from '../../../../src/modules/auth/organization-removal.service.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { RecordRemoval } from '../../../../src/platform/data/records/record-removal.service.js';
import { TenantRepository } from '../../../../src/platform/data/records/tenant-repository.js';
import { TenantEntity } from '../../../../src/platform/data/records/tenant-entity.js';
import { protectTenantTable } from '../../../../src/platform/data/tenant-role/tenant-role.js';
import { IdDto } from '../../../../src/platform/fields/id.dto.js';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

@TenantEntity('offers')
class Offer extends IdDto {}

@Injectable()
class OffersRepository extends TenantRepository<Offer> {
  constructor(database: TenantDatabase) {
    super(database, Offer);
  }
}

@Module({ providers: [OffersRepository] })
class OffersModule {}

const OFFERS = `create table offers (
  organization_id uuid not null references organizations (id), id uuid not null,
  lead_id uuid not null, deleted_at timestamptz(3), primary key (organization_id, id),
  foreign key (organization_id, lead_id) references leads (organization_id, id) on delete cascade)`;

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [OffersModule] });
  for (const statement of [OFFERS, ...protectTenantTable('offers')]) await app.sql(statement);
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('a table of a module with a foreign key to leads', () => {
  it('loses only the records of a purged lead', async () => {
    const [purged, kept] = [await createLead(tenant.api), await createLead(tenant.api)];
    await makeOffer(tenant, purged.id);
    const offer = await makeOffer(tenant, kept.id);
    await tenant.api.delete(`${LEADS}/${purged.id}`);

    const inAMinute = new Date(Date.now() + 60_000);
    const removed = await app.app
      .get(RecordRemoval)
      .purge({ tenant: { id: tenant.id } }, inAMinute);
    expect(removed).toMatchObject({ leads: 1, offers: 1 });
    expect(await offersOf(tenant)).toEqual([{ id: offer }]);
  });

  it('loses only the records of a removed organization', async () => {
    const other = await app.organization();
    const [, theirs] = await Promise.all(
      [tenant, other].map(async (owner) => makeOffer(owner, (await createLead(owner.api)).id)),
    );

    const removed = await app.app.get(OrganizationRemovalService).remove(tenant.id);
    expect(removed).toMatchObject({ leads: 1, offers: 1 });
    expect(await offersOf(tenant)).toEqual([]);
    expect(await offersOf(other)).toEqual([{ id: theirs }]);
  });
});

async function makeOffer({ id: organization }: Tenant, lead: string): Promise<string> {
  const id = randomUUID();
  const text = 'insert into offers (organization_id, id, lead_id) values ($1, $2, $3)';
  await app.sql(text, [organization, id, lead]);
  return id;
}

function offersOf({ id }: Tenant): Promise<{ id: string }[]> {
  return app.sql('select id from offers where organization_id = $1', [id]);
}
