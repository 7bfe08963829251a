import {
  createLead,
  dataOf,
  getLead,
  type LeadRecord,
  LEADS,
} from '../../../src/testing/factories.js';
import { until } from '../../support/servers/product.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

const TASKS = '/api/v1/tasks';

describeInBrowser('duplicates in the console', (browser) => {
  it(
    'are shown in groups with reasons, compared, and merged into the lead that a person chooses',
    async () => {
      const tenant = await browser().app.organization();
      const { api } = tenant;
      const one = await createLead(api, {
        ...{ first_name: 'Grace', email: 'grace@example.com', city: 'Graz' },
        custom_fields: { plan: 'pro' },
      });
      const other = await createLead(api, {
        ...{ first_name: HOSTILE.script, email: 'grace+roof@example.com', city: 'Wien' },
        ...{ company: 'Harbor', custom_fields: { plan: 'free', budget: 5 } },
      });
      dataOf(await api.post(TASKS, { title: 'Call', contact_id: one.id }), 201);
      const groups = async () => dataOf<object[]>(await api.get(`${LEADS}/duplicates`));
      await until(async () => (await groups()).length === 1);
      const page = await browser().open(tenant, 'leads');
      await page.getByRole('link', { name: 'Likely duplicates' }).press('Enter');
      const group = page.getByRole('group', { name: '2 leads with the same e-mail address' });
      await group.waitFor();
      await browser().check(page, 'duplicates');

      await group.getByRole('radio').nth(1).check();
      await group.getByRole('link', { name: 'Compare and merge' }).press('Enter');
      await page.waitForURL(`**/console/leads/${other.id}/merge?with=${one.id}`);
      const row = (text: string) => page.getByRole('row').filter({ hasText: text });
      await row('City')
        .filter({ hasText: /Wien[^]*Graz[^]*Wien/ })
        .waitFor();
      await page.getByText('gets 1 task of').waitFor();
      await browser().check(page, 'merge');

      await page.getByRole('radio', { name: 'City: Lead that is taken in' }).press('Space');
      await row('City')
        .filter({ hasText: /Wien[^]*Graz[^]*Graz/ })
        .waitFor();
      await page.getByRole('radio', { name: 'Custom fields: Lead that is taken in' }).check();
      await page.getByRole('radio', { name: 'First name: Lead that is taken in' }).check();
      await row('First name')
        .filter({ hasText: /Grace[^]*Grace/ })
        .waitFor();
      expect(await getLead(api, one.id)).toEqual(one);

      await page.getByRole('button', { name: 'Merge' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click();
      await page.getByRole('heading', { name: 'Grace' }).waitFor();
      expect(await getLead(api, other.id)).toMatchObject({
        ...{ first_name: 'Grace', email: other.email, city: 'Graz', company: 'Harbor' },
        custom_fields: { plan: 'pro', budget: 5 },
      } satisfies Partial<LeadRecord>);
      expect(await api.get(`${LEADS}/${one.id}`)).toMatchObject({ status: 404 });
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a lead is merged with one that a person finds, in either direction, and a failure is told',
    async () => {
      const tenant = await browser().app.organization();
      const { api } = tenant;
      const one = await createLead(api, { first_name: 'Grace' });
      const other = await createLead(api, { first_name: 'Amazing', last_name: 'Grace' });
      const page = await browser().open(tenant, `leads/${one.id}`);
      await page.getByRole('link', { name: 'Merge…' }).click();
      await page.getByRole('searchbox').fill('amazing');
      await page.getByRole('radio', { name: 'Amazing Grace' }).click();
      await page.waitForURL(`**/merge?with=${other.id}`);
      await page.getByText('The other lead has no appointments and tasks.').waitFor();
      await page.getByRole('link', { name: 'Keep the other one' }).click();
      await page.waitForURL(`**/console/leads/${other.id}/merge?with=${one.id}`);
      await page.getByText('The other lead has no appointments and tasks.').waitFor();

      dataOf(await api.delete(`${LEADS}/${one.id}`));
      await page.getByRole('button', { name: 'Merge' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Merge' }).click();
      await dialog.getByRole('alert').filter({ hasText: 'lead_id does not refer' }).waitFor();
      expect(await getLead(api, other.id)).toEqual(other);
    },
    BROWSER_TIMEOUT_MS,
  );
});
