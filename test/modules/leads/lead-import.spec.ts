import { randomUUID } from 'node:crypto';
import http from 'node:http';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  getLead,
  type LeadRecord,
  LEADS,
} from '../../../src/testing/factories.js';
import { LeadImportsRepository } from '../../../src/modules/leads/transfer/lead-imports.repository.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import {
  type ImportRecord,
  importFile,
  IMPORTS,
  rejectedOf,
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
  tenant = await app.organization();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => app.stop());

/** The leads of the organization, by their e-mail. */
async function leadsByEmail(): Promise<Record<string, LeadRecord>> {
  const leads = await exported();
  const entries = leads.map((lead): [string, LeadRecord] => [lead.email ?? '', lead]);
  return Object.fromEntries<LeadRecord>(entries);
}

async function exported({ api }: Tenant = tenant): Promise<LeadRecord[]> {
  const { body } = await api.get(`${LEADS}/export?format=ndjson`);
  const lines = (body as string).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as LeadRecord);
}

async function storedChunks(): Promise<number> {
  const [row] = await app.sql<{ count: number }>(
    'select count(*)::int as count from lead_import_chunks where organization_id = $1',
    [tenant.id],
  );
  return row!.count;
}

describe('an import of CSV', () => {
  it('creates leads, and rejects invalid lines with their reasons', async () => {
    const known = await createLead(tenant.api, { external_id: 'k-1', email: 'k@example.com' });
    const done = await importFile(
      tenant.api,
      [
        'first_name,email,external_id,temperature',
        'Ada,ada@example.com,a-1,Hot',
        'Grace,nonsense,g-1,cold',
        '',
        'Bob,k@example.com,b-1,',
        'Zoë,zoe@example.com,,warm,more',
        'Eve,,,',
        ',,,',
        'Max,max@example.com,,tepid',
        'Ken,ken@example.com,"k\n2",',
        ',late@example.com,,',
      ].join('\n'),
      { match_on: 'external_id,email' },
    );
    expect(done).toMatchObject({
      status: 'completed',
      match_on: ['external_id', 'email'],
      lines: 8,
      processed: 8,
      created: 3,
      updated: 1,
      unchanged: 0,
      rejected: 4,
      error: null,
    });
    expect(await rejectedOf(tenant.api, done.id)).toBe(
      [
        'rejected_line,rejection_reason,first_name,email,external_id,temperature',
        '3,email must be a valid e-mail address,Grace,nonsense,g-1,cold',
        '6,"has 5 cells, and the header has 4",Zoë,zoe@example.com,,warm,more',
        '9,"temperature must be one of cold, warm, hot",Max,max@example.com,,tepid',
        '12,first_name is required,,late@example.com,,',
        '',
      ].join('\r\n'),
    );
    expect(await leadsByEmail()).toMatchObject({
      'ada@example.com': { first_name: 'Ada', temperature: 'hot', source: 'import' },
      'ken@example.com': { external_id: 'k\n2' },
      'k@example.com': { id: known.id, first_name: 'Bob', external_id: 'b-1' },
    });
    expect(await storedChunks()).toBe(0);
  });

  it.each([
    ['First Name;E-Mail;Phone Number;Company Name', ';'],
    ['Given Name\tEmail Address\tMobile\tOrganization', '\t'],
    ['Vorname?|E-mail|Tel.|Account Name', '|'],
  ])('knows the columns %j', async (header, delimiter) => {
    const cells = ['Ada', 'ada@example.com', '+1 415 555 0132', 'Acme, "Inc"'];
    const csv = `${header}\r\n${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter)}`;
    const map: Record<string, string> = header.startsWith('Vorname')
      ? { map: '{"Vorname?":"first_name"}' }
      : {};
    expect(await importFile(tenant.api, csv, map)).toMatchObject({ created: 1, rejected: 0 });
    expect(await exported()).toMatchObject([
      {
        first_name: 'Ada',
        email: 'ada@example.com',
        phone: '+1 415 555 0132',
        company: 'Acme, "Inc"',
      },
    ]);
  });

  it('refuses unknown columns by name, and columns of the same field, before anything is written', async () => {
    const unknown = await sendFile(
      tenant.api,
      'first_name,email,Owner,Score\nAda,a@example.com,B,1',
    );
    expectInvalid(unknown, 'columns.Owner', 'columns.Score');
    const twice = await sendFile(
      tenant.api,
      'first_name,email,Phone,Mobile\nAda,a@example.com,1,2',
    );
    expectInvalid(twice, 'columns.Mobile');
    const repeated = await sendFile(tenant.api, 'first_name,email,email\nAda,a@example.com,b');
    expectInvalid(repeated, 'columns.email');
    const map = { map: '{"Owner":"owner","Team":"company"}' };
    expectInvalid(
      await sendFile(tenant.api, 'first_name,email,Owner\nAda,a@example.com,B', map),
      'columns.Owner',
      'columns.Team',
    );
    expect(await exported()).toEqual([]);
    expect(await storedChunks()).toBe(0);
    expect(dataOf<ImportRecord[]>(await tenant.api.get(IMPORTS))).toEqual([]);
  });

  it('stores unknown columns in custom_fields if it is asked to, and keeps other custom fields', async () => {
    await createLead(tenant.api, {
      email: 'ada@example.com',
      custom_fields: { Owner: 'Al', budget: 5 },
    });
    const csv =
      'first_name,email,Owner,Since,Team\nAda,ada@example.com,Bo,2026-01-31,\nGrace,grace@example.com,,,Q';
    const options = { unknown_columns: 'custom_fields', map: '{"Team":"custom_fields.team"}' };
    expect(await importFile(tenant.api, csv, options)).toMatchObject({ created: 1, updated: 1 });
    expect(await leadsByEmail()).toMatchObject({
      'ada@example.com': { custom_fields: { Owner: 'Bo', budget: 5, Since: '2026-01-31' } },
      'grace@example.com': { custom_fields: { team: 'Q' } },
    });
  });

  it.each([
    ['before', 'custom_fields,custom_fields.x', ['"{""y"":2}",1', 'nonsense,1', ',1']],
    ['after', 'custom_fields.x,custom_fields', ['1,"{""y"":2}"', '1,nonsense', '1,']],
  ])('adds columns of custom fields to those of custom_fields %s them', async (_, names, rows) => {
    await createLead(tenant.api, { email: '2@example.com', custom_fields: { z: 3 } });
    const lines = rows.map((row, n) => `A,${n}@example.com,${row}`);
    const file = `first_name,email,${names}\n${lines.join('\n')}`;
    const done = await importFile(tenant.api, file);
    expect(done).toMatchObject({ created: 1, updated: 1, rejected: 1 });
    expect(await rejectedOf(tenant.api, done.id)).toContain('3,custom_fields must be an object');
    expect(await leadsByEmail()).toMatchObject({
      '0@example.com': { custom_fields: { x: '1', y: 2 } },
      '2@example.com': { custom_fields: { x: '1', z: 3 } },
    });
  });

  it('lets map decide about the columns of an export and of rejected lines', async () => {
    const file = [
      'rejected_line,rejection_reason,id,first_name,email,lead_score,created_at,updated_at',
      '2,wrong,old-1,Ada,a@example.com,5,x,y',
    ].join('\n');
    const map = JSON.stringify({
      id: 'external_id',
      lead_score: 'custom_fields.score',
      rejection_reason: 'notes',
    });
    const done = await importFile(tenant.api, file, { map });
    expect(done).toMatchObject({
      created: 1,
      ignored_columns: ['rejected_line', 'created_at', 'updated_at'],
    });
    expect(await exported()).toMatchObject([
      { external_id: 'old-1', custom_fields: { score: '5' }, notes: 'wrong' },
    ]);
  });

  it('can be corrected after an import with escaped=latitude', async () => {
    const lead = await createLead(tenant.api, { email: 'a@example.com', external_id: '@x' });
    const file = "first_name,email,external_id,notes,'=margin\nAda,nonsense,'@x,'-foo,'+1";
    const query = { escaped: 'latitude', unknown_columns: 'custom_fields' };
    const done = await importFile(tenant.api, file, query);
    expect(done).toMatchObject({ rejected: 1 });
    const plain = await rejectedOf(tenant.api, done.id, '?escape=none');
    expect(plain).toContain(',external_id,notes,=margin\r\n');
    expect(plain).toContain(',@x,-foo,+1\r\n');
    const rejected = await rejectedOf(tenant.api, done.id);
    expect(rejected).toContain(",'@x,'-foo,'+1\r\n");
    const corrected = rejected.replace('nonsense', 'a@example.com');
    expect(await importFile(tenant.api, corrected, query)).toMatchObject({ updated: 1 });
    expect(await getLead(tenant.api, lead.id)).toMatchObject({
      external_id: '@x',
      notes: '-foo',
      custom_fields: { '=margin': '+1' },
    });
  });

  it('leaves columns out that map to null', async () => {
    const done = await importFile(tenant.api, 'first_name,email,Score\nAda,a@example.com,5', {
      map: '{"Score":null}',
    });
    expect(done).toMatchObject({ created: 1, ignored_columns: ['Score'] });
  });

  it('leaves fields alone whose cell is empty, and clears them with clear_empty', async () => {
    const lead = await createLead(tenant.api, buildLead({ on_dnc_list: true }));
    const header = 'email,first_name,last_name,tags,source,on_dnc_list,custom_fields';
    const csv = `${header}\n${lead.email},,,,,,`;
    expect(await importFile(tenant.api, csv)).toMatchObject({ unchanged: 1 });
    expect(await getLead(tenant.api, lead.id)).toEqual(lead);
    expect(await importFile(tenant.api, csv, { clear_empty: 'true' })).toMatchObject({
      updated: 1,
    });
    expect(await getLead(tenant.api, lead.id)).toMatchObject({
      first_name: 'Ada',
      last_name: null,
      tags: [],
      custom_fields: {},
      source: 'website',
      on_dnc_list: true,
    });
  });

  it('never turns sms_opted_out or on_dnc_list off', async () => {
    const opted = await createLead(tenant.api, {
      email: 'o@example.com',
      sms_opted_out: true,
      on_dnc_list: true,
    });
    const csv =
      'first_name,email,sms_opted_out,on_dnc_list\nAl,o@example.com,false,no\nBo,n@example.com,yes,0';
    expect(await importFile(tenant.api, csv)).toMatchObject({ created: 1, updated: 1 });
    expect(await getLead(tenant.api, opted.id)).toMatchObject({
      first_name: 'Al',
      sms_opted_out: true,
      on_dnc_list: true,
    });
    expect(await leadsByEmail()).toMatchObject({
      'n@example.com': { sms_opted_out: true, on_dnc_list: false },
    });
  });

  it('rejects a line with a character that cannot be stored', async () => {
    const file = 'first_name,email\nA\0da,a@example.com\nBob,b@example.com\n';
    const done = await importFile(tenant.api, file, { match_on: 'email' });
    expect(done).toMatchObject({ status: 'completed', created: 1, rejected: 1 });
    expect(await rejectedOf(tenant.api, done.id)).toContain('2,first_name must not contain');
  });

  it('rejects a line whose custom fields cannot be stored, by the field', async () => {
    const file = [
      'first_name,email,custom_fields.note',
      'Ada,a@example.com,"x\0y"',
      'Bob,b@example.com,fine',
    ].join('\n');
    const done = await importFile(tenant.api, file);
    expect(done).toMatchObject({ status: 'completed', created: 1, rejected: 1 });
    expect(await rejectedOf(tenant.api, done.id)).toContain('2,custom_fields must not contain');
  });

  it('reads JSON in cells as strictly as a request', async () => {
    const deep = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    const cells = ['{"n":9007199254740993}', '{"d":1,"d":2}', '{"a":"\\ud800"}', deep, '{"n":1}'];
    const rows = cells.map((cell, n) => `A,${n}@example.com,"${cell.replaceAll('"', '""')}",`);
    const tags = 'A,t@example.com,,"[""\\u0000""]"';
    const file = ['first_name,email,custom_fields,tags', ...rows, tags].join('\n');
    const done = await importFile(tenant.api, file);
    expect(done).toMatchObject({ status: 'completed', created: 1, rejected: 5 });
    const reasons = (await rejectedOf(tenant.api, done.id)).split('\r\n').slice(1);
    expect(reasons).toEqual([
      expect.stringContaining('2,custom_fields must not contain a number beyond'),
      expect.stringContaining('3,custom_fields must not have the same key twice in one object'),
      expect.stringContaining('4,custom_fields must not contain \\u0000 or unpaired surrogates'),
      expect.stringContaining('5,custom_fields must not be nested deeper'),
      expect.stringContaining('7,tags must not contain \\u0000 or unpaired surrogates'),
      '',
    ]);
    expect(await exported()).toMatchObject([{ email: '4@example.com', custom_fields: { n: 1 } }]);
  });

  it.each(['update_only', 'create_only'])('has the mode %s of an upsert', async (mode) => {
    const lead = await createLead(tenant.api, { email: 'a@example.com', city: 'Oslo' });
    const csv = 'first_name,email,city\nAda,a@example.com,Rome\nBob,b@example.com,Bonn';
    const done = await importFile(tenant.api, csv, { mode });
    const [rejected] = (await rejectedOf(tenant.api, done.id)).split('\r\n').slice(1);
    if (mode === 'update_only') {
      expect(done).toMatchObject({ created: 0, updated: 1, rejected: 1 });
      expect(rejected).toBe('3,No lead has these values.,Bob,b@example.com,Bonn');
    } else {
      expect(done).toMatchObject({ created: 1, updated: 0, rejected: 1 });
      expect(rejected).toBe(`2,email belongs to another lead (${lead.id}),Ada,a@example.com,Rome`);
    }
  });

  it('carries out lines one after another, so that a later one finds the lead of an earlier one', async () => {
    const csv = [
      'first_name,email,external_id,city',
      'A,one@example.com,,Oslo',
      'B,one@example.com,x-1,Rome',
      'C,two@example.com,x-1,',
      'D,one@example.com,,Bonn',
    ].join('\n');
    expect(await importFile(tenant.api, csv)).toMatchObject({
      created: 2,
      updated: 2,
      rejected: 0,
    });
    const [first, second, ...others] = await exported();
    expect(others).toEqual([]);
    expect(first).toMatchObject({ first_name: 'C', email: 'two@example.com', external_id: 'x-1' });
    expect(second).toMatchObject({ first_name: 'D', email: 'one@example.com', city: 'Bonn' });
  });

  it('writes nothing in a dry run, and tells what would happen', async () => {
    await createLead(tenant.api, { email: 'a@example.com' });
    const csv = 'first_name,email\nAda,a@example.com\nBob,b@example.com\nCy,nonsense';
    const done = await importFile(tenant.api, csv, { dry_run: 'true', mode: 'create_only' });
    expect(done).toMatchObject({ dry_run: true, created: 1, rejected: 2 });
    expect(await exported()).toHaveLength(1);
    expect(await rejectedOf(tenant.api, done.id)).toContain('email belongs to another lead');
  });

  it('writes the events of an upsert, with the key and the request', async () => {
    const answer = await sendFile(tenant.api, 'first_name,email\nAda,a@example.com');
    await untilEnded(tenant.api, dataOf<ImportRecord>(answer, 202).id);
    const [lead] = await exported();
    await until(async () => {
      const events = await tenant.api.get(`${LEADS}/${lead!.id}/events`);
      return dataOf<unknown[]>(events).length === 1;
    });
    const [event] = dataOf<{ type: string; actor: object }[]>(
      await tenant.api.get(`${LEADS}/${lead!.id}/events`),
    );
    expect(event).toMatchObject({
      type: 'lead.created',
      actor: {
        key_id: tenant.key.id,
        channel: 'import',
        request_id: answer.headers.get('x-request-id'),
      },
    });
  });

  it('does not count against the limits, except for its request', async () => {
    const before = Number((await tenant.api.post(LEADS, {})).headers.get('ratelimit-remaining'));
    await importFile(
      tenant.api,
      `first_name,email\n${Array.from({ length: 300 }, (_, n) => `A,${n}@example.com`).join('\n')}`,
    );
    const after = Number((await tenant.api.post(LEADS, {})).headers.get('ratelimit-remaining'));
    expect(before - after).toBe(2);
  });
});

