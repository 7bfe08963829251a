import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';

describeInBrowser('signing in to the console', (browser) => {
  it(
    'a link takes the key out of the address, and a reload and a new tab keep it until the sign-out',
    async () => {
      const tenant = await browser().app.organization();
      const page = await browser().open(tenant);
      expect(page.url()).toBe(`${browser().app.url}/console/`);
      expect(await page.evaluate('localStorage.length + document.cookie.length')).toBe(0);
      await browser().check(page, 'start');

      await page.reload();
      await page.locator('header').waitFor();
      const second = await page.context().newPage();
      await second.goto(`${browser().app.url}/console`);
      await second.locator('header').waitFor();
      expect(await second.locator('.account').innerText()).toContain('k');

      await page.locator('.account summary').click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      for (const tab of [page, second]) {
        await tab.getByLabel('API key').waitFor();
        expect(await tab.evaluate('JSON.stringify(sessionStorage)')).toBe('{}');
      }
      await browser().check(page, 'sign-in');
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a link with a key that is not valid leaves the person signed in, also after a reload',
    async () => {
      const page = await browser().open(await browser().app.organization(), 'leads');
      await page.evaluate("location.hash = '#key=lat_mistyped'");
      await page.getByText('The key in the link is not valid.').waitFor();
      expect(page.url()).toBe(`${browser().app.url}/console/leads`);
      expect(await page.getByLabel('API key').count()).toBe(0);
      await page.reload();
      await page.getByText('No leads yet.').waitFor();
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'the console works behind a proxy that adds a prefix',
    async () => {
      const { app } = browser();
      const tenant = await app.organization();
      const page = await browser().newPage();
      const paths: string[] = [];
      await page.route('**/*', async (route) => {
        const { pathname, search } = new URL(route.request().url());
        paths.push(pathname);
        const url = `${app.url}${pathname.replace(/^\/crm\//, '/')}${search}`;
        await route.fulfill({ response: await route.fetch({ url }) });
      });
      for (const path of ['', '/', '/leads', '/no/such/view']) {
        await page.goto(`${app.url}/crm/console${path}#key=${tenant.key.key}`);
        await page.getByRole('link', { name: 'Leads', exact: true }).click();
        await page.getByText('No leads yet.').waitFor();
        expect(page.url()).toBe(`${app.url}/crm/console/leads`);
      }
      expect(paths.filter((path) => !path.startsWith('/crm/'))).toEqual([]);
    },
    BROWSER_TIMEOUT_MS,
  );
});
