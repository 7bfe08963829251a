import type { Page } from 'playwright-core';
import { createHttpServer } from '../../support/servers/http-server.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';

/** Text that runs where text becomes HTML, an attribute, an address or code. */
const PAYLOADS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '<svg><script>alert&#40;1)</script>',
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '" autofocus onfocus=alert(1) x="',
  "' onmouseover='alert(1)",
  '</title><script>alert(1)</script>',
  '</textarea><script>alert(1)</script>',
  '</script><script>alert(1)</script>',
  '<!--><img src=x onerror=alert(1)>',
  '<iframe src="javascript:alert(1)">',
  '<a href="javascript:alert(1)">x</a>',
  '<details open ontoggle=alert(1)>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<style>@import "https://evil.example/x.css";</style>',
  'javascript:alert(1)',
  ' JaVaScRiPt:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  '{{constructor.constructor("alert(1)")()}}',
  '${alert(1)}',
  '__proto__',
  'constructor',
  '\u202Etxt.exe\u202C',
  '\u2066\u2067right\u2069',
  'مرحبا بالعالم',
  '👩‍👩‍👧‍👦🏳️‍🌈',
  'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘',
  '//evil.example',
  'https://evil.example@127.0.0.1',
];

/** A record whose text, keys and tags are all hostile. */
const leadOf = (payload: string) => ({
  first_name: payload,
  last_name: payload,
  company: payload,
  city: payload,
  status: payload.slice(0, 50),
  external_id: payload,
  notes: payload.repeat(20),
  tags: [payload.slice(0, 50)],
  custom_fields: { [payload]: payload, nested: { [payload]: [payload] } },
});

/** The addresses of links that could do more than open a page. */
const DANGEROUS_LINKS = `[...document.querySelectorAll('a')].map(({ href }) => String(href.baseVal ?? href))
  .filter((href) => !/^(https?|mailto|tel):/.test(new URL(href, location.href).href))`;

async function expectInert(page: Page): Promise<void> {
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  expect(await page.evaluate(DANGEROUS_LINKS)).toEqual([]);
  const added = 'main script, main iframe, main base, main meta, main link, main style, main img';
  expect(await page.locator(added).count()).toBe(0);
}

describeInBrowser('hostile content in the console', (browser) => {
  it(
    'shows as text in each field and custom key, and runs nothing',
    async () => {
      const { app } = browser();
      const tenant = await app.organization({ scopes: app.scopes.every });
      const { api } = tenant;
      const items = PAYLOADS.map((payload) => ({ action: 'create', data: leadOf(payload) }));
      const { body } = await api.post('/api/v1/leads/batch', { items });
      expect(body.meta).toMatchObject({ failed: 0 });
      for (const payload of PAYLOADS.slice(0, 5)) {
        const field = { key: payload, label: payload, description: payload, type: 'select' };
        const options = [{ value: payload, label: payload }];
        expect((await api.post('/api/v1/custom-fields', { ...field, options })).status).toBe(201);
        await api.post('/api/v1/tasks', { title: payload, description: payload });
        await api.post('/api/v1/resources', { name: payload, time_zone: 'UTC' });
      }
      const columns = ['name', 'last_name', 'company', 'status', 'city', 'notes', 'tags'];
      const custom = PAYLOADS.slice(0, 5).map((payload) => `custom_fields.${payload}`);
      const query = new URLSearchParams({ columns: [...columns, ...custom].join(',') });

      const page = await browser().open(tenant, `leads?${query}`);
      for (const payload of PAYLOADS) {
        const cell = page.getByRole('cell').getByText(payload.trim(), { exact: true });
        await cell.first().waitFor();
      }
      await expectInert(page);
      for (const view of ['', 'tasks', 'resources', 'fields', 'events?from=oldest']) {
        await page.goto(`${app.url}/console/${view}`);
        await page.locator('h1').waitFor();
        await expectInert(page);
      }
      const ids = (body.data as { id: string }[]).map(({ id }) => id);
      for (const [index, id] of ids.entries()) {
        // The session stays, because the page is not loaded again.
        await page.evaluate(
          `history.pushState(null, '', ${JSON.stringify(`/console/leads/${id}`)})`,
        );
        await page.evaluate("dispatchEvent(new PopStateEvent('popstate'))");
        const heading = page.getByRole('heading', { level: 1 });
        const name = PAYLOADS[index]!.trim();
        await heading.getByText(name).waitFor();
        await expectInert(page);
      }
      await page.getByRole('button', { name: 'Edit' }).click();
      await expectInert(page);
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'no address of the console leads to another site',
    async () => {
      const { app } = browser();
      const tenant = await app.organization();
      const page = await browser().open(tenant);
      for (const path of [
        '/console//evil.example',
        '/console/https://evil.example',
        '/console/%2f%2fevil.example',
        '/console/%5c%5cevil.example/',
        '/console/leads/..%2f..%2f%2fevil.example',
        '/console/leads/%E0%A4%A',
        '/console?next=https://evil.example&url=//evil.example&redirect=javascript:alert(1)',
        '/console/leads?sort=https://evil.example&columns=javascript:alert(1)&from=//evil.example',
        '/console#https://evil.example',
      ]) {
        await page.goto(app.url + path);
        await page.locator('h1').waitFor();
        await page.locator('.brand').click();
        await page.getByRole('heading', { name: 'Start' }).waitFor();
        expect(page.url()).toBe(`${app.url}/console/`);
      }
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a page of another site cannot frame it',
    async () => {
      const { app } = browser();
      const framing = createHttpServer((_, response) => {
        response.setHeader('Content-Type', 'text/html');
        response.end(`<iframe src="${app.url}/console"></iframe>`);
      });
      await new Promise<void>((resolve) => framing.listen(0, '127.0.0.1', resolve));
      const { port } = framing.address() as { port: number };
      const page = await browser().newPage();
      await page.goto(`http://127.0.0.1:${port}/`);
      const frame = page.frames()[1]!;
      await page.waitForLoadState();
      expect(await frame.evaluate('document.querySelector("#console")')).toBeNull();
      expect(frame.url()).toMatch(/^chrome-error:/);
      // The browser reports the refusal, and the requests of the other site.
      expect(browser().faults.splice(0).join('\n')).toContain('frame-ancestors');
      framing.close();
    },
    BROWSER_TIMEOUT_MS,
  );
});