describe('the text of a file', () => {
  const csv = 'first_name,email,company\nZoë,zoe@example.com,Société\n';
  const utf16 = Buffer.from(`\ufeff${csv}`, 'utf16le');

  it.each<[string, Buffer, Record<string, string>]>([
    ['UTF-8', Buffer.from(csv), {}],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${csv}`), {}],
    ['UTF-16 with a byte order mark', utf16, {}],
    ['big-endian UTF-16', Buffer.from(utf16).swap16(), {}],
    ['UTF-16', Buffer.from(csv, 'utf16le'), { encoding: 'utf-16' }],
    ['Windows-1252', Buffer.from(csv, 'latin1'), { encoding: 'windows-1252' }],
    [
      'Windows-1252 with a byte order mark of UTF-8',
      Buffer.from(`ï»¿${csv}`, 'latin1'),
      { encoding: 'windows-1252' },
    ],
    ['CRLF', Buffer.from(csv.replaceAll('\n', '\r\n')), {}],
    ['CR', Buffer.from(csv.replaceAll('\n', '\r')), {}],
  ])('can be %s', async (_, file, query) => {
    expect(await importFile(tenant.api, file, query)).toMatchObject({ created: 1, rejected: 0 });
    expect(await exported()).toMatchObject([{ first_name: 'Zoë', company: 'Société' }]);
  });

  it.each<[string, Buffer, string]>([
    ['bytes that are not UTF-8', Buffer.from(csv, 'latin1'), 'line 2'],
    ['half of a character', Buffer.from(csv).subarray(0, csv.indexOf('ë') + 1), 'line 2'],
    ['half of a pair of UTF-16', Buffer.from(`\ufeffa\n\n\ud83d b`, 'utf16le'), 'line 3'],
    ['an open quote', Buffer.from(`${csv}"Ada,\nb,c\n`), 'line 4'],
    ['a quote in a cell', Buffer.from(`${csv}A"da,b,c\n`), 'line 3'],
    [
      'a quote in a cell of a long file',
      Buffer.from(`${csv}A"da,b,c\n${csv.repeat(20_000)}`),
      'line 3',
    ],
    ['a line of commas', Buffer.from(csv + ','.repeat(20_000)), 'line 3'],
    ['a quote before the end of a cell', Buffer.from(`${csv}x,"A"da,c\n`), 'line 3'],
  ])('is refused with %s, by the line', async (_, file, line) => {
    const answer = await sendFile(tenant.api, file);
    expectInvalid(answer, 'body');
    expect(errorOf(answer).message).toContain(line);
    expect(await storedChunks()).toBe(0);
  });

  it('is refused without a header', async () => {
    expectInvalid(await sendFile(tenant.api, ''), 'body');
    expectInvalid(await sendFile(tenant.api, '\n\n'), 'body');
  });

  it('may have a header only', async () => {
    expect(await importFile(tenant.api, 'first_name,email')).toMatchObject({
      status: 'completed',
      lines: 0,
    });
  });
});

