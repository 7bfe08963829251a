import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthRepository } from '../../../src/modules/oauth/oauth.repository.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { createHttpServer } from '../servers/http-server.js';

/** A server with sign-in behind a proxy, whose address is the public URL. */
export class SignInServer {
  private constructor(
    readonly url: string,
    readonly app: TestApp,
    private readonly proxy: http.Server,
    private readonly agent: http.Agent,
  ) {}

  static async start(options: Parameters<typeof TestApp.start>[0] = {}): Promise<SignInServer> {
    let port = 0;
    const agent = new http.Agent({ keepAlive: true });
    const proxy = createHttpServer((request, response) => {
      const { method, url: path, headers } = request;
      const passed = http.request({ agent, host: '127.0.0.1', port, method, path, headers });
      request.pipe(passed);
      passed.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const trustProxy = ['loopback'];
    const settings = { oauth: true, publicUrl: url, trustProxy, ...options.settings };
    const app = await TestApp.start({ ...options, settings });
    port = app.port;
    return new SignInServer(url, app, proxy, agent);
  }

  async stop(): Promise<void> {
    this.proxy.closeAllConnections();
    this.proxy.close();
    this.agent.destroy();
    await this.app.stop();
  }

  /** What oidc-provider stores. Imported here, so that the server has loaded oidc-provider, which prints a warning. */
  async repository(): Promise<OAuthRepository> {
    const { OAuthRepository: token } =
      await import('../../../src/modules/oauth/oauth.repository.js');
    return this.app.app.get(token, { strict: false });
  }

  /** Registers a client and returns its id. */
  async register(metadata: object = {}): Promise<string> {
    const answer = await this.post('/oauth/register', {
      redirect_uris: [REDIRECT_URI],
      client_name: 'Test client',
      ...metadata,
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    return ((await answer.json()) as { client_id: string }).client_id;
  }

  /** Sends JSON, by default from an address of its own. */
  post(path: string, body: object, address = newAddress()): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
      body: JSON.stringify(body),
    });
  }

  /** Sends a form to the token endpoint. */
  async token(parameters: Record<string, string>): Promise<{ status: number; body: Tokens }> {
    const answer = await fetch(`${this.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(parameters),
    });
    return { status: answer.status, body: (await answer.json()) as Tokens };
  }

  get resource(): string {
    return `${this.url}/mcp`;
  }

  /** Signs in by the page and returns what the token endpoint answers. */
  async signIn(key: string, { scopes, ...options }: Partial<SignIn> = {}): Promise<SignedIn> {
    const clientId = options.clientId ?? (await this.register());
    const { verifier, url } = this.authorizationUrl(clientId, options.parameters);
    const browser = new Browser(this.url);
    await browser.open(url);
    await browser.submit({ action: 'continue', key });
    const location = await browser.submit({ action: 'grant', scope: scopes ?? browser.scopes });
    const code = new URL(location).searchParams.get('code') ?? '';
    const { status, body } = await this.token({
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      code,
      code_verifier: verifier,
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return { ...body, clientId, code, verifier };
  }

  /** The URL to which a client sends the browser. */
  authorizationUrl(clientId: string, parameters: Record<string, string> = {}) {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = {
      client_id: clientId,
      response_type: 'code',
      redirect_uri: REDIRECT_URI,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      resource: this.resource,
      state: 'state',
      ...parameters,
    };
    return {
      verifier,
      url: `${this.url}/oauth/authorize?${new URLSearchParams(query).toString()}`,
    };
  }

  /** Sends a message to /mcp with a token. */
  mcp(token: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.resource, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    });
  }
}

export const REDIRECT_URI = 'https://client.example/callback';

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
  token_type: string;
  error?: string;
  error_description?: string;
}

export type SignedIn = Tokens & { clientId: string; code: string; verifier: string };

interface SignIn {
  clientId: string;
  scopes: readonly string[];
  parameters: Record<string, string>;
}

/** An address that no other caller of the tests has, because limits count addresses. */
function newAddress(): string {
  return `10.${[...randomBytes(3)].join('.')}`;
}

/** A browser without scripts: it keeps cookies by their paths, follows redirects and submits the form. */
export class Browser {
  /** The cookies by name and path. */
  readonly cookies = new Map<string, { name: string; value: string; path: string }>();
  status = 0;
  headers = new Headers();
  html = '';
  /** The URL of the page. */
  url = '';
  private readonly address = newAddress();

  constructor(private readonly origin: string) {}

  /** The scopes that the page offers. */
  get scopes(): string[] {
    return [...this.html.matchAll(/name="scope" value="([^"]*)"/g)].map(([, scope = '']) => scope);
  }

  /**
   * Opens a page.
   * @returns the URL of another site, if the redirects lead to one
   */
  open(url: string): Promise<string> {
    return this.request(url, {});
  }

  /** Submits the form of the page, with values in place of its fields. */
  submit(
    fields: Record<string, string | readonly string[]>,
    headers: Record<string, string> = {},
    url = this.url,
  ): Promise<string> {
    const body = new URLSearchParams();
    for (const [name, values] of Object.entries(fields)) {
      for (const value of [values].flat()) body.append(name, value);
    }
    return this.request(url, {
      method: 'POST',
      body,
      headers: { Origin: this.origin, ...headers },
    });
  }

  private async request(url: string, init: RequestInit): Promise<string> {
    if (!url.startsWith(`${this.origin}/`)) return url;
    const answer = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: {
        Accept: 'text/html',
        Cookie: this.cookiesFor(url),
        'X-Forwarded-For': this.address,
        ...init.headers,
      },
    });
    for (const line of answer.headers.getSetCookie()) this.store(line);
    const location = answer.headers.get('location');
    if (location) return this.request(new URL(location, url).href, {});
    this.status = answer.status;
    this.headers = answer.headers;
    this.html = await answer.text();
    this.url = url;
    return url;
  }

  private cookiesFor(url: string): string {
    const { pathname } = new URL(url);
    const sent = [...this.cookies.values()].filter(({ path }) => pathname.startsWith(path));
    return sent.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  private store(line: string): void {
    const [pair = ''] = line.split(';', 1);
    const [name = '', value = ''] = pair.split('=');
    const path = /; path=([^;]*)/i.exec(line)?.[1] ?? '/';
    if (value === '') this.cookies.delete(`${name} ${path}`);
    else this.cookies.set(`${name} ${path}`, { name, value, path });
  }
}
