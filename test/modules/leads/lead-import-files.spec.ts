import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type Answer } from '../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  type LeadRecord,
  LEADS,
} from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import {
  importFile,
  type ImportRecord,
  IMPORTS,
  rejectedOf,
  sendFile,
  untilEnded,
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

async function leads(): Promise<LeadRecord[]> {
  const { body } = await api.get(`${LEADS}/export?format=ndjson`);
  const lines = (body as string).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as LeadRecord);
}

const ofType = (type: string) => ({ 'Content-Type': type });

describe('a line', () => {
  it('may lack empty cells at its end, and have empty ones too many', async () => {
    const file = [
      'first_name,email,city',
      'Ada,ada@example.com',
      'Bo',
      'Cy,cy@example.com,Rome,, ,',
      'Di,di@example.com,Bonn,x',
    ].join('\n');
    const done = await importFile(api, file);
    expect(done).toMatchObject({ lines: 4, created: 3, rejected: 1 });
    expect(await rejectedOf(api, done.id)).toContain(
      '5,"has 4 cells, and the header has 3",Di,di@example.com,Bonn,x\r\n',
    );
    expect(await leads()).toMatchObject([{ city: null }, { email: null }, { city: 'Rome' }]);
  });

  it.each([
    ['="01067"', '01067'],
    ['"=""01067"""', '01067'],
    ['="0""1"', '0"1'],
    ['=""', null],
  ])('has the text of the formula %s', async (cell, zip) => {
    const done = await importFile(api, `first_name,email,zip\nAda,a@example.com,${cell}\n`);
    expect(done).toMatchObject({ created: 1, rejected: 0 });
    expect(await leads()).toMatchObject([{ zip }]);
  });

  it('keeps a text that looks like a formula in an export and its import', async () => {
    await createLead(api, { first_name: '="x"', email: 'a@example.com' });
    const { body } = await api.get(`${LEADS}/export`);
    const other = await app.organization();
    await importFile(other.api, body as string, { escaped: 'latitude' });
    const again = await other.api.get(`${LEADS}?fields=first_name`);
    expect(dataOf<LeadRecord[]>(again)).toMatchObject([{ first_name: '="x"' }]);
  });

  it.each(['4155550122.0', '4.15E+11', '4,15E+11', '4e9', '+4155550122.0'])(
    'with the phone %s is rejected, with the reason',
    async (phone) => {
      const done = await importFile(api, `first_name,email,phone\nAda,a@example.com,"${phone}"`);
      expect(done).toMatchObject({ created: 0, rejected: 1 });
      expect(await rejectedOf(api, done.id)).toContain(
        'phone is a number that a spreadsheet has changed',
      );
      const ndjson = JSON.stringify({ first_name: 'Ada', email: 'a@example.com', phone });
      const other = await importFile(api, ndjson, {}, ofType('application/x-ndjson'));
      expect(other).toMatchObject({ created: 0, rejected: 1 });
    },
  );

  it.each([
    ['ja', true],
    ['WAHR', true],
    ['Oui', true],
    ['VRAI', true],
    ['Sí', true],
    ['si', true],
    ['Verdadero', true],
    ['Nein', false],
    ['falsch', false],
    ['non', false],
    ['FAUX', false],
    ['No', false],
    ['falso', false],
  ])('takes the word %s', async (word, value) => {
    await importFile(api, `first_name,email,sms_opted_out\nAda,a@example.com,${word}`);
    expect(await leads()).toMatchObject([{ sms_opted_out: value }]);
  });
});

