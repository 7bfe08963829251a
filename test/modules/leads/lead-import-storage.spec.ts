import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { LeadImportRunner } from '../../../src/modules/leads/transfer/lead-import-runner.js';
import { LeadImportsRepository } from '../../../src/modules/leads/transfer/lead-imports.repository.js';
import { createLead, dataOf, expectError, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import {
  importFile,
  type ImportRecord,
  IMPORTS,
  sendFile,
  untilEnded,
} from '../../support/lead-imports.js';
import { until } from '../../support/servers/product.js';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: [...app.scopes.ordinary, 'leads:erase'] });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => app.stop());

const CSV = 'first_name,email\nAda,a@example.com';

async function countOf(table: string, condition = 'true'): Promise<number> {
  const [row] = await app.sql<{ count: number }>(
    `select count(*)::int as count from ${table} where organization_id = $1 and ${condition}`,
    [tenant.id],
  );
  return row!.count;
}

/** Stores imports without files. @returns their ids */
async function storeImports(count: number, status: string, createdAt = 'now()'): Promise<string[]> {
  const rows = await app.sql<{ id: string }>(
    `insert into lead_imports (organization_id, id, status, format, mode, match_on, dry_run,
       ignored_columns, bytes, plan, starter, position, line, created_at)
     select $1, gen_random_uuid(), $2, 'csv', 'create_only', '{}', false, '{}', 0, '{}', '{}', 0, 1, ${createdAt}
     from generate_series(1, $3) returning id`,
    [tenant.id, status, count],
  );
  return rows.map(({ id }) => id);
}

const endImports = () =>
  app.sql(`update lead_imports set status = 'cancelled' where organization_id = $1`, [tenant.id]);

const erase = async (id: string, headers = {}) =>
  tenant.api.post(`${LEADS}/${id}/erase`, undefined, { headers });

describe('many lines', () => {
  const MAX = 5_000;
  const LINES = 2 * MAX + 1;

  /** Refuses statements that change or remove more than `MAX` rejected lines. */
  beforeAll(async () => {
    await app.sql(`create function refuse_many() returns trigger language plpgsql as $$ begin
        if (select count(*) from old_rows) > ${MAX} then raise 'too many rows in one statement'; end if;
        return null;
      end $$`);
    for (const table of ['lead_import_rejections', 'lead_import_results']) {
      for (const event of ['update', 'delete']) {
        await app.sql(`create trigger refuse_many_${event} after ${event} on ${table}
          referencing old table as old_rows for each statement execute function refuse_many()`);
      }
    }
  });
  afterAll(() => app.sql('drop function refuse_many cascade'));

  async function storeLines(createdAt?: string): Promise<void> {
    const [id] = await storeImports(1, 'completed', createdAt);
    await app.sql(
      `insert into lead_import_rejections select $1, $2, n, 'is wrong', '["Ada"]' from generate_series(1, ${LINES}) n`,
      [tenant.id, id],
    );
    await app.sql(
      `insert into lead_import_results select $1, $2, ${LINES} + n, 'created', gen_random_uuid() from generate_series(1, ${LINES}) n`,
      [tenant.id, id],
    );
  }

  it('are removed with their import in batches', async () => {
    await storeLines(`now() - interval '8 days'`);
    await storeLines();
    await app.app.get(LeadImportRunner).cleanUp(await app.call(tenant));
    expect(await countOf('lead_imports')).toBe(1);
    expect(await countOf('lead_import_rejections')).toBe(LINES);
    expect(await countOf('lead_import_results')).toBe(LINES);
  });

  it.each([
    ['', {}],
    [' with an Idempotency-Key', { 'Idempotency-Key': randomUUID() }],
  ])('are emptied in batches by an erasure%s', async (_, headers) => {
    const { id } = await createLead(tenant.api);
    await storeLines();
    dataOf(await erase(id, headers));
    expect(await countOf('lead_import_rejections')).toBe(LINES);
    expect(await countOf('lead_import_rejections', `cells::text <> '[]'`)).toBe(0);
  });

  it('stay as they are if there is no such lead', async () => {
    await storeLines();
    expectError(await erase(randomUUID()), 404, 'not_found');
    expect(await countOf('lead_import_rejections', `cells::text <> '[]'`)).toBe(LINES);
  });
});

