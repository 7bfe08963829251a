import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { readInput } from '../../../../src/platform/fields/input/read-input.js';
import { ContactIdentityService } from '../../../../src/modules/leads/contact-identity/contact-identity.service.js';
import { LeadListQuery } from '../../../../src/modules/leads/lead.dto.js';
import { LeadsRepository } from '../../../../src/modules/leads/leads.repository.js';
import { LOOKUP_LIMIT } from '../../../../src/platform/data/lists/list-statement.js';
import type { ApiClient } from '../../../../src/testing/api-client.js';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { stopBackgroundWork } from '../../../support/database/isolation.js';

/** More than a lookup returns at once, so that every way to read a page is used. */
const LEAD_COUNT = LOOKUP_LIMIT + 700;
const LIMIT = 100;

interface Row {
  id: string;
  created_at: string;
  last_name: string | null;
  lead_score: number;
  status: string | null;
  temperature: string | null;
}

let app: TestApp;
let tenant: Tenant;
let leads: Row[];

beforeAll(async () => {
  app = await TestApp.start();
  // The job that refills leads would leave those that it has locked to itself.
  await stopBackgroundWork(app);
  tenant = await app.organization();
  await addLeads(tenant, LEAD_COUNT);
  leads = await app.sql<Row>(
    `select id, to_json(created_at) #>> '{}' as created_at, last_name, lead_score, status, temperature
     from leads where organization_id = $1 and deleted_at is null`,
    [tenant.id],
  );
});
afterAll(() => app.stop());

/**
 * Adds leads with various values, including empty, equal and deleted ones.
 * @param temperature that of all leads, if they have the same one
 */
async function addLeads({ id }: Tenant, count: number, temperature?: string) {
  await app.sql(
    `insert into leads (organization_id, id, first_name, last_name, email, status, temperature,
       source, tags, custom_fields, lead_score, created_at, sms_opted_out, on_dnc_list, deleted_at)
     select $1, gen_random_uuid(), 'Lead', case when g % 4 > 0 then 'N' || g % 50 end,
       'lead' || g || '@example.com', case when g % 3 > 0 then 'open' end,
       coalesce($3, (array['cold', 'warm', 'hot', null])[1 + g % 4]), 'api', '{}', '{}', g % 7,
       '2026-01-01'::timestamptz + g / 3 * interval '1 minute', false, false,
       case when g % 10 = 0 then now() end
     from generate_series(1, $2::int * 10 / 9) g`,
    [id, count, temperature],
  );
  await app.app.get(ContactIdentityService).refill({ tenant: { id } }, 'US');
}

interface Page {
  data: { id: string }[];
  meta: { total: number; total_pages: number };
}

async function list(api: ApiClient, query: Record<string, unknown>): Promise<Page> {
  const parameters = new URLSearchParams(Object.entries(query) as [string, string][]);
  const answer = await api.get(`${LEADS}?${parameters.toString()}`);
  expect(answer.status).toBe(200);
  return answer.body as Page;
}

/** The ids of all pages, in forward and then in reverse order. */
async function walk(query: Record<string, unknown>): Promise<[string[], string[]]> {
  const { meta } = await list(tenant.api, { ...query, limit: LIMIT });
  const pages = Array.from({ length: meta.total_pages }, (_, index) => index + 1);
  const idsOf = async (page: number) => {
    const { data } = await list(tenant.api, { ...query, limit: LIMIT, page });
    return data.map(({ id }) => id);
  };
  const [forward, backward]: string[][][] = [[], []];
  for (const page of pages) forward!.push(await idsOf(page));
  for (const page of [...pages].reverse()) backward!.unshift(await idsOf(page));
  return [forward!.flat(), backward!.flat()];
}

type Key = Exclude<keyof Row, 'id'>;

function sorted(rows: Row[], key: Key, direction: 'asc' | 'desc'): string[] {
  const sign = direction === 'asc' ? 1 : -1;
  const compare = (a: Row, b: Row): number => {
    const [x, y] = [a[key], b[key]];
    if (x === null && y !== null) return 1;
    if (x !== null && y === null) return -1;
    if (x !== null && y !== null && x !== y) return x < y ? -sign : sign;
    return a.id < b.id ? -sign : sign;
  };
  return [...rows].sort(compare).map(({ id }) => id);
}

const KEYS = ['created_at', 'last_name', 'lead_score'] as const;
const DIRECTIONS = ['asc', 'desc'] as const;
const ORDERS = KEYS.flatMap((key) => DIRECTIONS.map((direction) => [key, direction] as const));