describe('an import of NDJSON', () => {
  it('takes objects with the fields of an upsert', async () => {
    const lead = await createLead(tenant.api, buildLead());
    const lines = [
      { email: lead.email, last_name: null, tags: ['a'], custom_fields: { x: [1] } },
      { first_name: 'Bo', email: 'bo@example.com' },
      { first_name: 5, email: 'x@example.com' },
    ];
    const file = lines.map((line) => JSON.stringify(line)).join('\n\n');
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const done = await importFile(tenant.api, file, {}, headers);
    expect(done).toMatchObject({ lines: 3, created: 1, updated: 1, rejected: 1 });
    expect(await getLead(tenant.api, lead.id)).toMatchObject({
      first_name: 'Ada',
      last_name: null,
      tags: ['a'],
      custom_fields: { x: [1] },
    });
    expect(await rejectedOf(tenant.api, done.id)).toBe(
      '{"rejected_line":5,"rejection_reason":"first_name must be a string","first_name":5,"email":"x@example.com"}\n',
    );
  });

  it('rejects lines that a request would refuse, and keeps their text', async () => {
    const deep = `{"first_name":"A","email":"d@example.com","custom_fields":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`;
    const lines = [
      '{"first_name":"A","email":"a@example.com","custom_fields":{"n":9007199254740993}}',
      '{"first_name":"A","email":"b@example.com","email":"c@example.com"}',
      '{"first_name":"A","email":"c@example.com","custom_fields":{"\\u0000":1}}',
      deep,
      '{"first_name":"A","email":"e@example.com","custom_fields":{"a":"\\ud800"}}',
      '{"first_name":"A","email":"f@example.com","":1}',
      '{"first_name":"B","email":"b@example.com", "":null}',
    ];
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const done = await importFile(tenant.api, lines.join('\n'), {}, headers);
    expect(done).toMatchObject({ status: 'completed', created: 1, rejected: 6 });
    const rejected = (await rejectedOf(tenant.api, done.id)).split('\n');
    const surrogates = String.raw`custom_fields must not contain \\u0000 or unpaired surrogates`;
    expect(rejected).toEqual([
      ...[
        'custom_fields must not contain a number beyond ±9007199254740992',
        'email must be given only once',
        surrogates,
        'custom_fields must not be nested deeper than 32 levels',
        surrogates,
        'has a value without a name',
      ].map((reason, n) => {
        const head = `{"rejected_line":${n + 1},"rejection_reason":"${reason}",`;
        return head + lines[n]!.slice(1);
      }),
      '',
    ]);
  });

  it('takes no notice of problems in a name without a field, and unites custom fields', async () => {
    const line = `{"crm":9007199254740993,"first_name":"Bo","email":"bo@example.com","custom_fields":null,"budget":5}`;
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const map = JSON.stringify({ crm: null, budget: 'custom_fields.budget' });
    const done = await importFile(tenant.api, line, { map }, headers);
    expect(done).toMatchObject({ status: 'completed', created: 1, rejected: 0 });
    const { body } = await tenant.api.get(`${LEADS}?search=bo@example.com&fields=custom_fields`);
    expect(body).toMatchObject({ data: [{ custom_fields: { budget: 5 } }] });
  });

  it('refuses unknown names, lines that are no object, and options of CSV', async () => {
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const send = (file: string, query = {}) => sendFile(tenant.api, file, query, headers);
    expectInvalid(await send('{"email":"a@example.com"}\n{"owner":1}'), 'columns.owner');
    const answer = await send('{"email":"a@example.com"}\n[1]');
    expectInvalid(answer, 'body');
    expect(errorOf(answer).message).toContain('line 2');
    expectInvalid(await send('{"email":"a@example.com"}', { clear_empty: 'true' }), 'clear_empty');
    expectInvalid(await send('{"email":"a@example.com"}', { delimiter: 'tab' }), 'delimiter');
  });
});

