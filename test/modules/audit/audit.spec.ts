import { randomUUID } from 'node:crypto';
import { OperatorsService } from '../../../src/modules/auth/operators.service.js';
import { AuditService } from '../../../src/modules/audit/audit.service.js';
import type { ApiClient } from '../../../src/testing/api-client.js';
import { urlOf } from '../../../src/testing/databases.js';
import {
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { captureLog } from '../../support/captured-log.js';
import { latitude } from '../../support/command-line.js';
import { importFile, sendFile } from '../../support/lead-imports.js';
import { until } from '../../support/servers/product.js';
import { WebhookReceiver } from '../../support/servers/webhook-receiver.js';

const AUDIT = '/api/v1/audit';
const KEYS = '/api/v1/keys';
const WEBHOOKS = '/api/v1/webhooks';
const FIELDS = '/api/v1/custom-fields';
const RESOURCES = '/api/v1/resources';
const ORGANIZATIONS = '/api/v1/organizations';
const ADDRESS = '203.0.113.7';

interface Entry {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly actor: Readonly<Record<string, string | null>>;
  readonly address: string | null;
  readonly record: { readonly type: string; readonly id: string | null };
}

interface Page {
  readonly data: Entry[];
  readonly meta: { readonly next: string; readonly has_more: boolean };
}

let app: TestApp;
let tenant: Tenant;
let receiver: WebhookReceiver;
const log = captureLog();

beforeAll(async () => {
  [app, receiver] = await Promise.all([
    TestApp.start({
      settings: { trustProxy: 1, auditLog: true, webhooksAllowPrivateTargets: true },
    }),
    WebhookReceiver.start(),
  ]);
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: app.scopes.every, name: 'n8n' });
});
afterAll(() => Promise.all([app.stop(), receiver.stop()]));

const pageOf = async (api: ApiClient, query = '') => {
  return (await api.get(`${AUDIT}?limit=100&${query}`)).body as Page;
};

const entriesOf = async (api: ApiClient, query = '') => (await pageOf(api, query)).data;

/** The entries that work has made, the oldest first, as their types and the ids of their records. */
async function madeBy(work: () => Promise<unknown>, api = tenant.api) {
  const { next } = (await pageOf(api, 'after=')).meta;
  await work();
  return entriesOf(api, `after=${next}`);
}

const actsOf = (entries: readonly Entry[]) =>
  entries.map(({ type, record }) => [type, record.id] as const);

const from = (address = ADDRESS) => ({ headers: { 'X-Forwarded-For': address } });

const idOf = (answer: Awaited<ReturnType<ApiClient['post']>>, status = 201) =>
  dataOf<{ id: string }>(answer, status).id;

const webhookTo = (url: string) => ({ url, types: ['task.created'] });

/** Lets each insert into a table fail. @param when of the statement, or of the commit */
async function failInserts(
  table: string,
  when: 'statement' | 'commit',
): Promise<() => Promise<void>> {
  await app.sql(`create or replace function fail() returns trigger language plpgsql as
    $$ begin raise exception 'no'; end $$`);
  const [constraint, deferred] =
    when === 'commit' ? ['constraint', 'deferrable initially deferred'] : ['', ''];
  await app.sql(`create ${constraint} trigger fail after insert on ${table} ${deferred}
    for each row execute function fail()`);
  return async () => {
    await app.sql(`drop trigger fail on ${table}`);
  };
}

