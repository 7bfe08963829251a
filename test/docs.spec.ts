import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expectError, LEADS } from './support/factories.js';
import { TestApp } from './support/harness.js';

const CHROMIUM = '/usr/bin/chromium';

/** A browser that starts cold on a busy machine takes its time. */
const BROWSER_TIMEOUT_MS = 60_000;

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const FILES = ['/docs', '/docs/start.js', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js'];

describe('/docs (decisions 7: pages)', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.stop());

  it.each(FILES)('answers %s to everyone, without a key or a limit', async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await fetch(app.url + path, { method });
      expect(status).toBe(200);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    }
  });

  it('lets the page load only what is its own', async () => {
    const { headers } = await fetch(`${app.url}/docs`);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain('unsafe');
  });

  it.each([
    '/docs/',
    '/docs/package.json',
    '/docs/swagger-ui.js',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/swagger-ui.css%00',
  ])('answers no other file: %s', async (path) => {
    expectError(await app.client().get(path), 404, 'not_found');
  });

  it('can be switched off, and the document stays', async () => {
    const without = await TestApp.start({ settings: { docs: false } });
    for (const path of FILES) expectError(await without.client().get(path), 404, 'not_found');
    expect((await without.client().get('/openapi.json')).status).toBe(200);
    await without.stop();
  });
});

const hasChromium = existsSync(CHROMIUM);
const note = hasChromium ? '' : ` (skipped: there is no ${CHROMIUM})`;

(hasChromium ? describe : describe.skip)(`/docs in a browser${note}`, () => {
  let app: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    app = await TestApp.start();
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  }, BROWSER_TIMEOUT_MS);
  afterAll(async () => {
    await browser.close();
    await app.stop();
  });

  it(
    'creates a lead by "Try it out", and asks no other host for anything',
    async () => {
      const { api, key } = await app.organization();
      const page = await browser.newPage();
      const faults = faultsOf(page, app.url);
      await page.goto(`${app.url}/docs#/Leads/leadsCreate`);
      await authorize(page, key.key);

      const operation = page.locator('#operations-Leads-leadsCreate');
      await operation.getByRole('button', { name: 'Try it out' }).click();
      const example = await operation.locator('textarea').inputValue();
      await operation.getByRole('button', { name: 'Execute' }).click();
      const status = operation.locator('.live-responses-table tbody .response-col_status');
      expect(await status.first().innerText()).toContain('201');

      const { body } = await api.get(`${LEADS}?search=hopper`);
      const [{ id }] = (body as { data: [{ id: string }] }).data;
      const created = await api.get(`${LEADS}/${id}`);
      expect(created.body).toMatchObject({ data: JSON.parse(example) as object });
      expect(faults).toEqual([]);
    },
    BROWSER_TIMEOUT_MS,
  );
});

/** Enters a key as people do. */
async function authorize(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const dialog = page.locator('.dialog-ux');
  await dialog.getByRole('textbox').fill(key);
  await dialog.getByRole('button', { name: 'Apply credentials' }).click();
  await dialog.getByRole('button', { name: 'Close' }).click();
}

/** Collects what a page must not do: complain, fail, or ask another host. */
function faultsOf(page: Page, url: string): string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()}`));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && origin !== url) faults.push(`left the host: ${request.url()}`);
  });
  return faults;
}
