import { captureLog } from '../../support/captured-log.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { Browser, REDIRECT_URI, SignInServer } from '../../support/oauth/sign-in-server.js';

let server: SignInServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await SignInServer.start();
  tenant = await server.app.organization();
});
afterAll(() => server.stop());

/** A browser that shows the page of an authorization. */
async function atPage(metadata: object = {}, parameters: Record<string, string> = {}) {
  const browser = new Browser(server.url);
  const clientId = await server.register(metadata);
  await browser.open(server.authorizationUrl(clientId, parameters).url);
  return browser;
}

const grants = () =>
  server.app.sql<{ scopes: string[] }>(
    'select * from oauth_grants where organization_id = $1 order by created_at',
    [tenant.id],
  );

describe('the page of a registered client', () => {
  it('leads with the host of the redirect and calls the name unverified', async () => {
    const { html, status } = await atPage({ client_name: 'ChatGPT <b>' });
    expect(status).toBe(200);
    expect(html).toContain('Connect <strong>client.example</strong> to Latitude?</h1>');
    expect(html).toContain('the name “ChatGPT &lt;b&gt;”, which is unverified');
  });

  it('warns of a program on the computer', async () => {
    const redirect_uri = 'http://127.0.0.1:9999/callback';
    const page = await atPage({ redirect_uris: ['http://127.0.0.1/callback'] }, { redirect_uri });
    expect(page.html).toContain('Connect <strong>a program on your computer</strong>');
    expect(page.html).toContain('any program on your computer can ask for it');
  });

  it('names the scheme of an application', async () => {
    const redirect_uri = 'cursor://anysphere.cursor/callback';
    const page = await atPage({ redirect_uris: [redirect_uri] }, { redirect_uri });
    expect(page.html).toContain('an application for cursor: links');
  });

  it('says in words what the client asks for, and until when', async () => {
    const page = await atPage({}, { scope: 'leads:read leads:write' });
    expect(page.html).toContain('<li>Read leads</li><li>Create, change and delete leads</li>');
    expect(page.html).not.toContain('tasks');
    await page.submit({ action: 'continue', key: tenant.key.key });
    const end = new Date(Date.now() + 180 * 24 * 3_600_000).toISOString().slice(0, 10);
    expect(page.html).toContain(`<time datetime="${end}`);
    expect(page.scopes).toEqual(['leads:read', 'leads:write']);
  });
});

describe('the scopes that are checked beforehand', () => {
  const checkedFor = async (parameters: Record<string, string>) => {
    const page = await atPage({}, parameters);
    await page.submit({ action: 'continue', key: tenant.key.key });
    const inputs = [...page.html.matchAll(/name="scope" value="([^"]*)" checked/g)];
    return { offered: page.scopes, checked: inputs.map(([, scope]) => scope) };
  };
  const READING = ['appointments:read', 'leads:read', 'tasks:read'];

  it.each([
    ['no scope', {}],
    ['only scopes that are unknown', { scope: 'claudeai offline_access' }],
  ])('are those that read if the client names %s', async (_, parameters) => {
    const { offered, checked } = await checkedFor(parameters);
    expect(offered).toHaveLength(6);
    expect(checked).toEqual(READING);
  });

  it('are also those that the client names', async () => {
    const scope = 'leads:read leads:write tasks:read';
    expect((await checkedFor({ scope })).checked).toEqual(scope.split(' '));
  });

  it('do not depend on a parameter of the client', async () => {
    expect((await checkedFor({ named_scopes: 'leads:write' })).checked).toEqual(READING);
  });
});

it('says where a key comes from, and begins at the heading', async () => {
  const page = await atPage();
  expect(page.html).toContain(
    'The person who administers Latitude in your organization creates it',
  );
  expect(page.html).toMatch(/<h1 tabindex="-1" autofocus>/);
  await page.submit({ action: 'continue', key: tenant.key.key });
  expect(page.html).toMatch(/<h1 tabindex="-1" autofocus>/);
  expect(page.html.match(/autofocus/g)).toHaveLength(1);
});

it('ends a grant with its key', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const { key } = await server.app.key(tenant.id, ['leads:read'], { expiresAt });
  const page = await atPage();
  await page.submit({ action: 'continue', key: key.key });
  expect(page.html).toContain(`<time datetime="${expiresAt.toISOString()}">`);
});

it('offers only what both the client asks for and the key has', async () => {
  const { key } = await server.app.key(tenant.id, ['leads:read', 'tasks:read', 'events:read']);
  const page = await atPage({}, { scope: 'leads:read leads:write events:read' });
  await page.submit({ action: 'continue', key: key.key });
  expect(page.scopes).toEqual(['leads:read']);
});