describe('an entry', () => {
  it('says what was done to which record, when, by which key, and from which address', async () => {
    const id = idOf(await tenant.api.post(WEBHOOKS, webhookTo(receiver.url()), from()));
    const [entry] = await entriesOf(tenant.api);
    expect(entry).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      type: 'webhook.created',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: {
        kind: 'key',
        key_id: tenant.key.id,
        key_name: 'n8n',
        channel: 'api',
        request_id: expect.any(String),
        grant_id: null,
        client_id: null,
      },
      address: ADDRESS,
      record: { type: 'webhook', id },
    });
  });

  it('has the address of the connection where no proxy forwards another one', async () => {
    await tenant.api.post(RESOURCES, { name: 'Crew' });
    const [entry] = await entriesOf(tenant.api);
    expect(entry?.address).toMatch(/127\.0\.0\.1$/);
  });

  it('has the id of its request', async () => {
    const headers = { 'X-Request-Id': 'audited-request' };
    await tenant.api.post(RESOURCES, { name: 'Crew' }, { headers });
    expect(await entriesOf(tenant.api)).toMatchObject([
      { type: 'resource.created', actor: { request_id: 'audited-request' } },
      ...[{}, {}],
    ]);
  });
});

describe('over REST', () => {
  it('each change of a key is an entry, also of keys that end with it', async () => {
    const { api } = tenant;
    let [made, successor] = ['', ''];
    const entries = await madeBy(async () => {
      made = idOf(await api.post(KEYS, { name: 'a', scopes: ['keys:write'] }));
      successor = idOf(await api.post(`${KEYS}/${made}/rotate`, {}));
      dataOf(await api.delete(`${KEYS}/${successor}`));
      dataOf(await api.delete(`${KEYS}/${successor}`));
    });
    expect(actsOf(entries)).toEqual([
      ['key.created', made],
      ['key.created', successor],
      ['key.rotated', made],
      ['key.revoked', successor],
    ]);
    expect(JSON.stringify(entries)).not.toContain('lat_');
    const parent = await app.key(tenant.id, app.scopes.every);
    const child = idOf(await parent.api.post(KEYS, { name: 'b', scopes: ['leads:read'] }));
    const ended = await madeBy(() => api.delete(`${KEYS}/${parent.key.id}`));
    expect(new Set(actsOf(ended).map(([type, id]) => `${type} ${id}`))).toEqual(
      new Set([`key.revoked ${parent.key.id}`, `key.revoked ${child}`]),
    );
  });

  it('each change of a webhook is an entry', async () => {
    const { api } = tenant;
    let id = '';
    const entries = await madeBy(async () => {
      id = idOf(await api.post(WEBHOOKS, webhookTo(receiver.url())));
      dataOf(await api.put(`${WEBHOOKS}/${id}`, { description: 'a' }));
      dataOf(await api.put(`${WEBHOOKS}/${id}`, { description: 'a' }));
      dataOf(await api.post(`${WEBHOOKS}/${id}/rotate-secret`, undefined));
      dataOf(await api.delete(`${WEBHOOKS}/${id}`));
    });
    expect(actsOf(entries)).toEqual([
      ['webhook.created', id],
      ['webhook.updated', id],
      ['webhook.secret_rotated', id],
      ['webhook.deleted', id],
    ]);
  });

  it('each change of a definition is an entry, and a dry run is none', async () => {
    const { api } = tenant;
    const field = { key: 'serial', label: 'Serial', type: 'text' };
    let id = '';
    const entries = await madeBy(async () => {
      dataOf(await api.post(FIELDS, { ...field, dry_run: true }), 200);
      id = idOf(await api.post(FIELDS, field));
      dataOf(await api.put(`${FIELDS}/${id}`, { label: 'Number', dry_run: true }));
      dataOf(await api.put(`${FIELDS}/${id}`, { label: 'Number' }));
      dataOf(await api.put(`${FIELDS}/${id}`, { required: true }));
      dataOf(await api.put(`${FIELDS}/${id}`, { required: true }));
      dataOf(await api.delete(`${FIELDS}/${id}`));
    });
    expect(actsOf(entries)).toEqual([
      ['custom_field.created', id],
      ['custom_field.updated', id],
      ['custom_field.updated', id],
      ['custom_field.deleted', id],
    ]);
  });

  it('each change of a resource and of its calendars is an entry, also in a batch', async () => {
    const { api } = tenant;
    let [id, calendar, batched] = ['', '', ''];
    const entries = await madeBy(async () => {
      id = idOf(await api.post(RESOURCES, { name: 'Crew' }));
      dataOf(await api.put(`${RESOURCES}/${id}`, { name: 'Crew 2' }));
      dataOf(await api.put(`${RESOURCES}/${id}`, { name: 'Crew 2' }));
      calendar = idOf(await api.post(`${RESOURCES}/${id}/calendar`, {}));
      dataOf(await api.delete(`${RESOURCES}/${id}/calendars/${calendar}`));
      const create = { items: [{ action: 'create', data: { name: 'Crew 3' } }] };
      const { body } = await api.post(`${RESOURCES}/batch`, create);
      batched = (body as { data: [{ id: string }] }).data[0].id;
      for (const item of [{ action: 'update', data: { name: 'Crew 4' } }, { action: 'delete' }]) {
        const items = [{ ...item, id: batched }];
        dataOf(await api.post(`${RESOURCES}/batch`, { items }));
      }
      dataOf(await api.delete(`${RESOURCES}/${id}`));
    });
    expect(actsOf(entries)).toEqual([
      ['resource.created', id],
      ['resource.updated', id],
      ['calendar.created', calendar],
      ['calendar.deleted', calendar],
      ['resource.created', batched],
      ['resource.updated', batched],
      ['resource.deleted', batched],
      ['resource.deleted', id],
    ]);
  });

  it('changes of the organization, imports, exports, reads and erasures of a person are entries', async () => {
    const { api } = tenant;
    let [lead, other, started] = ['', '', ''];
    const entries = await madeBy(async () => {
      dataOf(await api.put('/api/v1/organization', { time_zone: 'Europe/Berlin' }));
      dataOf(await api.put('/api/v1/organization', { time_zone: 'Europe/Berlin' }));
      lead = (await createLead(api, { first_name: 'Ada' })).id;
      other = (await createLead(api, { first_name: 'Grace' })).id;
      dataOf(await api.post(`${LEADS}/${lead}/merge`, { lead_id: other }));
      const rows = Array.from({ length: 200 }, (_, index) => `Jean,${index}@example.com`);
      const file = ['first_name,email', ...rows].join('\n');
      started = idOf(await sendFile(api, file), 202);
      await api.post(`${LEADS}/imports/${started}/cancel`, undefined);
      await api.get(`${LEADS}/export`, from());
      dataOf(await api.get(`${LEADS}/${lead}/personal-data`, from()));
      dataOf(await api.post(`${LEADS}/${lead}/erase`, undefined));
    });
    const acts = actsOf(entries).filter(([type]) => type !== 'import.cancelled');
    expect(acts.slice(0, 4)).toEqual([
      ['organization.updated', tenant.id],
      ['import.created', started],
      ['export.read', null],
      ['personal_data.read', lead],
    ]);
    expect(new Set(acts.slice(4).map(([type, id]) => `${type} ${id}`))).toEqual(
      new Set([`lead.erased ${lead}`, `lead.erased ${other}`]),
    );
    const reads = entries.filter(({ type }) => type.endsWith('.read'));
    expect(reads).toMatchObject([
      { address: ADDRESS, record: { type: 'export' }, actor: { request_id: expect.any(String) } },
      { address: ADDRESS, record: { type: 'lead' } },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/Ada|Grace|example\.com/);
  });

  it('the cancellation of an import is an entry', async () => {
    const { id } = await importFile(tenant.api, 'first_name,email\nAda,ada@example.com');
    // No job carries it out.
    await app.sql(`update lead_imports set status = 'pending', ended_at = null where id = $1`, [
      id,
    ]);
    const path = `${LEADS}/imports/${id}/cancel`;
    const entries = await madeBy(() => tenant.api.post(path, undefined));
    expect(actsOf(entries)).toEqual([['import.cancelled', id]]);
  });

  it('changes of leads, appointments and tasks are no entries', async () => {
    const { api } = tenant;
    const entries = await madeBy(async () => {
      const { id } = await createLead(api);
      dataOf(await api.put(`${LEADS}/${id}`, { first_name: 'Grace' }));
      const times = { start_time: '2030-01-01T10:00:00Z', end_time: '2030-01-01T11:00:00Z' };
      dataOf(await api.post('/api/v1/appointments', { lead_id: id, ...times }), 201);
      dataOf(await api.post('/api/v1/tasks', { title: 'Call', contact_id: id }), 201);
      dataOf(await api.get(`${LEADS}/${id}`));
      dataOf(await api.delete(`${LEADS}/${id}`));
    });
    expect(entries).toEqual([]);
  });

  it('what is refused, and a replay, are no entries', async () => {
    const { api } = tenant;
    const headers = { 'Idempotency-Key': randomUUID() };
    const entries = await madeBy(async () => {
      const webhook = webhookTo(receiver.url());
      dataOf(await api.post(WEBHOOKS, webhook, { headers }), 201);
      dataOf(await api.post(WEBHOOKS, webhook, { headers }), 201);
      expectError(await api.delete(`${WEBHOOKS}/${randomUUID()}`), 404, 'not_found');
      expectError(await api.get(`${LEADS}/${randomUUID()}/personal-data`), 404, 'not_found');
      expectInvalid(await api.get(`${LEADS}/export?format=xml`), 'format');
      const stale = { headers: { 'If-Match': '"stale"' } };
      const id = idOf(await api.post(RESOURCES, { name: 'Crew' }));
      const refused = await api.put(`${RESOURCES}/${id}`, { name: 'Crew 2' }, stale);
      expectError(refused, 412, 'precondition_failed');
    });
    expect(entries.map(({ type }) => type)).toEqual(['webhook.created', 'resource.created']);
  });
});

describe('the service itself', () => {
  it('makes an entry when it disables a webhook', async () => {
    receiver.answer = () => ({ status: 410 });
    const id = idOf(await tenant.api.post(WEBHOOKS, webhookTo(receiver.url())));
    await tenant.api.post('/api/v1/tasks', { title: 'Call' });
    await until(async () => (await entriesOf(tenant.api, 'type=webhook.disabled')).length > 0);
    expect(await entriesOf(tenant.api, 'type=webhook.disabled')).toMatchObject([
      { actor: { kind: 'service', key_id: null }, address: null, record: { type: 'webhook', id } },
    ]);
  });
});

describe('commit', () => {
  it('there is no change without its entry', async () => {
    const { api } = tenant;
    const resource = idOf(await api.post(RESOURCES, { name: 'Crew' }));
    const restore = await failInserts('audit_entries', 'statement');
    try {
      const answers = [
        await api.post(RESOURCES, { name: 'Crew 2' }),
        await api.put(`${RESOURCES}/${resource}`, { name: 'Crew 3' }),
        await api.delete(`${RESOURCES}/${resource}`),
        await api.post(WEBHOOKS, webhookTo(receiver.url())),
        await api.post(KEYS, { name: 'a', scopes: ['leads:read'] }),
        await api.put('/api/v1/organization', { time_zone: 'Asia/Tokyo' }),
      ];
      for (const answer of answers) expectError(answer, 500, 'create_failed');
    } finally {
      await restore();
    }
    expect((await api.get(RESOURCES)).body).toMatchObject({ data: [{ name: 'Crew' }] });
    expect((await api.get(WEBHOOKS)).body).toMatchObject({ data: [] });
    expect((await api.get(KEYS)).body).toMatchObject({ meta: { total: 1 } });
    expect((await api.get('/api/v1/organization')).body).toMatchObject({
      data: { time_zone: 'UTC' },
    });
  });

  it('there is no entry of a change that is rolled back', async () => {
    const { api } = tenant;
    const restore = await failInserts('webhooks', 'commit');
    try {
      const entries = await madeBy(async () => {
        expectError(await api.post(WEBHOOKS, webhookTo(receiver.url())), 500, 'create_failed');
        const items = [
          { action: 'create', data: { name: 'Crew' } },
          { action: 'delete', id: randomUUID() },
        ];
        const batch = await api.post(`${RESOURCES}/batch`, { atomic: true, items });
        expectError(batch, 404, 'not_found');
      });
      expect(entries).toEqual([]);
    } finally {
      await restore();
    }
    expect(log.filter((line) => /webhook|resource/.test(line))).toEqual([]);
  });

  it('a read whose entry cannot be written is refused', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'Ada' });
    const restore = await failInserts('audit_entries', 'statement');
    try {
      for (const path of ['export', `${id}/personal-data`]) {
        const answer = await tenant.api.get(`${LEADS}/${path}`);
        expectError(answer, 500, 'query_failed');
        expect(JSON.stringify(answer.body)).not.toContain('Ada');
      }
    } finally {
      await restore();
    }
    expect((await tenant.api.get(`${LEADS}/export`)).status).toBe(200);
  });
});

