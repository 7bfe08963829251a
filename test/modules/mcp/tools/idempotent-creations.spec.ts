import { LEADS } from '../../../../src/testing/factories.js';
import {
  McpHttpClient,
  rpcRequest,
  sessionHeader,
  STATELESS_META,
} from '../../../../src/testing/mcp-client.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';

const META = 'latitude/idempotency_key';

let server: TestServer;
let tenant: Tenant;
let client: McpHttpClient;
let session: string;

beforeAll(async () => {
  server = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await server.organization();
  client = new McpHttpClient(server.url, tenant.key.key);
  session = await client.openSession();
});
afterAll(() => server.stop());

interface Result {
  readonly isError?: boolean;
  readonly structuredContent: { readonly id: string };
  readonly _meta?: { readonly 'latitude/error': { readonly code: string } };
}

interface Call {
  readonly name?: string;
  readonly args?: object;
  readonly key?: unknown;
  readonly header?: string;
}

function callParams({ name = 'create_lead', args = { first_name: 'Ada' }, key }: Call) {
  return { name, arguments: args, _meta: key === undefined ? {} : { [META]: key } };
}

const MODES: Readonly<Record<string, (call: Call) => Promise<Result>>> = {
  'in a session': async (call) => {
    const headers = {
      ...sessionHeader(session),
      ...(call.header !== undefined && { 'Idempotency-Key': call.header }),
    };
    const { body } = await client.post(rpcRequest('tools/call', callParams(call)), headers);
    return (body as { result: Result }).result;
  },
  'without a session': async (call) => {
    const { _meta, ...params } = callParams(call);
    const meta = { ...STATELESS_META, ..._meta };
    const { body } = await client.statelessRpc('tools/call', { ...params, _meta: meta });
    return (body as { result: Result }).result;
  },
};

async function totalOfLeads(): Promise<number> {
  return ((await tenant.api.get(LEADS)).body as { meta: { total: number } }).meta.total;
}

const codeOf = ({ _meta }: Result) => _meta?.['latitude/error'].code;

describe.each(Object.entries(MODES))('create_lead with an idempotency key %s', (_, call) => {
  it('returns the first result to a retry and creates one lead', async () => {
    const first = await call({ key: 'k1' });
    expect(await call({ key: 'k1' })).toEqual(first);
    expect(await totalOfLeads()).toBe(1);
  });

  it('creates two leads for two keys', async () => {
    await call({ key: 'k1' });
    await call({ key: 'k2' });
    expect(await totalOfLeads()).toBe(2);
  });

  it('compares arguments as they are read: null is missing, and surrounding spaces do not count', async () => {
    const first = await call({ key: 'k1' });
    for (const args of [{ first_name: 'Ada', last_name: null }, { first_name: ' Ada' }]) {
      expect(await call({ key: 'k1', args })).toEqual(first);
    }
    expect(await totalOfLeads()).toBe(1);
  });

  it('answers idempotency_key_reused for other arguments', async () => {
    await call({ key: 'k1' });
    const other = await call({ key: 'k1', args: { first_name: 'Grace' } });
    expect(codeOf(other)).toBe('idempotency_key_reused');
    expect(await totalOfLeads()).toBe(1);
  });

  it('creates one lead for calls at the same time', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => call({ key: 'k1' })));
    const failed = results.filter(({ isError }) => isError).map(codeOf);
    expect(new Set([...failed, 'idempotency_key_in_use'])).toEqual(
      new Set(['idempotency_key_in_use']),
    );
    expect(await totalOfLeads()).toBe(1);
  });

  it.each(['', 1, 'ä', 'x'.repeat(256)])('answers validation_error for the key %j', async (key) => {
    expect(codeOf(await call({ key }))).toBe('validation_error');
    expect(await totalOfLeads()).toBe(0);
  });

  it('stores no response of a call that fails, so that the caller can correct it', async () => {
    expect(codeOf(await call({ key: 'k1', args: {} }))).toBe('validation_error');
    expect((await call({ key: 'k1' })).isError).toBeUndefined();
  });
});

describe('the header Idempotency-Key on /mcp', () => {
  it('makes a retry of the only call safe', async () => {
    const call = MODES['in a session']!;
    const first = await call({ header: 'k1' });
    expect(await call({ header: 'k1' })).toEqual(first);
    expect(await totalOfLeads()).toBe(1);
  });

  it('is ignored by tools that create nothing', async () => {
    const call = MODES['in a session']!;
    const { structuredContent } = await call({});
    const read = () => call({ name: 'get_lead', args: { id: structuredContent.id }, header: 'k1' });
    expect((await read()).structuredContent.id).toBe(structuredContent.id);
  });

  it('is refused with a batch', async () => {
    const old = await client.openSession('2025-03-26');
    const calls = ['a', 'b'].map(() => rpcRequest('tools/call', callParams({})));
    const headers = { ...sessionHeader(old), 'Idempotency-Key': 'k1' };
    const { body } = await client.post(calls, headers);
    const results = (body as { result: Result }[]).map(({ result }) => codeOf(result));
    expect(results).toEqual(['validation_error', 'validation_error']);
    expect(await totalOfLeads()).toBe(0);
  });
});