it('shows the page again for each authorization of the same client', async () => {
  const clientId = await server.register();
  const browser = new Browser(server.url);
  for (let time = 0; time < 2; time++) {
    await browser.open(server.authorizationUrl(clientId).url);
    expect(browser.html).toContain('name="key"');
    await browser.submit({ action: 'continue', key: tenant.key.key });
    await browser.submit({ action: 'grant', scope: browser.scopes });
  }
});

describe('the answer of the person', () => {
  it('to refuse returns access_denied with iss, and grants nothing', async () => {
    const before = await grants();
    const page = await atPage();
    const { searchParams, origin } = new URL(await page.submit({ action: 'refuse' }));
    expect(origin).toBe(new URL(REDIRECT_URI).origin);
    expect(Object.fromEntries(searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'The person has refused the access.',
      state: 'state',
      iss: server.url,
    });
    expect(await grants()).toEqual(before);
  });

  it('to grant returns a code with state and iss', async () => {
    const page = await atPage();
    await page.submit({ action: 'continue', key: tenant.key.key });
    const location = new URL(await page.submit({ action: 'grant', scope: ['leads:read'] }));
    expect(Object.fromEntries(location.searchParams)).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: 'state',
      iss: server.url,
    });
    expect((await grants()).at(-1)).toMatchObject({ scopes: ['leads:read'] });
  });

  it.each([
    ['a wrong key', { action: 'continue', key: 'lat_wrong' }, /wrong, has expired or was revoked/],
    ['no key', { action: 'continue' }, /wrong, has expired or was revoked/],
  ])('with %s shows the page with the problem', async (_, fields, problem) => {
    const page = await atPage();
    await page.submit(fields);
    expect(page.status).toBe(422);
    expect(page.html).toMatch(/<p class="problem" id="problem" role="alert">/);
    expect(page.html).toMatch(problem);
    const [field] = /<input id="key"[^>]*>/.exec(page.html) ?? [];
    expect(field).toContain('autofocus aria-invalid="true" aria-describedby="problem key-help"');
  });

  it('with a key that has no requested scope shows the problem', async () => {
    const { key } = await server.app.key(tenant.id, ['events:read']);
    const page = await atPage();
    await page.submit({ action: 'continue', key: key.key });
    expect(page.html).toContain('none of the scopes');
  });

  it('without a scope shows the problem and keeps the key', async () => {
    const page = await atPage();
    await page.submit({ action: 'continue', key: tenant.key.key });
    await page.submit({ action: 'grant' });
    expect(page.html).toContain('Choose at least one permission');
    expect(page.html).toMatch(
      /type="checkbox"[^>]* aria-invalid="true" aria-describedby="problem"/,
    );
    expect(page.scopes).toContain('leads:read');
  });

  it('to use another key asks for a key again', async () => {
    const page = await atPage();
    await page.submit({ action: 'continue', key: tenant.key.key });
    await page.submit({ action: 'restart' });
    expect(page.html).toContain('name="key"');
  });

  it('with a key that ends meanwhile grants nothing', async () => {
    const other = await server.app.key(tenant.id, ['leads:read']);
    const page = await atPage();
    await page.submit({ action: 'continue', key: other.key.key });
    await server.app.revoke(other);
    await page.submit({ action: 'grant', scope: ['leads:read'] });
    expect(page.html).toContain('The API key has expired or was revoked');
  });
});

describe('the headers', () => {
  it('forbid scripts, framing and storage of the page, and let the callback forward to any origin', async () => {
    const { headers, html } = await atPage();
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(html).not.toContain('<script');
  });

  it('set cookies that are Lax, HttpOnly, last ten minutes and belong to the authorization', async () => {
    const { url } = server.authorizationUrl(await server.register());
    const { headers } = await fetch(url, { redirect: 'manual' });
    const cookies = headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/; path=\/oauth\/(consent|authorize)\/[\w-]{43};/);
      expect(cookie).toMatch(/; samesite=lax; httponly$/i);
      const [, expires = ''] = /expires=([^;]+)/.exec(cookie) ?? [];
      const seconds = (Date.parse(expires) - Date.now()) / 1_000;
      expect(seconds).toBeGreaterThan(590);
      expect(seconds).toBeLessThanOrEqual(600);
    }
  });

  it('set secure cookies if the public URL has HTTPS', async () => {
    const secure = await SignInServer.start({ settings: { publicUrl: 'https://crm.example' } });
    const clientId = await secure.register();
    const { url } = secure.authorizationUrl(clientId, { resource: 'https://crm.example/mcp' });
    const { headers } = await fetch(url, { redirect: 'manual' });
    expect(headers.get('location')).toMatch(/^\/oauth\/consent\//);
    for (const cookie of headers.getSetCookie()) expect(cookie).toMatch(/; secure/i);
    await secure.stop();
  });
});

