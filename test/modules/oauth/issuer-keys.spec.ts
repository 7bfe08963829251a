import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { mirrorHeaders, statelessRequest } from '../../../src/testing/mcp-client.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { SignInServer } from '../../support/oauth/sign-in-server.js';
import { createHttpServer } from '../../support/servers/http-server.js';

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

/** An issuer with two keys of the same algorithm, such as during a rotation. */
class Issuer {
  /** The requests of the service, by path. */
  requests: string[] = [];
  isDown = false;
  url = '';
  private readonly server = createHttpServer((request, response) => {
    const { url = '' } = request;
    this.requests.push(url);
    if (this.isDown) response.writeHead(500).end();
    else response.end(JSON.stringify(url === '/jwks' ? { keys: this.keys } : this.configuration));
  });

  private constructor(
    readonly privateKeys: readonly CryptoKey[],
    private readonly keys: readonly object[],
  ) {}

  static async start(pairs: readonly KeyPair[]): Promise<Issuer> {
    const keys = await Promise.all(
      pairs.map(async ({ publicKey }, index) => {
        return { ...(await exportJWK(publicKey)), kid: String(index), use: 'sig' };
      }),
    );
    const privateKeys = pairs.map(({ privateKey }) => privateKey);
    const issuer = new Issuer(privateKeys, keys);
    await once(issuer.server.listen(0, '127.0.0.1'), 'listening');
    issuer.url = `http://127.0.0.1:${(issuer.server.address() as AddressInfo).port}`;
    return issuer;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private get configuration() {
    return { issuer: this.url, jwks_uri: `${this.url}/jwks` };
  }
}

const FETCHED_ONCE = ['/.well-known/openid-configuration', '/jwks'];

const now = () => Math.floor(Date.now() / 1_000);

let pairs: readonly KeyPair[];
let stranger: KeyPair;
let issuer: Issuer;
let server: SignInServer;
let tenant: Tenant;

beforeAll(async () => {
  const generated = Array.from({ length: 3 }, () => generateKeyPair('RS256'));
  [stranger, ...pairs] = (await Promise.all(generated)) as [KeyPair, ...KeyPair[]];
});
beforeEach(async () => {
  issuer = await Issuer.start(pairs);
  const settings = { oauth: false, oauthIssuer: issuer.url };
  server = await SignInServer.start({ settings });
  tenant = await server.app.organization();
});
afterEach(async () => {
  await server.stop();
  issuer.stop();
});

function sign(key: CryptoKey, header: object = {}, other: object = {}): Promise<string> {
  const claims = {
    ...{ iss: issuer.url, aud: server.resource, sub: 'ada', organization_id: tenant.id },
    ...{ scope: 'leads:read', exp: now() + 300, ...other },
  };
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', ...header }).sign(key);
}

async function statusOf(token: string): Promise<number> {
  const call = { name: 'list_leads', arguments: {} };
  const request = statelessRequest('tools/call', call);
  return (await server.mcp(token, request, mirrorHeaders('tools/call', call))).status;
}

describe('a token without kid', () => {
  it('is accepted if any key of the issuer has signed it', async () => {
    for (const key of issuer.privateKeys) expect(await statusOf(await sign(key))).toBe(200);
  });

  it('is 401 if another key has signed it', async () => {
    expect(await statusOf(await sign(stranger.privateKey))).toBe(401);
  });

  it('is 401 without a signature, and keeps the keys of the issuer', async () => {
    const [key] = issuer.privateKeys;
    for (let count = 0; count < 3; count++) {
      expect(await statusOf(`eyJhbGciOiJSUzI1NiJ9.e30.A${count}`)).toBe(401);
      expect(await statusOf(await sign(key!, { kid: '0' }, { jti: count }))).toBe(200);
    }
    expect(issuer.requests).toEqual(FETCHED_ONCE);
  });

  it('is 401 if it has expired', async () => {
    const [key] = issuer.privateKeys;
    expect(await statusOf(await sign(key!, {}, { exp: now() - 60 }))).toBe(401);
  });
});

it('the keys are used for ten minutes while the issuer does not answer', async () => {
  const [key] = issuer.privateKeys;
  expect(await statusOf(await sign(key!, { kid: '0' }))).toBe(200);
  issuer.isDown = true;
  const clock = jest.spyOn(Date, 'now');
  const after = (ms: number) => {
    clock.mockImplementation(() => performance.timeOrigin + performance.now() + ms);
  };
  after(60_000);
  expect(await statusOf(await sign(key!, { kid: 'unknown' }))).toBe(503);
  expect(await statusOf(await sign(key!, { kid: '0' }))).toBe(200);
  after(660_000);
  expect(await statusOf(await sign(key!, { kid: '0' }))).toBe(503);
  issuer.isDown = false;
  expect(await statusOf(await sign(key!, { kid: '0' }))).toBe(200);
  clock.mockRestore();
});

it('a token whose end is no date is 401', async () => {
  const [key] = issuer.privateKeys;
  expect(await statusOf(await sign(key!, { kid: '0' }, { exp: 1e15 }))).toBe(401);
});

it('a token at /api is 401 and does not make the service ask the issuer', async () => {
  issuer.isDown = true;
  const [key] = issuer.privateKeys;
  const token = await sign(key!, { kid: '0' });
  expect((await server.app.client(token).get('/api/v1/leads')).status).toBe(401);
  expect((await server.app.client(token).get('/unknown')).status).toBe(404);
  expect(issuer.requests).toEqual([]);
});