it('large records are carried out in small portions, which fit into memory', async () => {
  const advance = jest.spyOn(app.app.get(LeadImportsRepository), 'advance');
  const lines = Array.from({ length: 10 }, (_, n) =>
    JSON.stringify({ first_name: 'x'.repeat(600_000), email: `${n}@example.com` }),
  );
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const done = await importFile(tenant.api, lines.join('\n'), {}, headers);
  expect(done).toMatchObject({ status: 'completed', rejected: 10 });
  expect(advance.mock.calls.map((args) => args[4].length)).toEqual([3, 3, 3, 1]);
});

it('two runs of its job at the same time carry each line out once', async () => {
  const begin = jest.spyOn(app.app.get(LeadImportsRepository), 'begin');
  // The job that the request sends leaves the import to the runs of the test.
  begin.mockResolvedValueOnce(undefined);
  const csv = `first_name\n${Array.from({ length: 500 }, (_, n) => `Ada ${n}`).join('\n')}`;
  const { id } = dataOf<ImportRecord>(
    await sendFile(tenant.api, csv, { mode: 'create_only' }),
    202,
  );
  await until(() => Promise.resolve(begin.mock.calls.length === 1));
  const call = await app.call(tenant);
  const runner = app.app.get(LeadImportRunner);
  const run = () => runner.import(call, { importId: id }, { id, attempt: 1 });
  await Promise.all([run(), run()]);
  const ended = await untilEnded(tenant.api, id);
  expect(ended).toMatchObject({ status: 'completed', processed: 500, created: 500 });
  expect(await countOf('leads')).toBe(500);
  expect(await countOf('lead_import_results')).toBe(500);
});

describe('an erasure during an upload', () => {
  it('removes what is stored of the file, whose import does not start', async () => {
    const { id } = await createLead(tenant.api);
    const request = http.request({
      port: app.port,
      method: 'POST',
      path: IMPORTS,
      headers: { Authorization: `Bearer ${tenant.key.key}`, 'Content-Type': 'text/csv' },
    });
    const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
      request.once('error', reject);
      request.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.once('end', () => {
          resolve({ status: response.statusCode!, text });
        });
      });
    });
    request.write(
      `first_name,email,notes\n${`A,a@example.com,${'x'.repeat(1_000)}\n`.repeat(600)}`,
    );
    await until(async () => (await countOf('lead_import_chunks')) > 1);
    dataOf(await erase(id));
    expect(await countOf('lead_import_chunks')).toBe(0);
    request.end('B,b@example.com,late\n');
    const { status, text } = await answered;
    expect({ status, body: JSON.parse(text) as object }).toMatchObject({
      status: 400,
      body: { error: { code: 'validation_error', retryable: false } },
    });
    expect(await countOf('lead_imports')).toBe(0);
    expect(await countOf('lead_import_chunks')).toBe(0);
  });
});

describe('the limit of ten imports', () => {
  it('holds for requests at the same time', async () => {
    await storeImports(9, 'pending');
    const repository = app.app.get(LeadImportsRepository);
    const countActive = repository.countActive.bind(repository);
    let received = 0;
    // No import ends before all requests are answered.
    const begin = jest.spyOn(repository, 'begin').mockResolvedValue(undefined);
    // All requests are received before one of them starts its import.
    jest.spyOn(repository, 'countActive').mockImplementation(async (call) => {
      const count = await countActive(call);
      if (call.transaction) return count;
      received++;
      await until(() => Promise.resolve(received === 4));
      return count;
    });
    const answers = await Promise.all([1, 2, 3, 4].map(() => sendFile(tenant.api, CSV)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 429, 429, 429]);
    begin.mockRestore();
    await endImports();
  });

  it('does not keep a request from the response to its Idempotency-Key', async () => {
    await storeImports(9, 'pending');
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await sendFile(tenant.api, CSV, {}, headers);
    await untilEnded(tenant.api, dataOf<ImportRecord>(first, 202).id);
    await storeImports(1, 'pending');
    expect(await sendFile(tenant.api, CSV, {}, headers)).toMatchObject({
      status: 202,
      body: first.body as object,
    });
    const other = { 'Idempotency-Key': randomUUID() };
    expectError(await sendFile(tenant.api, CSV, {}, other), 429, 'rate_limit_exceeded');
    await endImports();
  });
});
