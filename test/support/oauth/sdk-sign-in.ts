import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { REDIRECT_URI } from './sign-in-server.js';

/** The SDK: version 1 speaks the revisions with sessions, version 2 the one without. */
export const SDKS = ['v1', 'v2'] as const;
export type Sdk = (typeof SDKS)[number];

/** What an application keeps for the client of an SDK. It opens no browser itself. */
export class SignInState {
  redirectUrl = REDIRECT_URI;
  /** The URL of the metadata document of the client. Without one, it registers itself. */
  clientMetadataUrl: string | undefined;
  clientMetadata = {
    client_name: 'SDK client',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  client: { client_id: string } | undefined;
  stored: { access_token: string; token_type: string; refresh_token?: string } | undefined;
  /** The URL at which the person has to sign in. */
  authorizationUrl = '';
  private verifier = '';
  private discovery: unknown;

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client: { client_id: string }): void {
    this.client = client;
  }

  tokens() {
    return this.stored;
  }

  saveTokens(tokens: NonNullable<SignInState['stored']>): void {
    this.stored = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url.href;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  saveDiscoveryState(discovery: unknown): void {
    this.discovery = discovery;
  }

  discoveryState() {
    return this.discovery as never;
  }

  invalidateCredentials(scope: string): void {
    if (scope === 'all' || scope === 'tokens') this.stored = undefined;
    if (scope === 'all' || scope === 'client') this.client = undefined;
  }

  codeVerifier(): string {
    return this.verifier;
  }
}

/** The client of an SDK, which knows only the URL of /mcp. */
export class SdkClient {
  private transport: StreamableHTTPClientTransport | TransportV2;
  private client: Client | ClientV2;

  constructor(
    private readonly sdk: Sdk,
    private readonly url: string,
    readonly state = new SignInState(),
  ) {
    this.transport = this.newTransport();
    this.client = this.newClient();
  }

  /** Connects. @throws the error of the SDK if the person has to sign in first */
  async connect(): Promise<void> {
    await this.client.close();
    this.transport = this.newTransport();
    this.client = this.newClient();
    await this.client.connect(this.transport);
  }

  /** Continues with what the redirect brought back. */
  async finish(location: string): Promise<void> {
    const { searchParams } = new URL(location);
    if (this.transport instanceof TransportV2) await this.transport.finishAuth(searchParams);
    else await this.transport.finishAuth(searchParams.get('code') ?? '');
  }

  async tools(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }

  async call(name: string, args: Record<string, unknown> = {}) {
    const result = await this.client.callTool({ name, arguments: args });
    return result.structuredContent as Record<string, unknown>;
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  private newTransport() {
    const options = { authProvider: this.state as never };
    return this.sdk === 'v1'
      ? new StreamableHTTPClientTransport(new URL(this.url), options)
      : new TransportV2(new URL(this.url), options);
  }

  private newClient() {
    const info = { name: 'SDK client', version: '1' };
    return this.sdk === 'v1'
      ? new Client(info)
      : new ClientV2(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  }
}