describe('the list', () => {
  it('needs the scope audit:read, which a key has only if it is named', async () => {
    const { api } = await app.key(tenant.id);
    const answer = await api.get(AUDIT);
    expectError(answer, 403, 'insufficient_scope');
    expect(answer.headers.get('www-authenticate')).toContain('scope="audit:read"');
  });

  it('has the entries of its organization only', async () => {
    const other = await app.organization({ scopes: app.scopes.every });
    const id = idOf(await tenant.api.post(RESOURCES, { name: 'Crew' }));
    const theirs = await entriesOf(other.api);
    expect(actsOf(theirs)).toEqual([
      ['key.created', other.key.id],
      ['organization.created', other.id],
    ]);
    expect(await entriesOf(other.api, `record_id=${id}`)).toEqual([]);
    expect(await entriesOf(other.api, `key_id=${tenant.key.id}`)).toEqual([]);
  });

  it('is read by cursor in both directions, by default the newest entry first', async () => {
    const { api } = tenant;
    for (const name of ['a', 'b', 'c']) dataOf(await api.post(RESOURCES, { name }), 201);
    const all = await entriesOf(api);
    expect(all.map(({ type }) => type)).toEqual([
      ...Array<string>(3).fill('resource.created'),
      ...['key.created', 'organization.created'],
    ]);
    expect(await entriesOf(api, 'before=')).toEqual(all);
    for (const [direction, expected] of [
      ['before', all],
      ['after', all.toReversed()],
    ] as const) {
      const read: Entry[] = [];
      let [next, more] = ['', true];
      while (more) {
        const { body } = await api.get(`${AUDIT}?limit=2&${direction}=${next}`);
        const { data, meta } = body as Page;
        read.push(...data);
        [next, more] = [meta.next, meta.has_more];
      }
      expect(read).toEqual(expected);
    }
  });

  it('selects by type, key, record and time', async () => {
    const { api } = tenant;
    const other = await app.key(tenant.id, app.scopes.every);
    const first = idOf(await api.post(RESOURCES, { name: 'a' }));
    const second = idOf(await other.api.post(RESOURCES, { name: 'b' }));
    const [latest] = await entriesOf(api);
    const at = latest!.at;
    expect(actsOf(await entriesOf(api, `record_id=${first.toUpperCase()}`))).toEqual([
      ['resource.created', first],
    ]);
    expect(actsOf(await entriesOf(api, `key_id=${other.key.id}`))).toEqual([
      ['resource.created', second],
    ]);
    expect(actsOf(await entriesOf(api, 'type=resource.created&after='))).toEqual([
      ['resource.created', first],
      ['resource.created', second],
    ]);
    expect(actsOf(await entriesOf(api, `from=${at}&type=resource.created`))).toContainEqual([
      'resource.created',
      second,
    ]);
    const earlier = await entriesOf(api, `to=${at}`);
    expect(earlier.every((entry) => entry.at < at)).toBe(true);
    expect(await entriesOf(api, 'to=2020-01-01T00:00:00Z')).toEqual([]);
  });

  it('refuses unknown values by the name of the parameter', async () => {
    const { api } = tenant;
    expectInvalid(await api.get(`${AUDIT}?type=lead.created`), 'type');
    expectInvalid(await api.get(`${AUDIT}?key_id=a`), 'key_id');
    expectInvalid(await api.get(`${AUDIT}?from=yesterday`), 'from');
    expectInvalid(await api.get(`${AUDIT}?after=&before=`), 'before');
    expectInvalid(await api.get(`${AUDIT}?page=2`), 'page');
    expectInvalid(await api.get(`${AUDIT}?after=x`), 'after');
  });
});

