import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { SdkClient, SignInState } from '../../../support/oauth/sdk-sign-in.js';
import { SignInServer } from '../../../support/oauth/sign-in-server.js';
import { createHttpServer } from '../../../support/servers/http-server.js';
import { until } from '../../../support/servers/product.js';
import { expectShorter } from '../../../support/times.js';

const CHROMIUM = '/usr/bin/chromium';

/** A browser starts slowly on a busy machine. */
const BROWSER_TIMEOUT_MS = 180_000;

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
];

/** The URL to which the browser returns with a code. */
const RETURNED = /\/callback\?code=/;

const hasChromium = existsSync(CHROMIUM);
const note = hasChromium ? '' : ` (skipped: there is no ${CHROMIUM})`;

(hasChromium ? describe : describe.skip)(`sign-in in a browser${note}`, () => {
  let server: SignInServer;
  let browser: Browser;
  let tenant: Tenant;
  let page: Page;
  /** The page of the client. */
  const application = createHttpServer((_, response) => {
    if (redirectTo === undefined) response.end('done');
    else response.writeHead(302, { Location: redirectTo }).end();
  });
  /** Where the page of the client forwards the browser to. */
  let redirectTo: string | undefined;
  let callback: string;

  beforeAll(async () => {
    // An SDK client prints that its tokens are no longer valid.
    jest.spyOn(console, 'warn').mockImplementation();
    server = await SignInServer.start();
    await once(application.listen(0, '127.0.0.1'), 'listening');
    callback = `http://127.0.0.1:${(application.address() as AddressInfo).port}/callback`;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  }, BROWSER_TIMEOUT_MS);
  beforeEach(async () => {
    tenant = await server.app.organization();
    await tenant.api.post('/api/v1/leads', { first_name: 'Ada' });
    const context = await browser.newContext();
    page = await context.newPage();
  });
  afterEach(() => {
    redirectTo = undefined;
    return page.context().close();
  });
  afterAll(async () => {
    await browser.close();
    application.close();
    await server.stop();
  });

  /** A client of the SDK that waits for the person. */
  async function waiting(redirectUrl = callback): Promise<SdkClient> {
    const state = new SignInState();
    state.redirectUrl = redirectUrl;
    state.clientMetadata.redirect_uris = [redirectUrl];
    const client = new SdkClient('v2', server.resource, state);
    await expect(client.connect()).rejects.toThrow(/Unauthorized/);
    await page.goto(client.state.authorizationUrl);
    return client;
  }

  it(
    'an SDK client that knows only the URL lists leads, and fails within a second after its key is revoked',
    async () => {
      const client = await waiting();
      expect(await page.getByRole('heading').textContent()).toBe(
        'Connect a program on your computer to Latitude?',
      );
      await page.getByLabel('API key').fill(tenant.key.key);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('Create, change and delete tasks').uncheck();
      await page.getByRole('button', { name: 'Grant access' }).click();
      await page.waitForURL(RETURNED);
      await client.finish(page.url());
      await client.connect();
      expect(await client.tools()).not.toContain('create_task');
      expect(await client.call('list_leads')).toMatchObject({ data: [{ first_name: 'Ada' }] });
      await server.app.revoke(tenant);
      const revokedAt = Date.now();
      await until(() =>
        client.call('list_leads').then(
          () => false,
          () => true,
        ),
      );
      expectShorter(Date.now() - revokedAt, 2_000);
      await client.close();
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'returns to a program at the loopback address of IPv6',
    async () => {
      await waiting('http://[::1]:54321/callback');
      await page.getByLabel('API key').fill(tenant.key.key);
      await page.getByRole('button', { name: 'Continue' }).click();
      const returned = page.waitForRequest(RETURNED);
      await page.getByRole('button', { name: 'Grant access' }).click();
      await returned;
    },
    BROWSER_TIMEOUT_MS,
  );

  /** The name of the element that has the focus, and its text. */
  const focused = () =>
    page.evaluate<[string, string]>(
      '[document.activeElement.localName, document.activeElement.textContent]',
    );
  const HEADING = ['h1', 'Connect a program on your computer to Latitude?'];

  it(
    'is usable with the keyboard alone, and reads its problems aloud',
    async () => {
      await waiting();
      expect(await focused()).toEqual(HEADING);
      await page.keyboard.press('Tab');
      await page.keyboard.type('lat_wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      // The field that is wrong has the focus, and the problem describes it.
      const field = page.getByLabel('API key');
      expect(await field.inputValue()).toBe('');
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      const described = `document.activeElement.getAttribute('aria-describedby').split(' ')
        .map((id) => document.getElementById(id).textContent)`;
      expect(await page.evaluate(described)).toEqual([
        'The API key is wrong, has expired or was revoked.',
        expect.stringContaining('Paste a key of your organization'),
      ]);
      await page.keyboard.type(tenant.key.key);
      await page.keyboard.press('Enter');
      await page.getByRole('group', { name: 'Allow it to' }).waitFor();
      expect(await focused()).toEqual(HEADING);
      // Enter at the heading grants nothing.
      await page.keyboard.press('Enter');
      expect(await focused()).toEqual(HEADING);
      for (let tabs = 0; tabs <= 6; tabs++) await page.keyboard.press('Tab');
      expect(await focused()).toEqual(['button', 'Grant access']);
      await page.keyboard.press('Enter');
      await page.waitForURL(RETURNED);
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'lets a callback forward to another origin and to a scheme of an application',
    async () => {
      // A browser opens no application in a test: the request is seen, and the page stays.
      const forwarded = createHttpServer((request, response) => {
        if (request.url === '/app') response.writeHead(302, { Location: 'claude://done' }).end();
        else response.end('forwarded');
      });
      await once(forwarded.listen(0, '127.0.0.1'), 'listening');
      const { port } = forwarded.address() as AddressInfo;
      for (const [path, ended] of [
        ['/page', `http://localhost:${port}/page`],
        ['/app', 'claude://done'],
      ] as const) {
        redirectTo = `http://localhost:${port}${path}`;
        const blocked: string[] = [];
        page.on('console', (message) => blocked.push(message.text()));
        await waiting();
        await page.getByLabel('API key').fill(tenant.key.key);
        await page.getByRole('button', { name: 'Continue' }).click();
        const forwardedTo = page.waitForRequest(ended);
        await page.getByRole('button', { name: 'Grant access' }).click();
        await forwardedTo;
        expect(blocked.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
      }
      forwarded.close();
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'stores no key, shows the end after going back, and keeps two tabs apart',
    async () => {
      const client = await waiting();
      const other = await page.context().newPage();
      await other.goto(client.state.authorizationUrl);
      for (const tab of [page, other]) {
        await tab.getByLabel('API key').fill(tenant.key.key);
        await tab.getByRole('button', { name: 'Continue' }).click();
        await tab.getByRole('button', { name: 'Grant access' }).waitFor();
      }
      const stored = await page.evaluate<string>(
        'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])',
      );
      expect(stored).not.toContain('lat_');
      expect(await page.content()).not.toContain(tenant.key.key);
      for (const tab of [page, other]) {
        await tab.getByRole('button', { name: 'Grant access' }).click();
        await tab.waitForURL(RETURNED);
      }
      await page.goBack();
      expect(await page.getByRole('heading').textContent()).toBe('Sign-in failed');
    },
    BROWSER_TIMEOUT_MS,
  );

  it.each(['light', 'dark'] as const)(
    'has readable text in %s mode, and runs no script',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await waiting();
      const color = await page.evaluate<string>('getComputedStyle(document.body).color');
      const [text = 0, background = 0] = colorScheme === 'dark' ? [1, 0] : [0, 1];
      expect(color).toBe(`rgb(${[text, text, text].map((part) => part * 255).join(', ')})`);
      const canvas = await page.evaluate<string>(`(() => {
        const sample = document.createElement('div');
        sample.style.backgroundColor = 'Canvas';
        document.body.append(sample);
        return getComputedStyle(sample).backgroundColor;
      })()`);
      const [red = ''] = canvas.match(/\d+/g) ?? [];
      expect(Math.abs(Number(red) - background * 255)).toBeLessThan(40);
      expect(await page.locator('script').count()).toBe(0);
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'cannot be framed by another page',
    async () => {
      const client = await waiting();
      await page.goto(callback);
      await page.setContent(`<iframe src="${client.state.authorizationUrl}"></iframe>`);
      const [frame] = page.frames().slice(1);
      await frame?.waitForLoadState();
      expect(await frame?.getByLabel('API key').count()).toBe(0);
    },
    BROWSER_TIMEOUT_MS,
  );
});