describe('the columns of other products', () => {
  it.each<[string, string, Partial<LeadRecord>]>([
    [
      'Google',
      'First Name,Last Name,Organization Name,Labels,E-mail 1 - Value,Phone 1 - Value,Address 1 - Street,Address 1 - City,Address 1 - Region,Address 1 - Postal Code\nAda,Lovelace,Acme,* Friends ::: Fair,ada@example.com,+1 415 555 0132,1 Pier,Oakland,CA,94607',
      { company: 'Acme', tags: ['* Friends', 'Fair'], address_street: '1 Pier' },
    ],
    [
      'Outlook',
      'First Name,Last Name,Company,E-mail Address,Business Phone,Business Street,Business City,Business State,Business Postal Code,Categories\nAda,Lovelace,Acme,ada@example.com,+1 415 555 0132,1 Pier,Oakland,CA,94607,Fair;Roof',
      { address_street: '1 Pier', tags: ['Fair', 'Roof'] },
    ],
    [
      'HubSpot',
      'Record ID,First Name,Last Name,Email,Phone Number,Lead Status,Company Name,Street Address,City,State/Region,Postal Code\n17,Ada,Lovelace,ada@example.com,+1 415 555 0132,New,Acme,1 Pier,Oakland,CA,94607',
      { external_id: '17', status: 'New', address_street: '1 Pier' },
    ],
    [
      'Salesforce',
      'Lead ID,Name,Company,Email,Phone,Mailing Street,Mailing City,Mailing State/Province,Mailing Zip/Postal Code\n00Q1,Ada Lovelace,Acme,ada@example.com,+1 415 555 0132,1 Pier,Oakland,CA,94607',
      { external_id: '00Q1', company: 'Acme', address_street: '1 Pier' },
    ],
    [
      'Salesforce with lists of states',
      'First Name,Last Name,Email,Phone,Mailing City,Mailing State/Province (text only),Mailing Zip/Postal Code\nAda,Lovelace,ada@example.com,+1 415 555 0132,Oakland,CA,94607',
      {},
    ],
  ])('of %s are known', async (_, file, more) => {
    expect(await importFile(api, file)).toMatchObject({ created: 1, ignored_columns: [] });
    expect(await leads()).toMatchObject([
      {
        ...{ first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' },
        ...{ phone: '+1 415 555 0132', city: 'Oakland', state: 'CA', zip: '94607', ...more },
      },
    ]);
  });

  it.each([
    ['Ada Lovelace', 'Ada', 'Lovelace'],
    ['Ada King Lovelace', 'Ada King', 'Lovelace'],
    ['"Lovelace, Ada"', 'Ada', 'Lovelace'],
    ['Ada', 'Ada', null],
  ])('have the name %s as first and last', async (name, first_name, last_name) => {
    await importFile(api, `Name,E-mail\n${name},a@example.com`);
    expect(await leads()).toMatchObject([{ first_name, last_name }]);
  });

  it('leave a whole name out if there is a first name, and may be mapped to one', async () => {
    const file = 'Name,First Name,Email\nAda L,Ada,a@example.com';
    expect(await importFile(api, file)).toMatchObject({ created: 1, ignored_columns: ['Name'] });
    const map = '{"Kunde":"name"}';
    expect(await importFile(api, 'Kunde,Email\nBo Ek,b@example.com', { map })).toMatchObject({
      created: 1,
    });
    expect(await leads()).toMatchObject([
      { first_name: 'Ada', last_name: null },
      { last_name: 'Ek' },
    ]);
    const both = { map: '{"Kunde":"name"}' };
    expectInvalid(await sendFile(api, 'Kunde,Last Name\nBo Ek,Ek', both), 'columns.Last Name');
  });

  it('of an export are left out in every spelling', async () => {
    const file = 'First Name,Email,Lead Score,Created At,UPDATED_AT\nAda,a@example.com,5,x,y';
    expect(await importFile(api, file)).toMatchObject({
      created: 1,
      ignored_columns: ['Lead Score', 'Created At', 'UPDATED_AT'],
    });
    const whole = 'ID,First Name,Email,Lead Score,Created At,Updated At\n1,Bo,b@example.com,5,x,y';
    expect(await importFile(api, whole)).toMatchObject({
      created: 1,
      ignored_columns: ['ID', 'Lead Score', 'Created At', 'Updated At'],
    });
    expectInvalid(await sendFile(api, 'Id,First Name,Email\n1,Bo,b@example.com'), 'columns.Id');
  });

  it('that are unknown are refused in one sentence, with a map that can be sent', async () => {
    const file =
      'First Name,Email,Owner,"Score, total",Region 2,Kunde\nAda,a@example.com,B,1,2,Acme';
    const given = { map: '{"Kunde":"company"}' };
    const answer = await sendFile(api, file, given);
    const names = ['Owner', 'Score, total', 'Region 2'];
    expectInvalid(answer, ...names.map((name) => `columns.${name}`));
    const { message } = errorOf(answer);
    expect(message.match(/unknown columns/g)).toHaveLength(1);
    const [, map = ''] = /map=(\{.*?\})/.exec(message) ?? [];
    expect(JSON.parse(map)).toEqual({
      Kunde: 'company',
      ...Object.fromEntries(names.map((name) => [name, null])),
    });
    expect(await importFile(api, file, { map })).toMatchObject({
      created: 1,
      ignored_columns: names,
    });
  });

  it('that are unknown and many have a map with all of them', async () => {
    const names = Array.from({ length: 150 }, (_, n) => `Column ${n}`);
    const file = `first_name,email,Mobile,Telephone,${names.join(',')}\nAda,a@example.com`;
    const answer = await sendFile(api, file);
    const { message, details = [] } = errorOf(answer);
    expect(details).toHaveLength(100);
    expect(message).toContain('columns.Column 19 and 130 more');
    const [, map = ''] = /map=(\{.*?\})/.exec(message) ?? [];
    const done = await importFile(api, file, { map });
    expect(done).toMatchObject({ created: 1, ignored_columns: ['Telephone', ...names] });
  });
});

describe('a file', () => {
  const CSV = 'first_name;email;city\nZoë;zoe@example.com;Köln – €\n';
  const windows1252 = Buffer.concat([
    Buffer.from('first_name;email;city\nZo\xeb;zoe@example.com;K\xf6ln ', 'latin1'),
    Buffer.from([0x96, 0x20, 0x80, 0x0a]),
  ]);

  it.each([
    ['sep=;\r\n', ';'],
    ['sep=,\n', ','],
    ['"sep=\t"\n', '\t'],
    ['SEP=|\r', '|'],
  ])('may declare its delimiter as %j', async (declaration, delimiter) => {
    const rows = ['first_name,email,city', 'Ada,a@example.com,Rome', 'Bo,nonsense,Oslo'];
    const file = declaration + rows.map((row) => row.replaceAll(',', delimiter)).join('\n');
    const done = await importFile(api, file);
    expect(done).toMatchObject({ lines: 2, created: 1, rejected: 1 });
    const rejected = ['4', 'email must be a valid e-mail address', 'Bo', 'nonsense', 'Oslo'];
    expect(await rejectedOf(api, done.id)).toContain(rejected.join(delimiter));
  });

  it('cannot declare another delimiter', async () => {
    const answer = await sendFile(api, 'sep=:\nfirst_name:email\n');
    expectInvalid(answer, 'body');
    expect(errorOf(answer).message).toContain('line 1 declares a delimiter');
  });

  it.each([
    'text/csv; charset=windows-1252',
    'text/csv;charset="ISO-8859-1"',
    'TEXT/CSV; header=present; charset=cp1252',
    'application/vnd.ms-excel; charset=windows-1252',
  ])('has the charset of %s', async (type) => {
    expect(await importFile(api, windows1252, {}, ofType(type))).toMatchObject({ created: 1 });
    expect(await leads()).toMatchObject([{ first_name: 'Zoë', city: 'Köln – €' }]);
  });

  it.each([
    ['text/csv; charset=utf-8', Buffer.from(CSV)],
    ['text/csv; charset=us-ascii', Buffer.from(CSV)],
    ['text/csv; charset=utf-16', Buffer.from(CSV, 'utf16le')],
    ['text/csv; charset=utf-16le', Buffer.from(CSV, 'utf16le')],
    ['application/vnd.ms-excel', Buffer.from(CSV)],
  ])('is read as %s', async (type, file) => {
    expect(await importFile(api, file, {}, ofType(type))).toMatchObject({ created: 1 });
    expect(await leads()).toMatchObject([{ first_name: 'Zoë', city: 'Köln – €' }]);
  });

  it('is refused with a charset that is unknown, unless the encoding is named', async () => {
    const headers = ofType('text/csv; charset=koi8-r');
    expectInvalid(await sendFile(api, CSV, {}, headers), 'Content-Type');
    expect(await importFile(api, CSV, { encoding: 'utf-8' }, headers)).toMatchObject({
      created: 1,
    });
  });

  it.each<[string, Buffer, string]>([
    ['a zip', Buffer.from('PK\x03\x04\x14\0\x06\0', 'latin1'), 'zip file'],
    ['a workbook of Excel', Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1'), '.xls'],
    ['compressed', gzipSync('first_name,email\nAda,a@example.com\n'), '.gz'],
  ])('is named if it is %s', async (_, file, name) => {
    for (const type of ['text/csv', 'application/vnd.ms-excel', 'application/x-ndjson']) {
      const answer = await sendFile(api, file, {}, ofType(type));
      expectInvalid(answer, 'body');
      expect(errorOf(answer).message).toContain(name);
    }
  });

  it('in UTF-8 is refused as Windows-1252', async () => {
    for (const file of [
      CSV,
      `first_name;email\n${'A;a@example.com\n'.repeat(9_000)}Zoë;z@example.com`,
    ]) {
      const answer = await sendFile(api, file, { encoding: 'windows-1252' });
      expectInvalid(answer, 'body');
      expect(errorOf(answer).message).toContain('is in UTF-8');
    }
    const ascii = 'first_name;email\nAda;a@example.com';
    const done = await importFile(api, ascii, { encoding: 'windows-1252' });
    expect(done).toMatchObject({ created: 1 });
  });
});

describe('a form with a file', () => {
  const CSV = 'first_name,email\nAda,a@example.com\n';
  const NDJSON = '{"first_name":"Bo","email":"b@example.com"}';
  const BOUNDARY = '----latitude';

  const part = (head: string, content: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const END = `--${BOUNDARY}--\r\n`;

  const send = (body: string, query = {}, type = `multipart/form-data; boundary=${BOUNDARY}`) =>
    sendFile(api, body, query, ofType(type));

  const file = (name: string, content: string, type = 'application/octet-stream') =>
    part(`name="file"; filename="${name}"\r\nContent-Type: ${type}`, content);

  it.each([
    ['leads.csv', 'text/csv', CSV],
    ['leads.csv', 'application/octet-stream', CSV],
    ['leads.csv', 'application/vnd.ms-excel', CSV],
    ['leads', 'text/csv; charset=utf-8', CSV],
    ['LEADS.NDJSON', 'application/octet-stream', NDJSON],
    ['leads.jsonl', 'text/plain', NDJSON],
  ])('named %s of the type %s is imported', async (name, type, content) => {
    const { id } = dataOf<ImportRecord>(await send(file(name, content, type) + END), 202);
    expect(await untilEnded(api, id)).toMatchObject({
      bytes: Buffer.byteLength(content),
      created: 1,
    });
  });

  it('is imported once for an Idempotency-Key, whatever its boundary', async () => {
    const key = { 'Idempotency-Key': 'form-1' };
    const sendAs = (boundary: string): Promise<Answer> => {
      const body = (file('a.csv', CSV, 'text/csv') + END).replaceAll(BOUNDARY, boundary);
      const type = `multipart/form-data; boundary=${boundary}`;
      return sendFile(api, body, {}, { ...ofType(type), ...key });
    };
    const first = dataOf<ImportRecord>(await sendAs('----one'), 202);
    expect(dataOf<ImportRecord>(await sendAs('----two'), 202).id).toBe(first.id);
  });

  it.each([
    ['two files', file('a.csv', CSV) + file('b.csv', CSV) + END],
    ['another field behind the file', `${file('a.csv', CSV)}${part('name="x"', '1')}${END}`],
    ['another field before the file', `${part('name="x"', '1')}${file('a.csv', CSV)}${END}`],
    [
      'a part that is no field',
      `${file('a.csv', CSV)}--${BOUNDARY}\r\nContent-Type: text/csv\r\n\r\nx\r\n${END}`,
    ],
    ['no file', END],
    ['only a field', part('name="x"', '1') + END],
    ['no end', file('a.csv', CSV)],
    ['nothing', ''],
  ])('is refused with %s', async (_, body) => {
    expectInvalid(await send(body), 'body');
    expect(dataOf<unknown[]>(await api.get(IMPORTS))).toEqual([]);
    expect(await leads()).toEqual([]);
  });

  it('is refused without a boundary, with another kind of file, and with an encoded one', async () => {
    expectInvalid(await send(file('a.csv', CSV) + END, {}, 'multipart/form-data'), 'body');
    const image = await send(file('a.png', 'x', 'image/png') + END);
    expectError(image, 415, 'unsupported_media_type');
    expect(errorOf(image).message).toContain('a name with the extension');
    const head = 'name="file"; filename="a.csv"\r\nContent-Transfer-Encoding: base64';
    expectInvalid(await send(part(head, 'Zmlyc3RfbmFtZQ==') + END), 'body');
    for (const name of ['leads.xlsx', 'leads.ods', 'leads.zip']) {
      const workbook = await send(file(name, 'PK\x03\x04') + END);
      expectInvalid(workbook, 'body');
      expect(errorOf(workbook).message).toContain('zip file');
    }
  });
});

describe('the rejected lines of a file', () => {
  it('are all sent, also if they are long', async () => {
    const long = () => randomBytes(100_000).toString('hex');
    const lines = Array.from({ length: 4 }, () => `a@example.com,${long()}`);
    const { id } = await importFile(api, ['email,first_name', ...lines].join('\n'));
    const { body } = await api.get(`${IMPORTS}/${id}/rejected`);
    for (const line of lines) expect(body).toContain(line);
  });

  it('have its delimiter, its encoding and its byte order mark', async () => {
    const csv = 'first_name;email\r\nZoë €;nonsense\r\n';
    const expected =
      'rejected_line;rejection_reason;first_name;email\r\n2;email must be a valid e-mail address;Zoë €;nonsense\r\n';
    const bytesOf = async (id: string) => {
      const answer = await fetch(`${app.url}${IMPORTS}/${id}/rejected`, {
        headers: { Authorization: `Bearer ${tenant.key.key}` },
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      return { bytes, type: answer.headers.get('content-type') };
    };
    const marked = await importFile(api, `\ufeff${csv}`);
    expect(await bytesOf(marked.id)).toEqual({
      bytes: Buffer.from(`\ufeff${expected}`),
      type: 'text/csv; charset=utf-8',
    });
    const utf16 = await importFile(api, Buffer.from(`\ufeff${csv}`, 'utf16le'));
    expect(await bytesOf(utf16.id)).toEqual({
      bytes: Buffer.from(`\ufeff${expected}`, 'utf16le'),
      type: 'text/csv; charset=utf-16le',
    });
    const encode = (text: string) => Buffer.from(text.replaceAll('€', '\x80'), 'latin1');
    const windows = await importFile(api, encode(csv), { encoding: 'windows-1252' });
    expect(await bytesOf(windows.id)).toEqual({
      bytes: encode(expected),
      type: 'text/csv; charset=windows-1252',
    });
  });

  it('can be rejected again, without the reasons of the first time', async () => {
    const first = await importFile(api, 'first_name,email\nAda,nonsense');
    const again = await importFile(api, await rejectedOf(api, first.id));
    expect(again).toMatchObject({ rejected: 1 });
    expect(await rejectedOf(api, again.id)).toBe(await rejectedOf(api, first.id));
  });

  it('keep the formulas of texts, so that they have their text when they are imported', async () => {
    const file = [
      'first_name,email,zip,notes',
      'Ada,nonsense,="01067",=1+1',
      'Bo,nonsense,"=""0""&A1",',
    ].join('\n');
    const rejected = await rejectedOf(api, (await importFile(api, file)).id);
    expect(rejected).toContain(`,"=""01067""",'=1+1\r\n`);
    expect(rejected).toContain(`,"'=""0""&A1",\r\n`);
    const corrected = rejected.replace('Ada,nonsense', 'Ada,a@example.com');
    await importFile(api, corrected, { escaped: 'latitude' });
    expect(await leads()).toMatchObject([{ zip: '01067', notes: '=1+1' }]);
  });

  it('keep a text that looks like a formula in an export', async () => {
    const file = `first_name,email,zip,notes\nAda,nonsense,="01067","'=""x"""`;
    const first = await importFile(api, file, { escaped: 'latitude' });
    const corrected = (await rejectedOf(api, first.id)).replace('nonsense', 'a@example.com');
    await importFile(api, corrected, { escaped: 'latitude' });
    expect(await leads()).toMatchObject([{ zip: '01067', notes: '="x"' }]);
  });

  it('of NDJSON can be rejected again, without the reasons of the first time', async () => {
    const type = ofType('application/x-ndjson');
    const file = '{"first_name":"Ada","email":"\\"nonsense"}\n{}\n';
    const first = await importFile(api, file, {}, type);
    const again = await importFile(api, await rejectedOf(api, first.id), {}, type);
    expect(again).toMatchObject({ rejected: 2 });
    expect(await rejectedOf(api, again.id)).toBe(await rejectedOf(api, first.id));
  });
});