describe('operators', () => {
  it('read what they have done, and so does the organization', async () => {
    const { key, operator_id } = await app.app.get(OperatorsService).createKey('Reseller', null);
    const operator = app.client(key);
    const id = idOf(await operator.post(ORGANIZATIONS, { name: 'Harbor Roofing' }, from()));
    const made = dataOf<{ id: string; key: string }>(
      await operator.post(`${ORGANIZATIONS}/${id}/keys`, { name: 'First' }),
      201,
    );
    const limits = { reads_per_minute: 100 };
    dataOf(await operator.put(`${ORGANIZATIONS}/${id}/keys/${made.id}`, limits));
    dataOf(await operator.put(`${ORGANIZATIONS}/${id}`, { suspended: true }));
    dataOf(await operator.put(`${ORGANIZATIONS}/${id}`, { suspended: false, name: 'Harbor' }));
    const acts = [
      ['organization.created', id],
      ['key.created', made.id],
      ['key.updated', made.id],
      ['organization.suspended', id],
      ['organization.resumed', id],
      ['organization.updated', id],
    ];
    const own = await entriesOf(operator, 'after=');
    expect(actsOf(own)).toEqual([['operator_key.created', operator_id], ...acts]);
    expect(own[0]).toMatchObject({ actor: { kind: 'service' } });
    expect(own[1]).toMatchObject({
      actor: { kind: 'operator', key_id: operator_id, key_name: 'Reseller' },
      address: ADDRESS,
      record: { type: 'organization', id, organization_id: id },
    });

    const { api } = await app.key(id, ['audit:read', 'resources:write']);
    dataOf(await api.post(RESOURCES, { name: 'Crew' }), 201);
    const theirs = await entriesOf(api, 'after=');
    expect(actsOf(theirs).slice(0, 6)).toEqual(acts);
    expect(theirs[3]).toMatchObject({
      actor: { kind: 'operator', key_id: operator_id, key_name: 'Reseller' },
    });
    expect(theirs[3]?.record).toEqual({ type: 'organization', id });
    // What others do there is not theirs.
    expect(await entriesOf(operator)).toHaveLength(7);
    const other = await app.app.get(OperatorsService).createKey('Other', null);
    expect(await entriesOf(app.client(other.key))).toHaveLength(1);
  });
});

