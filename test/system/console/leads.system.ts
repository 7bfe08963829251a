import { createLead } from '../../../src/testing/factories.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';

describeInBrowser('leads in the console', (browser) => {
  it(
    'the list has search, filters, order and columns in its address',
    async () => {
      const tenant = await browser().app.organization();
      await createLead(tenant.api, { first_name: 'Grace', last_name: 'Hopper', city: 'Graz' });
      await createLead(tenant.api, { first_name: 'Ada', temperature: 'cold', city: 'Wien' });
      const page = await browser().open(tenant, 'leads');
      await page.getByRole('cell', { name: 'Grace Hopper' }).waitFor();
      await page.getByText('2 in all').waitFor();
      await browser().check(page, 'leads');

      await page.getByRole('searchbox').fill('hopp');
      await page.getByRole('searchbox').press('Enter');
      await page.getByRole('cell', { name: 'Ada' }).waitFor({ state: 'detached' });
      expect(new URL(page.url()).search).toBe('?search=hopp');
    },
    BROWSER_TIMEOUT_MS,
  );
});
