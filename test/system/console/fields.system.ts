import { createLead, dataOf } from '../../../src/testing/factories.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

const FIELDS = '/api/v1/custom-fields';

describeInBrowser('fields in the console', (browser) => {
  it(
    'a person checks a definition, sees the leads that do not fit, and makes, changes and deletes it',
    async () => {
      const { every } = browser().app.scopes;
      const tenant = await browser().app.organization({ scopes: every });
      const lead = await createLead(tenant.api, {
        first_name: HOSTILE.script,
        custom_fields: { roof: 'thatch' },
      });
      const page = await browser().open(tenant, 'fields');
      await page.getByText('No fields yet.').waitFor();
      await page.getByRole('link', { name: 'New field' }).press('Enter');

      await page.getByLabel('Key').fill('roof');
      await page.getByLabel('Label').fill(HOSTILE.script);
      await page.getByLabel('Type').selectOption('One of several options');
      await page.getByLabel('Options').fill('slate = Natural slate\ntiles');
      await page.getByRole('button', { name: 'Check only' }).press('Enter');
      await page.getByText('1 stored lead does not fit').first().waitFor();
      const misfit = page.getByRole('alert').getByRole('link', { name: HOSTILE.script });
      expect(await misfit.getAttribute('href')).toBe(`/console/leads/${lead.id}`);
      await browser().check(page, 'field-new');

      await tenant.api.put(`/api/v1/leads/${lead.id}`, { custom_fields: { roof: 'slate' } });
      await page.getByRole('button', { name: 'Check only' }).press('Enter');
      await page.getByText('This would be saved.').waitFor();
      expect(dataOf(await tenant.api.get(FIELDS))).toEqual([]);
      await page.getByRole('button', { name: 'Create' }).press('Enter');
      await page.getByRole('heading', { name: 'roof' }).waitFor();
      await browser().check(page, 'field');

      await page.getByRole('button', { name: 'Edit' }).press('Enter');
      await page.getByLabel('Options').fill('slate\ntiles');
      await page.getByLabel('Unique').press('Space');
      await page.getByRole('button', { name: 'Save' }).press('Enter');
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      expect(dataOf(await tenant.api.get(FIELDS))).toMatchObject([
        {
          key: 'roof',
          label: HOSTILE.script,
          type: 'select',
          options: [
            { value: 'slate', label: null },
            { value: 'tiles', label: null },
          ],
          unique: true,
        },
      ]);
      await page.getByRole('link', { name: 'Fields' }).press('Enter');
      await page.getByRole('cell', { name: HOSTILE.script }).waitFor();
      await browser().check(page, 'fields');

      await page.getByRole('link', { name: 'roof' }).press('Enter');
      await page.getByRole('button', { name: 'Delete' }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
      await page.getByText('No fields yet.').waitFor();

      const reader = await browser().app.key(tenant.id, ['leads:read']);
      const other = await browser().open(reader, 'fields');
      await other.getByText('No fields yet.').waitFor();
      expect(await other.getByRole('link', { name: 'New field' }).count()).toBe(0);
    },
    BROWSER_TIMEOUT_MS,
  );
});