describe('a form', () => {
  it.each([
    ['another site', { Origin: 'https://evil.example' }],
    ['a page without an origin', { Origin: 'null' }],
  ])('from %s is 403', async (_, headers) => {
    const page = await atPage();
    await page.submit({ action: 'continue', key: tenant.key.key }, headers);
    expect(page.status).toBe(403);
    expect(page.html).toContain('The form was sent by a page of another site.');
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page.html).not.toContain('origin_not_allowed');
  });

  it('for the authorization of another browser is refused', async () => {
    const [victim, attacker] = [await atPage(), await atPage()];
    await attacker.submit({ action: 'continue', key: tenant.key.key }, {}, victim.url);
    expect(attacker.status).toBe(400);
    expect(attacker.html).toContain('started in another browser');
  });

  it('that is sent again creates no second grant and leads to the same place', async () => {
    const page = await atPage();
    await page.submit({ action: 'continue', key: tenant.key.key });
    const { url } = page;
    const cookies = new Map(page.cookies);
    await page.submit({ action: 'grant', scope: page.scopes });
    const count = (await grants()).length;
    for (const [name, cookie] of cookies) page.cookies.set(name, cookie);
    await page.submit({ action: 'grant', scope: ['leads:read'] }, {}, url);
    expect(page.status).toBe(400);
    expect(page.html).toContain('This sign-in has ended');
    expect(await grants()).toHaveLength(count);
  });

  it('that is sent twice at once creates one grant', async () => {
    const page = await atPage();
    await page.submit({ action: 'continue', key: tenant.key.key });
    const count = (await grants()).length;
    await Promise.all([1, 2, 3].map(() => page.submit({ action: 'grant', scope: page.scopes })));
    expect(await grants()).toHaveLength(count + 1);
  });

  it('is too large at 16 KiB', async () => {
    const page = await atPage();
    await page.submit({ action: 'continue', key: 'x'.repeat(20_000) });
    expect(page.status).toBe(413);
  });
});

it('ends with the answer: the page says so after going back', async () => {
  const page = await atPage();
  const { url } = page;
  await page.submit({ action: 'refuse' });
  await page.open(url);
  expect(page.status).toBe(400);
  expect(page.html).toContain('This sign-in has ended');
});

it('ends after ten minutes', async () => {
  const page = await atPage();
  await server.app.sql(
    `update oauth_artifacts set expires_at = expires_at - interval '10 minutes' where kind = 'Interaction'`,
  );
  await page.submit({ action: 'continue', key: tenant.key.key });
  expect(page.html).toContain('This sign-in has ended');
});

it('keeps two tabs apart', async () => {
  const browser = new Browser(server.url);
  const [one, two] = [await server.register(), await server.register()];
  await browser.open(server.authorizationUrl(one, { state: 'one' }).url);
  const first = browser.url;
  await browser.open(server.authorizationUrl(two, { state: 'two' }).url);
  const second = browser.url;
  const grant = async (url: string, scope: string) => {
    await browser.submit({ action: 'continue', key: tenant.key.key }, {}, url);
    return new URL(await browser.submit({ action: 'grant', scope }, {}, url)).searchParams;
  };
  expect((await grant(second, 'tasks:read')).get('state')).toBe('two');
  expect((await grant(first, 'leads:read')).get('state')).toBe('one');
  const scopes = (await grants()).slice(-2).map((granted) => granted.scopes);
  expect(scopes).toEqual([['tasks:read'], ['leads:read']]);
});

describe('the key', () => {
  const log = captureLog('trace');

  it('is in no URL, no log, no page and no table', async () => {
    const page = await atPage();
    await page.submit({ action: 'continue', key: tenant.key.key });
    expect(page.html).not.toContain(tenant.key.key);
    const location = await page.submit({ action: 'grant', scope: page.scopes });
    expect(location).not.toContain(tenant.key.key);
    expect(log.join('\n')).toContain('/oauth/consent/:uid');
    expect(log.join('\n')).not.toContain(tenant.key.key);
    const stored = await server.app.sql('select * from oauth_artifacts');
    expect(JSON.stringify(stored)).not.toContain(tenant.key.key);
  });

  it('counts as a request without a valid key', async () => {
    const limited = await SignInServer.start({ settings: { readsPerMinute: 3 } });
    const browser = new Browser(limited.url);
    await browser.open(limited.authorizationUrl(await limited.register()).url);
    const { url } = browser;
    const headers = { 'X-Forwarded-For': '10.7.7.7' };
    const withoutKey = await fetch(`${limited.url}/api/v1/leads`, { method: 'POST', headers });
    const statuses = [withoutKey.status];
    for (let attempt = 0; attempt < 3; attempt++) {
      await browser.submit({ action: 'continue', key: 'lat_guess' }, headers, url);
      statuses.push(browser.status);
    }
    expect(statuses).toEqual([401, 422, 422, 429]);
    expect(browser.headers.get('content-type')).toMatch(/^text\/html/);
    expect(browser.html).toMatch(/Wait \d+ seconds before you try again/);
    await limited.stop();
  });
});
