import { randomUUID } from 'node:crypto';
import { KeysRepository } from '../../../../src/modules/auth/keys.repository.js';
import { KeysService } from '../../../../src/modules/auth/keys.service.js';
import { OrganizationsRepository } from '../../../../src/modules/auth/organizations.repository.js';
import { OrganizationRemovalService } from '../../../../src/modules/auth/organization-removal.service.js';
import type { TenantDataService } from '../../../../src/platform/data/records/tenant-data.service.js';
import { SessionStore } from '../../../../src/modules/mcp/sessions/session-store.js';
import {
  buildLead,
  createLead,
  dataOf,
  expectError,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { McpHttpClient } from '../../../../src/testing/mcp-client.js';
import { stopBackgroundWork } from '../../../support/database/isolation.js';
import { until } from '../../../support/servers/product.js';
import { LIST_ROUTES } from '../../../../src/testing/routes.js';
import { TENANT_TABLES } from '../../../support/database/tenant-tables.js';

const TASKS = '/api/v1/tasks';
const APPOINTMENTS = '/api/v1/appointments';
const TIMES = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };

let app: TestApp;
let tenant: Tenant;
let service: OrganizationRemovalService;

beforeAll(async () => {
  app = await TestApp.start();
  service = app.app.get(OrganizationRemovalService);
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('removing an organization', () => {
  it('counts its keys and records without removing them', async () => {
    const { id } = await createLead(tenant.api);
    await tenant.api.post(TASKS, { title: 'Call', contact_id: id }, withIdempotencyKey());
    await app.key(tenant.id);
    expect(await service.contents(tenant.id)).toEqual({
      id: tenant.id,
      name: expect.stringContaining('Organization') as string,
      keys: 2,
      records: expect.objectContaining({
        ...{ leads: 1, appointments: 0, tasks: 1, idempotency_keys: 1 },
      }) as object,
    });
  });

  it('removes its rows from every table, and no row of another organization', async () => {
    await stopBackgroundWork(app);
    const other = await app.organization();
    for (const { id } of [tenant, other]) {
      const { api } = await app.key(id, ['fields:write', 'leads:write']);
      const field = { key: 'serial', label: 'Serial', type: 'text', unique: true };
      dataOf(await api.post('/api/v1/custom-fields', field), 201);
      await createLead(api, { custom_fields: { serial: 'a' } });
    }
    for (const { listed } of LIST_ROUTES) await Promise.all([listed(tenant), listed(other)]);
    for (const { api } of [tenant, other]) await api.post(LEADS, buildLead(), withIdempotencyKey());
    await tenant.api.delete(`${LEADS}/${(await createLead(tenant.api)).id}`);
    const theirs = await rowCounts(other);
    expect(await rowCounts(tenant)).toMatchObject({ custom_field_values: 1 });

    await service.remove(tenant.id);
    expect(new Set(Object.values(await rowCounts(tenant)))).toEqual(new Set([0]));
    expect(await rowCounts(other)).toEqual(theirs);
    expectError(await tenant.api.get(LEADS), 401, 'unauthorized');
    expect(dataOf(await other.api.get(LEADS))).not.toEqual([]);
  });

  it('removes more rows than one batch, and reports the progress', async () => {
    await app.sql(
      `insert into tasks (organization_id, id, title, priority, status, created_by_ai)
       select $1, gen_random_uuid(), 'Call', 'low', 'open', false from generate_series(1, 2500)`,
      [tenant.id],
    );
    const steps: number[] = [];
    const removed = await service.remove(tenant.id, (rows) => steps.push(rows));
    expect(removed).toMatchObject({ leads: 0, tasks: 2_500 });
    // The tasks, the event of the creation of the key, and two entries of the audit log.
    expect(steps.reduce((sum, step) => sum + step, 0)).toBe(2_503);
    expect(Math.max(...steps)).toBeLessThan(2_500);
  });

  it('rejects an organization that does not exist', async () => {
    await expect(service.contents(randomUUID())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('revokes the keys first, and can be repeated after a failure', async () => {
    await createLead(tenant.api);
    const failing = { remove: () => Promise.reject(new Error('lost')) };
    const broken = new OrganizationRemovalService(
      app.app.get(OrganizationsRepository),
      app.app.get(KeysRepository),
      failing as unknown as TenantDataService,
    );
    await expect(broken.remove(tenant.id)).rejects.toThrow('lost');
    const keys = await app.app.get(KeysService).listKeys(tenant.id);
    expect(keys.map(({ revoked_at }) => revoked_at)).toEqual([expect.any(Date)]);

    expect(await service.remove(tenant.id)).toMatchObject({ leads: 1 });
    expect(await app.sql('select from organizations where id = $1', [tenant.id])).toEqual([]);
  });

  it('closes the MCP sessions of its keys', async () => {
    const caller = new McpHttpClient(app.url, tenant.key.key);
    const session = await caller.openSession('2025-06-18');
    const stream = await caller.openStream(session);
    await service.remove(tenant.id);
    expect(await stream.next()).toBeUndefined();
    const sessions = app.app.get(SessionStore);
    await until(() => Promise.resolve([...sessions.all()].length === 0));
  });
});

describe('removing an organization during requests', () => {
  it('causes no 5xx answer and leaves no row', async () => {
    const { id } = await createLead(tenant.api);
    const statuses = new Set<number>();
    const requests = [
      () => tenant.api.post(LEADS, buildLead()),
      () => tenant.api.post(LEADS, buildLead(), withIdempotencyKey()),
      () => tenant.api.post(TASKS, { title: 'Call' }),
      () => tenant.api.post(TASKS, { title: 'Call', contact_id: id }),
      () => tenant.api.post(APPOINTMENTS, { lead_id: id, ...TIMES }),
      () => tenant.api.put(`${LEADS}/${id}`, { notes: randomUUID() }),
      () => tenant.api.get(`${LEADS}?search=a`),
    ];
    const started = requests.map(() => false);
    const callers = requests.map(async (request, index) => {
      let status = 0;
      while (status !== 401) {
        ({ status } = await request());
        statuses.add(status);
        started[index] = true;
      }
    });
    await until(() => Promise.resolve(started.every(Boolean)));

    await service.remove(tenant.id);
    await Promise.all(callers);
    expect([...statuses].filter((status) => ![200, 201, 401, 404].includes(status))).toEqual([]);
    expect(new Set(Object.values(await rowCounts(tenant)))).toEqual(new Set([0]));
  });

  it('answers 401 to a request that was authenticated before the removal and writes after it', async () => {
    await tenant.api.get(LEADS);
    await app.sql('delete from api_keys where organization_id = $1', [tenant.id]);
    await app.sql('delete from organizations where id = $1', [tenant.id]);
    for (const options of [{}, withIdempotencyKey()]) {
      const answer = await tenant.api.post(LEADS, buildLead(), options);
      expectError(answer, 401, 'unauthorized');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="latitude"');
    }
  });

  it('is protected by a foreign key to organizations in every table', async () => {
    const free = await app.sql<{ name: string }>(
      `${TENANT_TABLES} except select conrelid::regclass::text from pg_constraint
       where contype = 'f' and confrelid = 'organizations'::regclass
         and conname = conrelid::regclass::text || '_organization_id_fkey'`,
    );
    // Counters, times and events need no foreign key because they are written only together with a record. Grants refer to a key of
    // the organization.
    const ofEvents = ['event_outbox', 'events', 'scheduled_events'];
    // The last statement of the removal deletes the entries of the audit log.
    const times = ['leads', 'appointments', 'tasks'].map((name) => `${name}_update_times`);
    const others = ['audit_entries', 'oauth_grants', 'record_counts'];
    const withoutKey = [...others, ...ofEvents, ...times].sort();
    expect(free.map(({ name }) => name).sort()).toEqual(withoutKey);
  });
});

function withIdempotencyKey() {
  return { headers: { 'Idempotency-Key': randomUUID() } };
}

/** Returns the number of rows of an organization by table. */
async function rowCounts({ id }: Tenant): Promise<Record<string, number>> {
  const tables = await app.sql<{ name: string }>(TENANT_TABLES);
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const rows = await app.sql(`select from ${name} where organization_id = $1`, [id]);
    counts[name] = rows.length;
  }
  const rows = await app.sql('select from organizations where id = $1', [id]);
  return { ...counts, organizations: rows.length };
}