describe('commands', () => {
  it('are actors of their own kind', async () => {
    const env = { DATABASE_URL: urlOf(app.database), AUDIT_LOG: 'on' };
    const { id } = await latitude<{ id: string }>(env, 'organizations', 'create', '--name', 'o');
    const [{ api }, of] = [await app.key(id, ['audit:read']), ['--organization', id]];
    const entries = await madeBy(async () => {
      const make = ['keys', 'create', ...of, '--name', 'k', '--scopes', 'all'];
      const key = await latitude<{ id: string }>(env, ...make);
      await latitude(env, 'keys', 'update', key.id, '--reads-per-minute', '7');
      await latitude(env, 'keys', 'rotate', key.id);
      await latitude(env, 'keys', 'revoke', key.id);
      await latitude(env, 'organizations', 'update', id, '--suspend');
      await latitude(env, 'organizations', 'update', id, '--resume');
      const url = ['--url', receiver.url(), '--types', 'task.created'];
      const allowed = { ...env, WEBHOOKS_ALLOW_PRIVATE_TARGETS: 'on' };
      const webhook = await latitude<{ id: string }>(allowed, 'webhooks', 'create', ...of, ...url);
      await latitude(allowed, 'webhooks', 'delete', webhook.id, ...of);
    }, api);
    expect(entries.map(({ type }) => type)).toEqual([
      ...['key.created', 'key.updated', 'key.created', 'key.rotated', 'key.revoked'],
      ...['organization.suspended', 'organization.resumed', 'webhook.created', 'webhook.deleted'],
    ]);
    const actor = {
      ...{ kind: 'command', key_id: null, key_name: null, channel: null },
      ...{ request_id: null, grant_id: null, client_id: null },
    };
    for (const entry of entries) expect(entry).toMatchObject({ actor, address: null });
    const [made] = await entriesOf(api, 'after=');
    expect(made).toMatchObject({ type: 'organization.created', actor, record: { id } });
  });

  it('that change operators make entries of the operator, which outlive its organizations', async () => {
    const env = { DATABASE_URL: urlOf(app.database) };
    const create = ['operators', 'create', '--name', 'Reseller'];
    const first = await latitude<{ id: string; key: string }>(env, ...create);
    const operator = app.client(first.key);
    const id = idOf(await operator.post(ORGANIZATIONS, { name: 'Harbor Roofing' }));
    const rotate = ['operators', 'rotate', first.id, '--overlap', '1h'];
    const second = await latitude<{ id: string; key: string }>(env, ...rotate);
    await latitude(env, 'organizations', 'delete', id, '--yes');
    await latitude(env, 'operators', 'revoke', first.id);
    await latitude(env, 'operators', 'revoke', first.id);
    const entries = await entriesOf(app.client(second.key), 'after=');
    expect(actsOf(entries)).toEqual([
      ['operator_key.created', first.id],
      ['organization.created', id],
      ['operator_key.created', second.id],
      ['operator_key.rotated', first.id],
      ['organization.removed', id],
      ['operator_key.revoked', first.id],
    ]);
    expect(entries[4]).toMatchObject({ actor: { kind: 'command' } });
    expect(await app.sql('select from audit_entries where organization_id = $1', [id])).toEqual([]);
  });
});

