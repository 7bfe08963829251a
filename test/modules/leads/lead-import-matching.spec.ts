import {
  buildLead,
  createLead,
  errorOf,
  expectError,
  expectInvalid,
  getLead,
  type LeadRecord,
  LEADS,
} from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import {
  importFile,
  IMPORTS,
  rejectedOf,
  resultsOf,
  sendFile,
} from '../../support/lead-imports.js';

let app: TestServer;
let tenant: Tenant;
let api: Tenant['api'];

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
  ({ api } = tenant);
});

const NDJSON = { 'Content-Type': 'application/x-ndjson' };

async function leads(): Promise<LeadRecord[]> {
  const { body } = await api.get(`${LEADS}/export?format=ndjson`);
  const lines = (body as string).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as LeadRecord);
}

describe('the lead of a line', () => {
  it('is not found by its phone if the file has an e-mail, so that two persons may share a switchboard', async () => {
    const file = [
      'first_name,email,phone',
      'Ada,ada@example.com,+1 415 555 0132',
      'Grace,grace@example.com,+1 415 555 0132',
    ].join('\n');
    const done = await importFile(api, file);
    expect(done).toMatchObject({ match_on: ['email'], created: 1, rejected: 1 });
    const [ada, ...others] = await leads();
    expect(others).toEqual([]);
    expect(ada).toMatchObject({ first_name: 'Ada', email: 'ada@example.com' });
    expect(await rejectedOf(api, done.id)).toContain(
      `3,phone belongs to another lead (${ada!.id}),Grace`,
    );
  });

  it('is found by its phone if the file has neither an external id nor an e-mail, or if phone is named', async () => {
    const known = await createLead(api, { phone: '+1 415 555 0132' });
    const alone = await importFile(api, 'first_name,phone\nAda,(415) 555-0132');
    expect(alone).toMatchObject({ match_on: ['phone'], updated: 1 });
    const file = 'first_name,email,phone\nGrace,grace@example.com,415 555 0132';
    expect(await importFile(api, file, { match_on: 'phone' })).toMatchObject({ updated: 1 });
    expect(await getLead(api, known.id)).toMatchObject({
      first_name: 'Grace',
      email: 'grace@example.com',
    });
  });

  it('is created if the line has no value that could find one, unless only updates are allowed', async () => {
    const file = 'first_name,email\nAda,\nGrace,';
    expect(await importFile(api, file)).toMatchObject({ created: 2, rejected: 0 });
    const updates = await importFile(api, file, { mode: 'update_only' });
    expect(updates).toMatchObject({ updated: 0, rejected: 2 });
    expect(await rejectedOf(api, updates.id)).toContain(
      '2,"has no email, by which its lead is found",Ada,',
    );
    const lines = '{"first_name":"Bo","email":""}\n{"first_name":"Cy","email":null}';
    expect(await importFile(api, lines, {}, NDJSON)).toMatchObject({ created: 2, rejected: 0 });
  });

  it('is found by its id if match_on names it, as in an export that was edited', async () => {
    const [one, other] = [await createLead(api, buildLead()), await createLead(api, buildLead())];
    const { body } = await api.get(`${LEADS}/export`);
    const file = (body as string).replaceAll('Lovelace', 'King');
    const query = { match_on: 'id', escaped: 'latitude' };
    expect(await importFile(api, file, query)).toMatchObject({
      match_on: ['id'],
      updated: 2,
      ignored_columns: ['lead_score', 'created_at', 'updated_at'],
    });
    for (const { id } of [one, other]) {
      expect(await getLead(api, id)).toMatchObject({ last_name: 'King' });
    }
  });

  it('is rejected if its id is that of no lead, and created if it has none', async () => {
    const { id } = await createLead(api, { email: 'a@example.com', on_dnc_list: true });
    const stranger = await createLead((await app.organization()).api);
    const file = [
      'ID,first_name,email,on_dnc_list',
      `${id.toUpperCase()},Ada,new@example.com,no`,
      `${stranger.id},Bo,,`,
      'x-1,Cy,,',
      ',Di,di@example.com,',
    ].join('\n');
    const done = await importFile(api, file, { match_on: 'id' });
    expect(done).toMatchObject({ created: 1, updated: 1, rejected: 2 });
    expect(await rejectedOf(api, done.id)).toBe(
      [
        'rejected_line,rejection_reason,ID,first_name,email,on_dnc_list',
        `3,id is that of no lead,${stranger.id},Bo,,`,
        '4,id must be a UUID,x-1,Cy,,',
        '',
      ].join('\r\n'),
    );
    expect(await getLead(api, id)).toMatchObject({
      first_name: 'Ada',
      email: 'new@example.com',
      on_dnc_list: true,
    });
  });

  it('cannot be found by id where only new leads are made, or where the file has no id', async () => {
    const csv = 'first_name,email\nAda,a@example.com';
    expectInvalid(await sendFile(api, csv, { match_on: 'id' }), 'match_on');
    const both = { match_on: 'id', mode: 'create_only' };
    expectInvalid(await sendFile(api, `id,${csv}`, both), 'match_on');
    expectInvalid(
      await sendFile(api, 'id,first_name\n1,Ada', { mode: 'create_only' }),
      'columns.id',
    );
    const mapped = await sendFile(api, csv, { map: '{"email":"id"}' });
    expectInvalid(mapped, 'columns.email');
    expect(errorOf(mapped).message).toContain('unless match_on names it');
  });
});

