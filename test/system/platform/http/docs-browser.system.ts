import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { SCOPES } from '../../../../src/platform/access/scopes.js';
import { LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';

const CHROMIUM = '/usr/bin/chromium';

/** A browser starts slowly on a busy machine. */
const BROWSER_TIMEOUT_MS = 180_000;

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

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

  // One page for all, because it is large. The schemas of all examples are tested without a browser.
  it(
    'the docs page creates records with "Try it out", has repeatable examples, which use the record created last, and sends no requests to other hosts',
    async () => {
      const { api, key } = await app.organization({ scopes: SCOPES });
      const page = await browser.newPage();
      const faults = faultsOf(page, app.url);
      await page.goto(`${app.url}/docs#/Leads/leadsCreate`);
      await authorize(page, key.key);

      await tryOut(page, 'Leads', 'leadsCreate');
      for (const press of [1, 2]) {
        expect([press, await execute(page, 'Leads', 'leadsCreate')]).toEqual([press, '201']);
      }
      const { body } = await api.get(`${LEADS}?search=hopper`);
      const created = { first_name: 'Grace', last_name: 'Hopper' };
      expect(body.data).toMatchObject([created, created]);

      for (const [tag, operation, ...statuses] of [
        ['Leads', 'leadsGet', '200'],
        ['Appointments', 'appointmentsCreate', '201', '201'],
        ['Appointments', 'appointmentsCancel', '200'],
        ['Tasks', 'tasksCreate', '201'],
        ['Resources', 'resourcesCreate', '201'],
        ['Calendars', 'calendarsCreate', '201', '201'],
        ['Holds', 'holdsCreate', '201'],
        ['Holds', 'holdsDelete', '200'],
        ['Custom_fields', 'customFieldsCreate', '201'],
      ] as const) {
        await page.locator(`#operations-${tag}-${operation} .opblock-summary`).click();
        await tryOut(page, tag, operation);
        for (const [press, status] of statuses.entries()) {
          const answered = await execute(page, tag, operation);
          expect([operation, press, answered]).toEqual([operation, press, status]);
        }
      }
      expect(faults).toEqual([]);
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'the docs page keeps the key on reload, starts with leads, collapses errors and follows the color scheme',
    async () => {
      const { key } = await app.organization();
      const page = await browser.newPage({ colorScheme: 'dark' });
      await page.goto(`${app.url}/docs#/Leads/leadsGet`);
      await authorize(page, key.key);
      await page.reload();
      const locked = page.locator('.scheme-container .authorize.locked');
      await locked.waitFor();
      expect(await page.locator('.opblock-tag').first().innerText()).toContain('Leads');
      expect(await page.locator('html.dark-mode').count()).toBe(1);
      const errors = page.locator('#operations-Leads-leadsGet details summary');
      expect(await errors.innerText()).toContain('error responses');
      expect(await page.locator('.info').innerText()).toContain('Quick start');
    },
    BROWSER_TIMEOUT_MS,
  );
});

/** Opens the form of an operation. */
async function tryOut(page: Page, tag: string, operation: string): Promise<void> {
  const block = page.locator(`#operations-${tag}-${operation}`);
  await block.getByRole('button', { name: 'Try it out' }).click();
}

/** Sends the request of a form and returns the status of the response. */
async function execute(page: Page, tag: string, operation: string): Promise<string> {
  const block = page.locator(`#operations-${tag}-${operation}`);
  const answered = page.waitForResponse((response) => {
    const isCall = response.url().includes('/api/v1/') && !response.url().endsWith('limit=1');
    return isCall && response.request().method() !== 'OPTIONS';
  });
  await block.getByRole('button', { name: 'Execute' }).click();
  const status = block.locator('.live-responses-table tbody .response-col_status').first();
  const answer = await answered;
  await status.waitFor();
  return String(answer.status());
}

/** Enters a key in the dialog. */
async function authorize(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const dialog = page.locator('.dialog-ux');
  await dialog.getByRole('textbox').fill(key);
  await dialog.getByRole('button', { name: 'Apply credentials' }).click();
  await dialog.getByRole('button', { name: 'Close' }).click();
}

/** Collects console messages, errors and requests to other hosts. */
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
