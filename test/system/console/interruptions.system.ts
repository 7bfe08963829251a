import type { Page } from 'playwright-core';
import { createLead, type LeadRecord } from '../../../src/testing/factories.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { until } from '../../support/servers/product.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';

/** A lead whose city a person has changed, but not saved. */
async function edit(tenant: Tenant, open: (path: string) => Promise<Page>) {
  const { id } = await createLead(tenant.api, { first_name: 'Ada', city: 'Graz' });
  const page = await open(`leads/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('City').fill('Wien');
  const save = () => page.getByRole('button', { name: 'Save' }).click();
  const stored = async () => {
    const { body } = await tenant.api.get(`/api/v1/leads/${id}`);
    return (body.data as LeadRecord).city;
  };
  return { page, save, stored };
}

describeInBrowser('what interrupts the console', (browser) => {
  it(
    'a lost connection is told, loses no typed text, and is survived',
    async () => {
      const tenant = await browser().app.organization();
      const { page, save, stored } = await edit(tenant, (path) => browser().open(tenant, path));
      await page.context().setOffline(true);
      await save();
      await page.getByText('The connection to the service is lost.').waitFor();
      expect(await page.getByLabel('City').inputValue()).toBe('Wien');
      await page.context().setOffline(false);
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      expect(await stored()).toBe('Wien');
      expect(await page.getByText('The connection to the service is lost.').count()).toBe(0);
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a revoked key is told, and another key continues with what was typed',
    async () => {
      const { app } = browser();
      const tenant = await app.organization();
      const revoked = await app.key(tenant.id);
      const { page, save, stored } = await edit(tenant, (path) => browser().open(revoked, path));
      await app.revoke(revoked);
      await until(async () => (await revoked.api.get('/api/v1/me')).status === 401);
      await save();
      await page.getByText('The key is no longer valid').waitFor();
      await browser().check(page, 'refused-key');
      await page.getByLabel('API key').fill('lat_wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('The service does not accept this key.').waitFor();
      await page.getByLabel('API key').fill(tenant.key.key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('The key is no longer valid').waitFor({ state: 'detached' });
      expect(await page.getByLabel('City').inputValue()).toBe('Wien');
      await save();
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      expect(await stored()).toBe('Wien');
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'over the limit, the page says until when it waits, and continues',
    async () => {
      const tenant = await browser().app.organization();
      const { page, save, stored } = await edit(tenant, (path) => browser().open(tenant, path));
      const error = { code: 'rate_limit_exceeded', message: 'Too many.', retryable: true };
      await page.route('**/api/v1/leads/*', (route) => {
        const headers = {
          'Retry-After': '1',
          'RateLimit-Limit': '30',
          'RateLimit-Remaining': '0',
        };
        return route.fulfill({ status: 429, headers, json: { error } });
      });
      await save();
      await page.getByText(/The limit of this key is reached. The page continues at \d/).waitFor();
      await page.locator('.account summary').click();
      await page.getByText('0 of 30 writes').waitFor();
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      expect(await stored()).toBe('Wien');
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'what was typed is still there after another view',
    async () => {
      const tenant = await browser().app.organization();
      const { page, save, stored } = await edit(tenant, (path) => browser().open(tenant, path));
      await page.getByRole('link', { name: 'Leads' }).click();
      await page.getByRole('link', { name: 'Ada' }).click();
      expect(await page.getByLabel('City').inputValue()).toBe('Wien');
      await save();
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      expect(await stored()).toBe('Wien');
    },
    BROWSER_TIMEOUT_MS,
  );
});
