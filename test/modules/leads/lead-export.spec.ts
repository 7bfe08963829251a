import http from 'node:http';
import type { ApiClient } from '../../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  expectError,
  expectInvalid,
  type LeadRecord,
  LEADS,
} from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { SnapshotReader } from '../../../src/platform/data/gateway/snapshot-reader.js';
import { captureLog } from '../../support/captured-log.js';
import { importFile } from '../../support/lead-imports.js';
import { until } from '../../support/servers/product.js';

const EXPORT = `${LEADS}/export`;

const HEADER =
  'id,first_name,last_name,phone,email,company,address_street,city,state,zip,status,temperature,source,notes,tags,custom_fields,sms_opted_out,on_dnc_list,external_id,lead_score,created_at,updated_at';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => app.stop());

async function exported(api: ApiClient, query = ''): Promise<string> {
  const answer = await api.get(EXPORT + query);
  expect(answer.status).toBe(200);
  return answer.body as string;
}

const recordsOf = (ndjson: string) =>
  ndjson
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as LeadRecord);

describe('GET /api/v1/leads/export', () => {
  it('returns all fields of all leads as CSV, the oldest first', async () => {
    const first = await createLead(
      tenant.api,
      buildLead({ phone: '020 7946 0958', notes: 'a "b"\nc, d' }),
    );
    const second = await createLead(tenant.api, { first_name: 'Zoë' });
    const answer = await tenant.api.get(EXPORT);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="leads.csv"');
    expect(answer.body).toBe(
      [
        HEADER,
        `${first.id},Ada,Lovelace,020 7946 0958,${first.email},Analytical Engines,12 Square,London,LN,W1H 1,new,warm,website,"a ""b""\nc, d","[""poet"",""engine""]","{""budget"":12.5,""contact"":{""by"":[""mail""]}}",false,false,${first.external_id},${first.lead_score},${first.created_at},${first.updated_at}`,
        `${second.id},Zoë,,,,,,,,,,,api,,,,false,false,,${second.lead_score},${second.created_at},${second.updated_at}`,
        '',
      ].join('\r\n'),
    );
  });

  it('returns the records of GET as NDJSON', async () => {
    const leads = [await createLead(tenant.api, buildLead()), await createLead(tenant.api)];
    const answer = await tenant.api.get(`${EXPORT}?format=ndjson`);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    expect(recordsOf(answer.body as string)).toEqual(leads);
  });

  it.each([
    ['comma', ','],
    ['semicolon', ';'],
    ['tab', '\t'],
    ['pipe', '|'],
  ])('has the delimiter %s, and a byte order mark if it is asked for', async (name, delimiter) => {
    await createLead(tenant.api, { first_name: 'Zoë', notes: 'a,b;c\td|e' });
    const answer = await fetch(`${app.url}${EXPORT}?delimiter=${name}&bom=true`, {
      headers: { Authorization: `Bearer ${tenant.key.key}` },
    });
    const text = Buffer.from(await answer.arrayBuffer()).toString();
    const header = `\ufeff${HEADER.replaceAll(',', delimiter)}\r\n`;
    expect(text.slice(0, header.length)).toBe(header);
    expect(text).toContain(`${delimiter}Zoë${delimiter}`);
    expect(text).toContain(`${delimiter}"a,b;c\td|e"${delimiter}`);
    const other = await app.organization();
    const done = await importFile(other.api, text);
    expect(done).toMatchObject({ created: 1, rejected: 0 });
    const plain = await exported(tenant.api, `?delimiter=${name}`);
    expect(plain.startsWith('id')).toBe(true);
  });

  it('has options of CSV only for CSV', async () => {
    const send = (query: string) => tenant.api.get(EXPORT + query);
    expectInvalid(await send('?format=ndjson&delimiter=tab'), 'delimiter');
    expectInvalid(await send('?format=ndjson&bom=true'), 'bom');
    expectInvalid(await send('?delimiter=;'), 'delimiter');
    expect((await send('?format=ndjson&bom=false')).status).toBe(200);
  });

  it('has the filters of the list', async () => {
    await createLead(tenant.api, { first_name: 'Grace', status: 'new', temperature: 'hot' });
    await createLead(tenant.api, { first_name: 'Grace', status: 'old', temperature: 'hot' });
    await createLead(tenant.api, { first_name: 'Ada', status: 'new', temperature: 'hot' });
    const query = '?format=ndjson&status=new&temperature=hot&search=grace&created_after=2020-01-01';
    const found = recordsOf(await exported(tenant.api, query));
    expect(found.map(({ first_name, status }) => [first_name, status])).toEqual([['Grace', 'new']]);
    expect(await exported(tenant.api, '?status=none')).toBe(`${HEADER}\r\n`);
    expect(await exported(tenant.api, '?status=none&format=ndjson')).toBe('');
  });

  it.each([
    'page=1',
    'limit=5',
    'sort_by=created_at',
    'sort_dir=asc',
    'after=',
    'fields=first_name',
    'format=xml',
    'escape=all',
  ])('refuses %s', async (parameter) => {
    const answer = await tenant.api.get(`${EXPORT}?${parameter}`);
    expectInvalid(answer, parameter.split('=')[0]!);
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+49 30 1', "'+49 30 1"],
    ['-1', "'-1"],
    ['@a', "'@a"],
    ["'=1", "''=1"],
    ['"=1', `"'""=1"`],
    ['＝1', "'＝1"],
    ['＠a', "'＠a"],
    ['a=1', 'a=1'],
    ["'a", "'a"],
  ])('gives the cell %j a quote if a spreadsheet could calculate it', async (company, cell) => {
    await createLead(tenant.api, { company });
    const lines = (await exported(tenant.api)).split('\r\n');
    expect(lines[1]!.split(',Ada,,,,')[1]!.startsWith(`${cell},`)).toBe(true);
    const plain = (await exported(tenant.api, '?escape=none')).split('\r\n');
    const quoted = company.includes('"') ? `"${company.replaceAll('"', '""')}"` : company;
    expect(plain[1]!.split(',Ada,,,,')[1]!.startsWith(`${quoted},`)).toBe(true);
  });

  it('reads one snapshot, also if leads are created and deleted meanwhile', async () => {
    await app.sql(
      `insert into leads (organization_id, id, first_name, source, tags, custom_fields, sms_opted_out, on_dnc_list, lead_score, search_text)
       select $1, gen_random_uuid(), 'Ada ' || n, 'api', '{}', '{}', false, false, 0, 'ada' from generate_series(1, 3000) n`,
      [tenant.id],
    );
    let changed = false;
    const reader = app.app.get(SnapshotReader);
    const read = reader.read.bind(reader);
    jest.spyOn(reader, 'read').mockImplementation(async function* (...args) {
      for await (const page of read(...args)) {
        yield page;
        if (changed) continue;
        changed = true;
        await createLead(tenant.api, { first_name: 'Late' });
        await app.sql(`update leads set deleted_at = now() where organization_id = $1`, [
          tenant.id,
        ]);
      }
    });
    const leads = recordsOf(await exported(tenant.api, '?format=ndjson'));
    expect(leads).toHaveLength(3_000);
    expect(new Set(leads.map(({ id }) => id)).size).toBe(3_000);
    expect(recordsOf(await exported(tenant.api, '?format=ndjson'))).toEqual([]);
  });

  it('breaks the connection if the leads cannot all be read', async () => {
    await createLead(tenant.api);
    const reader = app.app.get(SnapshotReader);
    const read = reader.read.bind(reader);
    jest.spyOn(reader, 'read').mockImplementation(async function* (...args) {
      for await (const page of read(...args)) yield page;
      throw new Error('the connection was lost');
    });
    const response = await open();
    response.resume();
    const error = await new Promise<Error>((resolve) => response.once('error', resolve));
    expect(error.message).toBe('aborted');
  });

  it('answers an error if the first leads cannot be read', async () => {
    jest.spyOn(app.app.get(SnapshotReader), 'read').mockImplementation(() => {
      throw new Error('x');
    });
    expectError(await tenant.api.get(EXPORT), 500, 'internal_error');
  });

  it('runs twice at the same time in an instance, and is refused the third time', async () => {
    await createLead(tenant.api);
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const reader = app.app.get(SnapshotReader);
    const read = reader.read.bind(reader);
    // Each export stays in its snapshot after the first page.
    jest.spyOn(reader, 'read').mockImplementation(async function* (...args) {
      for await (const page of read(...args)) {
        yield page;
        await ended;
      }
    });
    const slow = [await open(), await open()];
    const refused = await tenant.api.get(EXPORT);
    expectError(refused, 503, 'overloaded');
    expect(refused.headers.get('retry-after')).toBe('10');
    for (const response of slow) response.destroy();
    end();
    await until(async () => (await tenant.api.get(`${EXPORT}?status=none`)).status === 200);
  });

  it('needs leads:read', async () => {
    const { api } = await app.key(tenant.id, ['leads:write']);
    expectError(await api.get(EXPORT), 403, 'insufficient_scope');
  });
});

/** Begins an export and does not read it. */
function open(): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${tenant.key.key}` };
    http.get(`${app.url}${EXPORT}`, { headers, agent: false }, resolve).once('error', reject);
  });
}

describe('HEAD of an export', () => {
  const log = captureLog('error');

  it('ends the export without an error in the log', async () => {
    await createLead(tenant.api);
    expect((await tenant.api.request('HEAD', EXPORT)).status).toBe(200);
    expect(recordsOf(await exported(tenant.api, '?format=ndjson'))).toHaveLength(1);
    expect(log).toEqual([]);
  });
});
