import { randomUUID } from 'node:crypto';
import { Body, Controller, Module, Post } from '@nestjs/common';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { RecordOf } from '../../../../src/platform/fields/field.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { readInput } from '../../../../src/platform/fields/input/read-input.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { IdempotencyRepository } from '../../../../src/platform/http/response/idempotency.repository.js';
import { CreateLeadDto } from '../../../../src/modules/leads/lead.dto.js';
import { LeadsModule } from '../../../../src/modules/leads/leads.module.js';
import { LeadsService } from '../../../../src/modules/leads/leads.service.js';
import { CurrentCall } from '../../../../src/platform/http/request/api-request.js';
import type { Call } from '../../../../src/platform/data/call.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../../src/testing/factories.js';
import { storedResponseSql } from '../../../../src/platform/http/response/stored-responses.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { routeName, ROUTES, send, statusOf, validRequest } from '../../../../src/testing/routes.js';
import { stopBackgroundWork } from '../../../support/database/isolation.js';

class NameDto {
  @Text({ max: 100, required: true }) first_name: string;
}

class PairDto extends RecordOf(NameDto) {}

/** Lets a test hold requests until it opens the gate. */
let gate: Promise<unknown> = Promise.resolve();
let calls = 0;

const lead = (fields: object) => readInput(CreateLeadDto, fields).value;

/** Routes of a module that write several records. */
@Controller('api/v1/pairs')
class PairsController {
  constructor(private readonly leads: LeadsService) {}

  @Post()
  @AnyKey()
  async create(@CurrentCall() call: Call, @Body() { first_name }: NameDto): Promise<PairDto> {
    calls++;
    const { id } = await this.leads.create(call, lead({ first_name }));
    await gate;
    await this.leads.create(call, lead({ first_name, email: `${first_name}@example.com` }));
    return { id, first_name };
  }

  /** The second write fails, and the handler continues. */
  @Post('forgiving')
  @AnyKey()
  async forgive(@CurrentCall() call: Call, @Body() { first_name }: NameDto): Promise<PairDto> {
    const email = `${first_name}@example.com`;
    const { id } = await this.leads.create(call, lead({ first_name, email }));
    await this.leads.create(call, lead({ first_name, email })).catch(() => undefined);
    await this.leads.create(call, lead({ first_name }));
    return { id, first_name };
  }
}

@Module({ imports: [LeadsModule], controllers: [PairsController] })
class PairsModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [PairsModule] });
});
beforeEach(async () => {
  tenant = await app.organization();
  gate = Promise.resolve();
  calls = 0;
});
afterAll(() => app.stop());

const withKey = (key: string = randomUUID()) => ({ headers: { 'Idempotency-Key': key } });
const isReplayed = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

async function total({ api } = tenant): Promise<number> {
  const { body } = await api.get(`${LEADS}?limit=1`);
  return (body as { meta: { total: number } }).meta.total;
}