describe('an export and its import into another organization', () => {
  it.each(['csv', 'ndjson'])('give equal leads as %s', async (format) => {
    const values = [
      '=1+1',
      '+1 415 555',
      '-x',
      '@a',
      "'=quoted",
      '"=',
      '＝wide',
      ' a\nb,"c"; ',
      "'",
    ];
    for (const [index, text] of values.entries()) {
      await createLead(
        tenant.api,
        buildLead({
          first_name: text,
          notes: text,
          company: text,
          tags: [text.trim(), 'a,b', 'c;d'],
          custom_fields: { [text]: [text, { deep: null }], n: index },
          sms_opted_out: index % 2 === 0,
        }),
      );
    }
    await createLead(tenant.api, { first_name: 'Bare', external_id: 'bare' });
    const file = await tenant.api.get(`${LEADS}/export?format=${format}`);
    const other = await app.organization();
    const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    const query = format === 'csv' ? { escaped: 'latitude' } : undefined;
    const done = await importFile(other.api, file.body as string, query, { 'Content-Type': type });
    expect(done).toMatchObject({
      created: values.length + 1,
      rejected: 0,
      ignored_columns: ['id', 'lead_score', 'created_at', 'updated_at'],
    });
    const writable = ({ id, created_at, updated_at, ...lead }: LeadRecord) => lead;
    const sorted = (leads: LeadRecord[]) =>
      leads.map(writable).sort((a, b) => (a.external_id! < b.external_id! ? -1 : 1));
    expect(sorted(await exported(other))).toEqual(sorted(await exported()));
  });
});

