import { randomUUID } from 'node:crypto';
import { generateKeyPair, type JWTPayload, UnsecuredJWT } from 'jose';
import {
  createLead,
  dataOf,
  expectError,
  McpHttpClient,
  type Tenant,
  TestApp,
} from 'latitude/testing';
import { signInExtension } from '../src/sign-in.extension.js';
import { FakeIssuer } from './fake-issuer.js';

const LEADS = '/api/v1/leads';
const AUDIENCE = 'https://latitude.example.com';

let issuer: FakeIssuer;
let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  issuer = await FakeIssuer.start();
  app = await startApp();
  tenant = await app.organization();
});
afterAll(async () => {
  await app.stop();
  await issuer.stop();
});

function startApp(): Promise<TestApp> {
  const env = { SIGN_IN_ISSUER: issuer.url, SIGN_IN_AUDIENCE: AUDIENCE };
  return TestApp.start({ extensions: [signInExtension], env });
}

/** Seconds since the epoch. */
const secondsFromNow = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;

const claims = (others: JWTPayload = {}): JWTPayload => ({
  iss: issuer.url,
  aud: AUDIENCE,
  sub: 'ada',
  exp: secondsFromNow(60),
  organization_id: tenant.id,
  scope: 'openid leads:read leads:write',
  ...others,
});

describe('an access token', () => {
  it('reads and writes the records of its organization', async () => {
    const api = app.client(await issuer.sign(claims()));
    const { id } = await createLead(api);
    expect(dataOf(await tenant.api.get(`${LEADS}/${id}`))).toMatchObject({ id });
    expect(dataOf(await api.get('/api/v1/me'))).toMatchObject({
      key: { name: 'ada' },
      scopes: ['leads:read', 'leads:write'],
    });
  });

  it('is a credential of /mcp', async () => {
    const mcp = new McpHttpClient(app.url, await issuer.sign(claims()));
    const answer = await mcp.statelessRpc('tools/call', { name: 'whoami', arguments: {} });
    expect(answer.body).toMatchObject({ result: { structuredContent: { key: { name: 'ada' } } } });
  });

  it.each([
    ['another scope', 'tasks:read'],
    ['no scope', undefined],
  ])('with %s is 403', async (_, scope) => {
    const api = app.client(await issuer.sign(claims({ scope })));
    expectError(await api.get(LEADS), 403, 'insufficient_scope');
  });

  const keyOfAnother = async () => (await generateKeyPair('ES256')).privateKey;
  it.each<[string, () => string | Promise<string>]>([
    ['of another issuer', () => issuer.sign(claims({ iss: 'https://example.com' }))],
    ['for another audience', () => issuer.sign(claims({ aud: 'https://example.com' }))],
    ['that has expired', () => issuer.sign(claims({ exp: secondsFromNow(-1) }))],
    ['without an expiry', () => issuer.sign(claims({ exp: undefined }))],
    ['of an unknown organization', () => issuer.sign(claims({ organization_id: randomUUID() }))],
    ['with the signature of another key', async () => issuer.sign(claims(), await keyOfAnother())],
    ['with the algorithm none', () => new UnsecuredJWT(claims()).encode()],
    ['that is no JWT', () => 'secret'],
  ])('%s is 401', async (_, token) => {
    expectError(await app.client(await token()).get(LEADS), 401, 'unauthorized');
  });
});

it('answers 500 and not 401 while the keys of the identity provider cannot be read', async () => {
  const other = await startApp();
  issuer.status = 503;
  const { id } = await other.organization();
  const token = await issuer.sign(claims({ organization_id: id }));
  expectError(await other.client(token).get(LEADS), 500, 'internal_error');
  issuer.status = 200;
  dataOf(await other.client(token).get(LEADS));
  await other.stop();
});

it('leaves API keys valid', async () => {
  dataOf(await tenant.api.get(LEADS));
});