describe('the pages of a list', () => {
  it('cover more leads than one lookup returns', () => {
    expect(leads.length).toBeGreaterThan(LOOKUP_LIMIT + LIMIT);
  });

  const filters = [
    ['all', {}, () => true],
    ['counted by a filter', { status: 'open' }, (row: Row) => row.status === 'open'],
    [
      'few that were looked for',
      { status: 'open', temperature: 'hot' },
      (row: Row) => row.status === 'open' && row.temperature === 'hot',
    ],
    ['many that were looked for', { search: 'example.com' }, () => true],
  ] as const;
  const cases = filters.flatMap(([name, query, has]) =>
    ORDERS.map(([key, direction]) => [name, key, direction, query, has] as const),
  );

  it.each(cases)('contain each lead of %s by %s %s once, in order', async (...one) => {
    const [, sort_by, sort_dir, query, has] = one;
    const expected = sorted(leads.filter(has), sort_by, sort_dir);
    const [forward, backward] = await walk({ ...query, sort_by, sort_dir });
    expect(forward).toEqual(expected);
    expect(backward).toEqual(expected);
  });

  it.each([{}, { status: 'open' }, { search: 'example.com' }, { search: 'lead11@' }])(
    'include an empty page past the end, with the total: %j',
    async (query) => {
      const { meta } = await list(tenant.api, query);
      for (const page of [meta.total_pages + 1, 90_071_992_547_409]) {
        const past = await list(tenant.api, { ...query, page });
        expect(past).toMatchObject({ data: [], meta: { total: meta.total } });
      }
    },
  );
});

describe('a total that requires a scan', () => {
  const QUERY = { search: 'example.com', temperature: 'cold' };

  it.each([
    [
      'the creation of a lead',
      (one: Tenant) => createLead(one.api, { temperature: 'cold', email: 'one.more@example.com' }),
      1,
    ],
    ['the deletion of a lead', (one: Tenant, id: string) => one.api.delete(`${LEADS}/${id}`), -1],
    [
      'an update of the searched field of a lead',
      (one: Tenant, id: string) => one.api.put(`${LEADS}/${id}`, { email: 'x@other.org' }),
      -1,
    ],
    [
      'an update of the filtered field of a lead',
      (one: Tenant, id: string) => one.api.put(`${LEADS}/${id}`, { temperature: 'hot' }),
      -1,
    ],
    [
      'the creation of a lead in another organization',
      () => app.organization().then((o) => createLead(o.api)),
      0,
    ],
  ] as const)('is correct after %s', async (_, change, difference) => {
    const one = await app.organization();
    await addLeads(one, LEAD_COUNT, 'cold');
    const before = await list(one.api, QUERY);
    expect(before.meta.total).toBeGreaterThan(LOOKUP_LIMIT);
    expect((await list(one.api, QUERY)).meta).toEqual(before.meta);
    await change(one, before.data[0]!.id);
    expect((await list(one.api, QUERY)).meta.total).toBe(before.meta.total + difference);
  });

  it('is correct after a failover that lost a write, and one more write', async () => {
    const one = await app.organization();
    await addLeads(one, LEAD_COUNT, 'cold');
    const { total } = (await list(one.api, QUERY)).meta;
    await app.sql('create table counts_before as table record_counts');
    const lost = await createLead(one.api, { email: 'lost@example.com', temperature: 'cold' });
    expect((await list(one.api, QUERY)).meta.total).toBe(total + 1);
    await app.sql(`set session_replication_role = replica;
      delete from leads where id = '${lost.id}';
      delete from record_counts;
      insert into record_counts table counts_before;
      drop table counts_before;
      reset session_replication_role`);
    await createLead(one.api, { temperature: 'hot' });
    expect((await list(one.api, QUERY)).meta.total).toBe(total);
  });
});

describe('the statement of a list', () => {
  it.each([{}, { page: 9 }, { search: 'example.com' }, { search: 'example.com', page: 9 }])(
    'reads the page and the total of %j together',
    async (query) => {
      const call = await app.call(tenant);
      const reads = jest.spyOn(app.app.get(TenantDatabase), 'read');
      await app.app.get(LeadsRepository).list(call, readInput(LeadListQuery, query).value);
      expect(reads).toHaveBeenCalledTimes(1);
      reads.mockRestore();
    },
  );
});
