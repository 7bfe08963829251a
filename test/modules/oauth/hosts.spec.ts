import { rpcRequest, initializeRequest, sessionHeader } from '../../../src/testing/mcp-client.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { DocumentServer } from '../../support/oauth/document-server.js';
import { Browser, SignInServer } from '../../support/oauth/sign-in-server.js';

/** What a host sends, as its documentation and `docs/guides/sign-in-hosts.md` say. */
interface Host {
  /** How the host identifies itself. */
  readonly client: 'document' | 'registration';
  readonly metadata: object;
  readonly redirect: string;
  /** What the user has entered, after the public URL. */
  readonly path?: string;
  /** Further parameters of the authorization. */
  readonly parameters?: Record<string, string>;
}

const HOSTS: Record<string, Host> = {
  'claude.ai, with a metadata document': {
    client: 'document',
    metadata: { client_name: 'Claude', grant_types: ['authorization_code', 'refresh_token'] },
    redirect: 'https://claude.ai/api/mcp/auth_callback',
  },
  'claude.ai, with a registration, a scope of its own and a slash at the end of the URL': {
    client: 'registration',
    metadata: {
      client_name: 'Claude',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'claudeai',
    },
    redirect: 'https://claude.ai/api/mcp/auth_callback',
    path: '/mcp/',
    parameters: { scope: 'claudeai' },
  },
  'ChatGPT, which asks for offline access': {
    client: 'registration',
    metadata: {
      client_name: 'ChatGPT',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    redirect: 'https://chatgpt.com/connector_platform_oauth_redirect',
    parameters: { scope: 'leads:read offline_access', prompt: 'consent' },
  },
  'Codex, with any port': {
    client: 'document',
    metadata: { client_name: 'Codex' },
    redirect: 'http://127.0.0.1:1455/callback',
  },
  'Claude Code, with any port': {
    client: 'document',
    metadata: { client_name: 'Claude Code' },
    redirect: 'http://localhost:54545/callback',
  },
  'VS Code': {
    client: 'document',
    metadata: { client_name: 'Visual Studio Code', application_type: 'native' },
    redirect: 'http://127.0.0.1:33418/',
  },
  'Cursor, with a scheme of its own': {
    client: 'registration',
    metadata: { client_name: 'Cursor', token_endpoint_auth_method: 'none' },
    redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
  },
  Inspector: {
    client: 'registration',
    metadata: { client_name: 'MCP Inspector', token_endpoint_auth_method: 'none' },
    redirect: 'http://localhost:6274/oauth/callback',
    parameters: { nonce: 'n', access_type: 'offline' },
  },
};

let server: SignInServer;
let documents: DocumentServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await SignInServer.start();
  documents = await DocumentServer.start();
  tenant = await server.app.organization();
});
afterAll(async () => {
  documents.stop();
  await server.stop();
});

/** The redirect as the client registers it: without the port of the moment. */
const registeredRedirect = (redirect: string) => redirect.replace(/(?<=^http:\/\/[^/]+):\d+/, '');

async function clientIdOf({ client, metadata, redirect }: Host): Promise<string> {
  const redirect_uris = [registeredRedirect(redirect)];
  if (client === 'registration') return server.register({ ...metadata, redirect_uris });
  const path = `/${crypto.randomUUID()}.json`;
  return documents.serve(path, {
    token_endpoint_auth_method: 'none',
    ...metadata,
    redirect_uris,
  });
}

describe.each(Object.entries(HOSTS))('%s', (_, host) => {
  it('discovers the server, signs in, opens a session and refreshes its tokens', async () => {
    const { redirect, path = '/mcp', parameters = {} } = host;
    const entered = server.url + path;
    const refused = await fetch(entered, { method: 'POST', body: '{}' });
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const [, metadataUrl = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    const resource = (await (await fetch(metadataUrl)).json()) as Record<string, string[]>;
    expect(resource.resource).toBe(entered);
    const [issuer = ''] = resource.authorization_servers ?? [];
    const found = await fetch(`${issuer}/.well-known/oauth-authorization-server`);
    const metadata = (await found.json()) as Record<string, unknown>;
    expect(metadata.issuer).toBe(issuer);
    // Claude and Codex use documents only with both.
    expect(metadata.client_id_metadata_document_supported).toBe(true);
    expect(metadata.token_endpoint_auth_methods_supported).toContain('none');

    const clientId = await clientIdOf(host);
    const { url, verifier } = server.authorizationUrl(clientId, {
      redirect_uri: redirect,
      resource: entered,
      ...parameters,
    });
    const browser = new Browser(server.url);
    await browser.open(url);
    await browser.submit({ action: 'continue', key: tenant.key.key });
    const location = await browser.submit({ action: 'grant', scope: browser.scopes });
    expect(location.startsWith(`${redirect}?`)).toBe(true);
    const { searchParams } = new URL(location);
    expect(searchParams.get('state')).toBe('state');
    expect(searchParams.get('iss')).toBe(issuer);

    const tokens = await server.token({
      grant_type: 'authorization_code',
      ...{ client_id: clientId, redirect_uri: redirect, resource: entered },
      ...{ code: searchParams.get('code') ?? '', code_verifier: verifier },
    });
    expect(tokens.body).toMatchObject({ token_type: 'Bearer', scope: expect.any(String) });
    const opened = await fetch(entered, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${tokens.body.access_token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(initializeRequest({ protocolVersion: '2025-06-18' })),
    });
    const session = opened.headers.get('mcp-session-id') ?? '';
    const refreshed = await server.token({
      grant_type: 'refresh_token',
      ...{ client_id: clientId, refresh_token: tokens.body.refresh_token, resource: entered },
    });
    const listed = await server.mcp(
      refreshed.body.access_token,
      rpcRequest('tools/list'),
      sessionHeader(session),
    );
    expect(await listed.json()).toMatchObject({ result: { tools: expect.any(Array) } });
  });
});
