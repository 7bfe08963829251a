import {
  LatitudeApiError,
  LatitudeClient,
  LatitudeConnectionError,
} from '../../src/client/index.js';
import { type Tenant, TestServer } from '../../src/testing/test-server.js';

const CSV = 'First Name;E-mail\nAda;ada@example.com\nBob;nobody\n';

let server: TestServer;
let tenant: Tenant;
let client: LatitudeClient;

beforeAll(async () => {
  server = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await server.organization();
  client = new LatitudeClient({ baseUrl: server.url, apiKey: tenant.key.key });
});
afterAll(() => server.stop());

describe('client.leads.imports', () => {
  it.each([CSV, new TextEncoder().encode(CSV), new Blob([CSV])])(
    'sends a file, waits for its import, and reads the rejected lines (%#)',
    async (file) => {
      const query = { match_on: ['email' as const], delimiter: 'semicolon' as const };
      const { id } = await client.leads.imports.create(file, { query, idempotencyKey: 'once' });
      const again = await client.leads.imports.create(file, { query, idempotencyKey: 'once' });
      expect(again.id).toBe(id);
      const seen: string[] = [];
      const ended = await client.leads.imports.wait(id, {
        onProgress: ({ status }) => seen.push(status),
      });
      expect(ended).toMatchObject({ status: 'completed', created: 1, rejected: 1 });
      expect(seen.at(-1)).toBe('completed');
      expect(await client.leads.imports.rejected(id)).toBe(
        'rejected_line;rejection_reason;First Name;E-mail\r\n3;email must be a valid e-mail address;Bob;nobody\r\n',
      );
      const [lead] = (await client.leads.list()).data;
      expect(await client.leads.imports.results(id)).toBe(
        `line,action,id\r\n2,created,${lead?.id}\r\n3,rejected,\r\n`,
      );
      expect(await client.leads.imports.results(id, { format: 'ndjson' })).toContain(
        '{"line":3,"action":"rejected","id":null}\n',
      );
      expect((await client.leads.imports.list({ status: 'completed' })).data).toEqual([ended]);
      expect(await client.leads.imports.cancel(id)).toEqual(ended);
    },
  );

  it('finds leads by id, sets constants, and reads rejected lines in their charset', async () => {
    const { id: known } = await client.leads.create({ first_name: 'Ada' });
    const file = new Uint8Array(
      Buffer.from(`id,first_name\n${known},Zo\xeb \x80\nx,Zo\xeb \x80`, 'latin1'),
    );
    const query = {
      match_on: ['id' as const],
      encoding: 'windows-1252' as const,
      set: '{"tags":["fair"]}',
    };
    const { id } = await client.leads.imports.create(file, { query });
    expect(await client.leads.imports.wait(id)).toMatchObject({ updated: 1, rejected: 1 });
    expect(await client.leads.get(known)).toMatchObject({ first_name: 'Zoë €', tags: ['fair'] });
    expect(await client.leads.imports.rejected(id)).toContain('3,id must be a UUID,x,Zoë €');
  });

  it('sends NDJSON, and rejects with the columns of a file that is refused', async () => {
    const file = '{"first_name":"Ada","email":"a@example.com","owner":"B"}';
    const options = { format: 'ndjson' as const };
    await expect(client.leads.imports.create(file, options)).rejects.toMatchObject({
      name: LatitudeApiError.name,
      code: 'validation_error',
      details: [{ field: 'columns.owner' }],
    });
    const query = { unknown_columns: 'custom_fields' as const };
    const { id } = await client.leads.imports.create(file, { ...options, query });
    expect(await client.leads.imports.wait(id)).toMatchObject({ created: 1 });
  });
});

describe('client.leads.export', () => {
  it('returns all leads that match', async () => {
    const lead = await client.leads.create({ first_name: 'Ada', status: 'new' });
    await client.leads.create({ first_name: 'Bob' });
    const lines = await client.leads.export({ format: 'ndjson', status: 'new' });
    expect(JSON.parse(lines)).toEqual(lead);
    const marked = await client.leads.export({ status: 'none', delimiter: 'tab', bom: true });
    expect(marked).toMatch(/^\ufeffid\tfirst_name\t/);
    expect(await client.leads.export({ status: 'none' })).toMatch(/^id,first_name,.*\r\n$/);
    const blob = await client.leads.exportBlob({ format: 'ndjson', status: 'new' });
    expect(JSON.parse(await blob.text())).toEqual(lead);
    const wrong = client.leads.exportBlob({ format: 'xlsx' as 'csv' });
    await expect(wrong).rejects.toMatchObject({ status: 400, code: 'validation_error' });
  });

  it('rejects if the response is not complete', async () => {
    const stream = () =>
      new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('id,first_name\r\n'));
          controller.error(new TypeError('terminated'));
        },
      });
    const broken = new LatitudeClient({
      baseUrl: server.url,
      apiKey: tenant.key.key,
      fetch: () => Promise.resolve(new Response(stream())),
      maxAttempts: 1,
    });
    await expect(broken.leads.export()).rejects.toBeInstanceOf(LatitudeConnectionError);
    await expect(broken.leads.exportBlob()).rejects.toBeInstanceOf(LatitudeConnectionError);
  });
});