describe('AUDIT_LOG', () => {
  it('writes each entry as a line of JSON after its commit', async () => {
    const id = idOf(await tenant.api.post(RESOURCES, { name: 'Crew' }, from()));
    const [entry] = await entriesOf(tenant.api);
    const lines = log
      .map((line) => JSON.parse(line) as { msg: string; audit: Entry })
      .filter(({ msg, audit }) => msg === 'audit' && audit.record.id === id);
    expect(lines).toEqual([
      {
        level: 30,
        time: expect.any(String),
        msg: 'audit',
        audit: { organization_id: tenant.id, ...entry },
      },
    ]);
  });
});

describe('retention', () => {
  it('removes entries after 400 days, and addresses after 90', async () => {
    const insert = (age: string) =>
      app.sql(
        `insert into audit_entries (organization_id, id, type, at, actor, address, record)
         select $1, gen_random_uuid(), 'key.created', now() - $2::interval, '{}', '203.0.113.7', '{}'
         from generate_series(1, 1001)`,
        [tenant.id, age],
      );
    for (const age of ['401 days', '399 days', '91 days', '89 days']) await insert(age);
    await app.app.get(AuditService).cleanUp();
    const counts = await app.sql(
      `select (current_date - at::date) / 30 * 30 as days, count(*)::int, count(address)::int as addresses
       from audit_entries where organization_id = $1 and at < now() - interval '1 day'
       group by 1 order by 1`,
      [tenant.id],
    );
    expect(counts).toEqual([
      { days: 60, count: 1_001, addresses: 1_001 },
      { days: 90, count: 1_001, addresses: 0 },
      { days: 390, count: 1_001, addresses: 0 },
    ]);
  });
});