describe('the request of an import', () => {
  const csv = 'first_name,email\nAda,a@example.com';

  it('is carried out once for an Idempotency-Key and the same bytes', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await sendFile(tenant.api, csv, {}, headers);
    const second = await sendFile(tenant.api, csv, {}, headers);
    expect(second).toMatchObject({ status: 202, body: first.body as object });
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expectError(await sendFile(tenant.api, `${csv}\n`, {}, headers), 422, 'idempotency_key_reused');
    const other = await sendFile(tenant.api, csv, { mode: 'update_only' }, headers);
    expectError(other, 422, 'idempotency_key_reused');
    const { id } = dataOf<ImportRecord>(first, 202);
    await untilEnded(tenant.api, id);
    expect(dataOf<ImportRecord[]>(await tenant.api.get(IMPORTS)).map((one) => one.id)).toEqual([
      id,
    ]);
    expect(await storedChunks()).toBe(0);
    expectInvalid(
      await sendFile(tenant.api, csv, {}, { 'Idempotency-Key': 'a b' }),
      'Idempotency-Key',
    );
  });

  it('is answered as it was carried out if the rest of a file cannot be discarded', async () => {
    jest
      .spyOn(app.app.get(LeadImportsRepository), 'discardFile')
      .mockRejectedValue(new Error('the connection was lost'));
    expect(await importFile(tenant.api, csv)).toMatchObject({ created: 1 });
    const refused = await sendFile(tenant.api, `${csv}\nA"da,b`);
    expectInvalid(refused, 'body');
    expect(errorOf(refused).message).toContain('line 3');
  });

  it('is refused with another content type, a content coding, or parameters that do not exist', async () => {
    const json = await tenant.api.post(IMPORTS, '{}');
    expectError(json, 415, 'unsupported_media_type');
    const gzip = await sendFile(tenant.api, csv, {}, { 'Content-Encoding': 'gzip' });
    expectError(gzip, 415, 'unsupported_media_type');
    expectInvalid(await sendFile(tenant.api, csv, { modus: 'x' }), 'modus');
    expectInvalid(await sendFile(tenant.api, csv, { match_on: 'name' }), 'match_on');
    expectInvalid(await sendFile(tenant.api, csv, { match_on: 'phone' }), 'match_on');
    expectInvalid(await sendFile(tenant.api, 'first_name\nAda'), 'match_on');
    expectInvalid(await sendFile(tenant.api, csv, { map: '[]' }), 'map');
    const twice = '{"email":"phone","email":"notes"}';
    expectInvalid(await sendFile(tenant.api, csv, { map: twice }), 'map');
  });

  it('needs both scopes', async () => {
    for (const scope of ['leads:read', 'leads:write'] as const) {
      const { api } = await app.key(tenant.id, [scope]);
      expectError(await sendFile(api, csv), 403, 'insufficient_scope');
    }
  });

  it('takes 50 MiB and no more', async () => {
    const { port } = app;
    const { status } = await new Promise<{ status: number }>((resolve, reject) => {
      const request = http.request({
        port,
        method: 'POST',
        path: IMPORTS,
        headers: {
          Authorization: `Bearer ${tenant.key.key}`,
          'Content-Type': 'text/csv',
          'Content-Length': 52_428_801,
        },
      });
      request.once('response', (response) => {
        resolve({ status: response.statusCode! });
        request.destroy();
      });
      request.once('error', reject);
      request.flushHeaders();
    });
    expect(status).toBe(413);
  });

  it('leaves nothing if the client breaks off', async () => {
    const discard = jest.spyOn(app.app.get(LeadImportsRepository), 'discardFile');
    const request = http.request({
      port: app.port,
      method: 'POST',
      path: IMPORTS,
      headers: { Authorization: `Bearer ${tenant.key.key}`, 'Content-Type': 'text/csv' },
    });
    request.once('error', () => undefined);
    request.write(
      `first_name,email,notes\n${`A,a@example.com,${'x'.repeat(1_000)}\n`.repeat(600)}`,
    );
    await until(async () => (await storedChunks()) > 0);
    request.destroy();
    await until(() => Promise.resolve(discard.mock.results.length > 0));
    await discard.mock.results[0]!.value;
    expect(await storedChunks()).toBe(0);
    expect(dataOf<ImportRecord[]>(await tenant.api.get(IMPORTS))).toEqual([]);
  });

  it('is refused while ten imports of the organization have not ended', async () => {
    await app.sql(
      `insert into lead_imports (organization_id, id, status, format, mode, match_on, dry_run,
         ignored_columns, bytes, plan, starter, position, line)
       select $1, gen_random_uuid(), 'pending', 'csv', 'create_only', '{}', false, '{}', 0, '{}', '{}', 0, 1
       from generate_series(1, 10)`,
      [tenant.id],
    );
    const answer = await sendFile(tenant.api, csv);
    expectError(answer, 429, 'rate_limit_exceeded');
    expect(answer.headers.get('retry-after')).toBe('60');
  });
});