describe('the source of a lead', () => {
  it('is import if the import creates it, and stays if the import updates it', async () => {
    const known = await createLead(api, { email: 'known@example.com', source: 'website' });
    const file = [
      'first_name,email,source',
      'Ada,ada@example.com,',
      'Bo,bo@example.com,Referral',
      'Cy,,',
      'Known,known@example.com,',
    ].join('\n');
    await importFile(api, file);
    const sources = (await leads()).map((lead) => [lead.first_name, lead.source]);
    expect(Object.fromEntries(sources)).toEqual({
      ...{ Known: 'website', Ada: 'import', Bo: 'referral', Cy: 'import' },
    });
    expect(await getLead(api, known.id)).toMatchObject({ source: 'website' });
    const only = await importFile(api, 'first_name\nDi', { mode: 'create_only' });
    expect(only).toMatchObject({ created: 1 });
    expect((await leads()).find((lead) => lead.first_name === 'Di')?.source).toBe('import');
    await importFile(api, '{"first_name":"Ed","email":"ed@example.com"}', {}, NDJSON);
    expect((await leads()).find((lead) => lead.first_name === 'Ed')?.source).toBe('import');
  });
});

describe('the parameter set', () => {
  it('adds its tags, and fills empty and missing cells', async () => {
    const known = await createLead(api, {
      email: 'known@example.com',
      tags: ['vip'],
      custom_fields: { budget: 5 },
    });
    const set = JSON.stringify({
      ...{ tags: ['fair', 'new'], source: 'website', city: 'Oslo' },
      custom_fields: { fair: 2026, hall: 1 },
    });
    const file = [
      'first_name,email,city,tags,custom_fields.hall',
      'Ada,ada@example.com,Rome,new;x,3',
      'Bo,,,,',
      'Known,known@example.com,,,',
    ].join('\n');
    expect(await importFile(api, file, { set })).toMatchObject({ created: 2, updated: 1 });
    const byName = Object.fromEntries((await leads()).map((lead) => [lead.first_name, lead]));
    expect(byName).toMatchObject({
      Ada: { city: 'Rome', source: 'website', tags: ['new', 'x', 'fair'] },
      Bo: { city: 'Oslo', tags: ['fair', 'new'], custom_fields: { fair: 2026, hall: 1 } },
      Known: { city: 'Oslo', source: 'website', tags: ['vip', 'fair', 'new'] },
    });
    expect(byName.Ada?.custom_fields).toEqual({ fair: 2026, hall: '3' });
    expect((await getLead(api, known.id)).custom_fields).toEqual({
      budget: 5,
      fair: 2026,
      hall: 1,
    });
  });

  it('applies to NDJSON, and to cells that would clear their field', async () => {
    const set = '{"status":"new","tags":["fair"]}';
    const lines = [
      '{"first_name":"Ada","email":"ada@example.com","status":null}',
      '{"first_name":"Bo","email":"bo@example.com","status":"won","tags":["a"]}',
    ];
    await importFile(api, lines.join('\n'), { set }, NDJSON);
    const file = 'first_name,email,status,tags\nAda,ada@example.com,,';
    expect(await importFile(api, file, { set, clear_empty: 'true' })).toMatchObject({
      unchanged: 1,
    });
    expect(await leads()).toMatchObject([
      { status: 'new', tags: ['fair'] },
      { status: 'won', tags: ['a', 'fair'] },
    ]);
  });

  it.each([
    ['[]', 'must be a JSON object'],
    ['{"tags":"fair"}', 'tags must be'],
    ['{"source":"fair"}', 'source must be one of'],
    ['{"owner":"Bo"}', 'owner is unknown'],
    ['{"city":null}', 'city must not be null'],
    ['{"phone":"+1 415 555 0132"}', 'no two leads share it'],
    ['{"city":"a","city":"b"}', 'city must be given only once'],
  ])('is refused as %s', async (set, message) => {
    const answer = await sendFile(api, 'first_name,email\nAda,a@example.com', { set });
    expectInvalid(answer, 'set');
    expect(errorOf(answer).message).toContain(message);
  });
});

