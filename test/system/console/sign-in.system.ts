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
});