describe.each(
  ROUTES.filter((route) => statusOf(route) === 201).map(
    (route) => [routeName(route), route] as const,
  ),
)('Idempotency-Key on %s', (_, route) => {
  it('executes a request once and repeats its response', async () => {
    const { path, body } = await validRequest(route, tenant);
    const { headers } = withKey();
    const first = await send(tenant.api, route, { path, body }, headers);
    const again = await send(tenant.api, route, { path, body }, headers);
    expect([first.status, isReplayed(first)]).toEqual([201, false]);
    expect([again.status, isReplayed(again)]).toEqual([201, true]);
    // A secret is shown once.
    const { secret: _secret, ...shown } = dataOf<{ secret?: string }>(first, 201);
    expect(again.body).toEqual({ ...(first.body as object), data: shown });
    for (const name of ['location', 'etag', 'content-type']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    const list = path.replace('/upsert', '');
    if (!ROUTES.some(({ method, pattern }) => method === 'GET' && pattern === list)) return;
    const records = await tenant.api.get(list);
    expect(records.body).toMatchObject({ meta: { total: 1 } });
  });

  it('answers 422 to another body', async () => {
    const { headers } = withKey();
    const one = await validRequest(route, tenant);
    const other = await validRequest(route, tenant);
    expect((await send(tenant.api, route, one, headers)).status).toBe(201);
    const refused = await send(tenant.api, route, other, headers);
    expectError(refused, 422, 'idempotency_key_reused');
  });
});

describe('Idempotency-Key', () => {
  const ada = { first_name: 'Ada', tags: ['a'] };
  const post = (body: unknown, key: string, api = tenant.api) =>
    api.post(LEADS, body, withKey(key));

  it.each(['!', 'k', '~'.repeat(255), 'a,b', '"quoted"'])('accepts %j', async (key) => {
    expect((await post(ada, key)).status).toBe(201);
    expect(isReplayed(await post(ada, key))).toBe(true);
  });

  it.each(['', ' ', 'a b', 'x'.repeat(256), 'é', '\t'])('rejects %j', async (key) => {
    expectInvalid(await post(ada, key), 'Idempotency-Key');
    expect(await total()).toBe(0);
  });

  it('is checked after the body', async () => {
    expectInvalid(await post({ first_name: 1 }, 'a b'), 'first_name');
    expect((await post(ada, 'k')).status).toBe(201);
    expectInvalid(await post({ first_name: 1 }, 'k'), 'first_name');
  });

  it('compares the values of bodies and not their format', async () => {
    expect((await post('{"first_name":"Ada","tags":["a"]}', 'k')).status).toBe(201);
    expect(isReplayed(await post('{ "tags": ["a"], "first_name": " Ada " }', 'k'))).toBe(true);
    const nested = (fields: string) => `{"first_name":"Ada","custom_fields":{"a":${fields}}}`;
    expect((await post(nested('{"b":1,"c":[{"d":1,"e":2}]}'), 'n')).status).toBe(201);
    expect(isReplayed(await post(nested('{"c":[{"e":2,"d":1}],"b":1}'), 'n'))).toBe(true);
    expectError(await post(nested('{"b":1,"c":[2]}'), 'n'), 422, 'idempotency_key_reused');
  });

  it('is separate for each organization, method and path', async () => {
    const other = await app.organization();
    const colleague = await app.key(tenant.id);
    expect((await post(ada, 'k')).status).toBe(201);
    expect(isReplayed(await post(ada, 'k', other.api))).toBe(false);
    expect(isReplayed(await post(ada, 'k', colleague.api))).toBe(true);
    expect(isReplayed(await tenant.api.post('/api/v1/tasks', { title: 'T' }, withKey('k')))).toBe(
      false,
    );
    expect([await total(), await total(other)]).toEqual([1, 1]);
  });

  it('requires the scope for a replay', async () => {
    expect((await post(ada, 'k')).status).toBe(201);
    const reader = await app.key(tenant.id, ['leads:read']);
    expectError(await post(ada, 'k', reader.api), 403, 'insufficient_scope');
  });

  it('does not store errors, so that a retry is executed', async () => {
    const { email, id } = await createLead(tenant.api, buildLead());
    const refused = await post({ first_name: 'B', email }, 'k');
    expectError(refused, 409, 'duplicate');
    expect(errorOf(refused).details).toMatchObject([{ field: 'email', existing_id: id }]);
    await tenant.api.delete(`${LEADS}/${id}`);
    const retried = await post({ first_name: 'B', email }, 'k');
    expect([retried.status, isReplayed(retried)]).toEqual([201, false]);
  });

  it('has no effect on requests without it', async () => {
    expect((await tenant.api.post(LEADS, ada)).headers.has('idempotency-replayed')).toBe(false);
    const rows = await app.sql('select from idempotency_keys where organization_id = $1', [
      tenant.id,
    ]);
    expect(rows).toEqual([]);
  });

  it('creates one record for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(ada, 'k')));
    const created = answers.filter(({ status }) => status === 201);
    const inUse = answers.filter(({ status }) => status === 409);
    expect(created.length + inUse.length).toBe(12);
    expect(created.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    for (const answer of inUse) expectError(answer, 409, 'idempotency_key_in_use');
    expect(new Set(created.map((answer) => dataOf(answer, 201).id)).size).toBe(1);
    expect(await total()).toBe(1);
  });

  it('stores the records and responses of concurrent requests without transactions', async () => {
    await stopBackgroundWork(app);
    const transaction = jest.spyOn(app.app.get(TenantDatabase), 'transaction');
    const keys = Array.from({ length: 20 }, () => randomUUID());
    const first = await Promise.all(keys.map((key) => post({ first_name: key }, key)));
    expect(first.map((answer) => dataOf(answer, 201).first_name)).toEqual(keys);
    expect(transaction).not.toHaveBeenCalled();
    transaction.mockRestore();
    const again = await Promise.all(keys.map((key) => post({ first_name: key }, key)));
    expect(again.map(isReplayed)).toEqual(keys.map(() => true));
    const bodies = (answers: Answer[]): unknown[] => answers.map(({ body }) => body as unknown);
    expect(bodies(again)).toEqual(bodies(first));
    expect(await total()).toBe(20);
  });

  it('finds a stored response by its key, even without statistics of the table', async () => {
    await app.sql(
      `insert into idempotency_keys (organization_id, key, route, content_hash, status, body)
       select $1, n, 'POST /', '', 201, '{}' from generate_series(1, 500) n`,
      [tenant.id],
    );
    const found = storedResponseSql(`'k'`, `'POST ${LEADS}'`).replace('$1', `'${tenant.id}'`);
    const plan = await app.app.get(TenantDatabase).read<Record<string, string>>(
      { tenant },
      {
        text: `explain select from ${found}`,
        values: [],
        plan: 'index',
      },
    );
    const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(lines).toMatch(
      /Index .*Scan using idempotency_keys\w*_pkey[^]*Index Cond: .*ROW\(key, route\)/,
    );
  });

  it('answers no duplicate to concurrent requests with the same key and e-mail', async () => {
    for (const key of Array.from({ length: 10 }, () => randomUUID())) {
      const body = { first_name: 'Ada', email: `${key}@example.com` };
      const answers = await Promise.all(Array.from({ length: 6 }, () => post(body, key)));
      const codes = answers.map((answer) => (answer.status === 201 ? '201' : errorOf(answer).code));
      expect(new Set([...codes, '201', 'idempotency_key_in_use']).size).toBe(2);
    }
    expect(await total()).toBe(10);
  });

  it('stores no response where a reference is missing', async () => {
    const task = { title: 'Call', contact_id: randomUUID() };
    const refused = await tenant.api.post('/api/v1/tasks', task, withKey('k'));
    expectError(refused, 404, 'lead_not_found');
    const { id } = await createLead(tenant.api);
    const retried = await tenant.api.post(
      '/api/v1/tasks',
      { ...task, contact_id: id },
      withKey('k'),
    );
    expect(retried.status).toBe(201);
  });

  it('replays for 24 hours, after which the response is deleted', async () => {
    const { id } = dataOf(await post(ada, 'k'), 201);
    await app.sql(`update idempotency_keys set created_at = created_at - interval '23:59'`);
    expect(dataOf(await post(ada, 'k'), 201).id).toBe(id);
    await app.app.get(IdempotencyRepository).deleteExpired();
    expect(isReplayed(await post(ada, 'k'))).toBe(true);
    await app.sql(`update idempotency_keys set created_at = created_at - interval '00:01'`);
    expect(isReplayed(await post({ first_name: 'New' }, 'k'))).toBe(false);
    await app.sql(`update idempotency_keys set created_at = created_at - interval '24:00'`);
    await app.app.get(IdempotencyRepository).deleteExpired();
    expect(await app.sql('select from idempotency_keys')).toEqual([]);
  });
});

describe('Idempotency-Key on a route of a module', () => {
  const PAIRS = '/api/v1/pairs';
  const name = () => ({ first_name: `n${randomUUID()}` });

  it('is 409 while the first request is pending, and a replay afterwards', async () => {
    let open = (): void => undefined;
    gate = new Promise<void>((resolve) => (open = resolve));
    const body = name();
    const key = withKey();
    const first = tenant.api.post(PAIRS, body, key);
    while (calls === 0) await new Promise(setImmediate);
    const second = await tenant.api.post(PAIRS, body, key);
    expectError(second, 409, 'idempotency_key_in_use');
    expect(errorOf(second).retryable).toBe(true);
    // The writes of the first request are not committed yet.
    expect(await total()).toBe(0);
    open();
    expect((await first).status).toBe(201);
    expect(isReplayed(await tenant.api.post(PAIRS, body, key))).toBe(true);
    expect([calls, await total()]).toEqual([1, 2]);
  });

  it('rolls back all writes of a failed request', async () => {
    const body = name();
    const email = `${body.first_name}@example.com`;
    const { id } = await createLead(tenant.api, { email });
    expectError(await tenant.api.post(PAIRS, body, withKey('k')), 409, 'duplicate');
    expect(await total()).toBe(1);
    await tenant.api.delete(`${LEADS}/${id}`);
    const retried = await tenant.api.post(PAIRS, body, withKey('k'));
    expect(dataOf(retried, 201).first_name).toBe(body.first_name);
    expect(await total()).toBe(2);
  });

  it('rolls back only the failed write if the handler continues', async () => {
    const answer = await tenant.api.post(`${PAIRS}/forgiving`, name(), withKey());
    expect(answer.status).toBe(201);
    expect(await total()).toBe(2);
  });
});