describe('GET /api/v1/leads/imports/:id/results', () => {
  const file = [
    'first_name,email,city',
    'Known,known@example.com,Rome',
    'Same,same@example.com,',
    '"Ada\nL",ada@example.com,',
    'Bad,nonsense,',
    'Ada,ada@example.com,Bonn',
  ].join('\n');

  async function known(): Promise<[LeadRecord, LeadRecord]> {
    return [
      await createLead(api, { first_name: 'Known', email: 'known@example.com' }),
      await createLead(api, { first_name: 'Same', email: 'same@example.com' }),
    ];
  }

  it('has the line, the action and the lead of each record', async () => {
    const [first, second] = await known();
    const { id } = await importFile(api, file);
    const ada = (await leads()).find((lead) => lead.email === 'ada@example.com')!;
    expect(await resultsOf(api, id)).toBe(
      [
        'line,action,id',
        `2,updated,${first.id}`,
        `3,unchanged,${second.id}`,
        `4,created,${ada.id}`,
        '6,rejected,',
        `7,updated,${ada.id}`,
        '',
      ].join('\r\n'),
    );
    const answer = await api.get(`${IMPORTS}/${id}/results?format=ndjson`);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    expect(answer.headers.get('content-disposition')).toContain('results.ndjson');
    expect(answer.body).toContain(`{"line":2,"action":"updated","id":"${first.id}"}\n`);
    expect(answer.body).toContain('{"line":6,"action":"rejected","id":null}\n');
  });

  it('names no lead that a dry run would have created', async () => {
    const [first] = await known();
    const { id } = await importFile(api, file, { dry_run: 'true' });
    const lines = (await resultsOf(api, id)).split('\r\n');
    expect(lines.slice(1)).toEqual([
      `2,updated,${first.id}`,
      expect.stringMatching(/^3,unchanged,.+$/),
      '4,created,',
      '6,rejected,',
      '7,updated,',
      '',
    ]);
  });

  it('pages through long imports in the order of their lines', async () => {
    const rows = Array.from(
      { length: 603 },
      (_, n) => `A,${n % 10 === 0 ? 'x' : `${n}@example.com`}`,
    );
    const { id } = await importFile(api, ['first_name,email', ...rows].join('\n'));
    const lines = (await resultsOf(api, id)).trimEnd().split('\r\n').slice(1);
    expect(lines.map((line) => line.split(',').slice(0, 2).join())).toEqual(
      rows.map((_, n) => `${n + 2},${n % 10 === 0 ? 'rejected' : 'created'}`),
    );
  });

  it('is 404 for an import of another organization, and takes only its parameter', async () => {
    const { id } = await importFile(api, file);
    const stranger = await app.organization();
    expectError(await stranger.api.get(`${IMPORTS}/${id}/results`), 404, 'not_found');
    expectInvalid(await api.get(`${IMPORTS}/${id}/results?format=xml`), 'format');
    expectInvalid(await api.get(`${IMPORTS}/${id}/results?escape=none`), 'escape');
  });
});

describe('the reasons of a rejected line', () => {
  it('are all that there are: cells, invalid, missing and duplicate', async () => {
    const [one, other] = [
      await createLead(api, { external_id: 'x-1' }),
      await createLead(api, { phone: '+1 415 555 0132', email: 'other@example.com' }),
    ];
    const file = [
      'first_name,email,phone,external_id,temperature,on_dnc_list',
      ',nonsense,+1 415 555 0132,,tepid,perhaps,surplus',
      'Bo,other@example.com,,x-1,,',
      ',,415-555-0132,,,',
    ].join('\n');
    const done = await importFile(api, file);
    expect(done).toMatchObject({ rejected: 3 });
    const [, ...lines] = (await rejectedOf(api, done.id)).trimEnd().split('\r\n');
    expect(lines[0]).toContain(
      '2,"has 7 cells, and the header has 6; on_dnc_list must be a word for true (true, yes, y, 1, ja, wahr, oui,',
    );
    expect(lines[0]).toContain('email must be a valid e-mail address');
    expect(lines[0]).toContain('temperature must be one of cold, warm, hot');
    expect(lines[0]).toContain('first_name is required');
    expect(lines[0]).toContain(`phone belongs to another lead (${other.id})`);
    expect(lines[1]).toContain(`email belongs to another lead (${other.id})`);
    expect(lines[1]).toContain(`external_id belongs to another lead (${one.id})`);
    expect(lines[2]).toContain('first_name is required');
    expect(lines[2]).toContain(`phone belongs to another lead (${other.id})`);
  });

  it('do not ask for what an existing lead has', async () => {
    await createLead(api, { email: 'known@example.com' });
    const file = 'email,temperature\nknown@example.com,tepid';
    const done = await importFile(api, file);
    expect(await rejectedOf(api, done.id)).toContain(
      '2,"temperature must be one of cold, warm, hot",known@example.com,tepid\r\n',
    );
  });
});