describe('a running import', () => {
  const long = (count: number) =>
    `first_name,email\n${Array.from({ length: count }, (_, n) => `A,${n}@example.com`).join('\n')}`;

  async function begin(count = 20_000): Promise<string> {
    const { id } = dataOf<ImportRecord>(await sendFile(tenant.api, long(count)), 202);
    const get = async () => dataOf<ImportRecord>(await tenant.api.get(`${IMPORTS}/${id}`));
    await until(async () => (await get()).processed > 0);
    return id;
  }

  it('can be cancelled, and keeps the lines that were carried out', async () => {
    const id = await begin();
    const cancelled = dataOf<ImportRecord>(await tenant.api.post(`${IMPORTS}/${id}/cancel`, {}));
    expect(cancelled.status).toBe('cancelled');
    expect(cancelled.processed).toBeLessThan(20_000);
    expect(await storedChunks()).toBe(0);
    const again = dataOf<ImportRecord>(await tenant.api.post(`${IMPORTS}/${id}/cancel`, {}));
    expect(again).toEqual(cancelled);
    expect(await exported()).toHaveLength(cancelled.created);
  });

  it('ends when its key ends', async () => {
    const id = await begin();
    const other = await app.key(tenant.id);
    await app.revoke(tenant);
    const ended = await untilEnded(other.api, id);
    expect(ended).toMatchObject({ status: 'cancelled' });
    expect(ended.error).toContain('key');
    expect(ended.processed).toBeLessThan(20_000);
  });

  it('runs alone in its organization, and the next one follows', async () => {
    const first = await begin(3_000);
    const second = dataOf<ImportRecord>(
      await sendFile(tenant.api, 'first_name,email\nZ,1@example.com'),
      202,
    );
    const get = async (id: string) =>
      dataOf<ImportRecord & { started_at: string; ended_at: string }>(
        await tenant.api.get(`${IMPORTS}/${id}`),
      );
    await untilEnded(tenant.api, second.id);
    expect(await get(second.id)).toMatchObject({ status: 'completed', updated: 1 });
    expect((await get(first)).ended_at <= (await get(second.id)).started_at).toBe(true);
  });
});
