import { buildLead, createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

const TASKS = '/api/v1/tasks';

async function deleteRecord({ api }: Tenant, path: string, id: string): Promise<void> {
  dataOf(await api.delete(`${path}/${id}`));
}

describeInBrowser('the trash of the console', (browser) => {
  it(
    'lists deleted leads and tasks, and restores them',
    async () => {
      const tenant = await browser().app.organization();
      const lead = await createLead(tenant.api, { first_name: 'Grace', last_name: 'Hopper' });
      const hostile = await createLead(tenant.api, { first_name: HOSTILE.script });
      const task = dataOf<{ id: string }>(await tenant.api.post(TASKS, { title: 'Call' }), 201);
      await deleteRecord(tenant, LEADS, lead.id);
      await deleteRecord(tenant, LEADS, hostile.id);
      await deleteRecord(tenant, TASKS, task.id);
      const page = await browser().open(tenant);
      await page.getByRole('link', { name: 'Trash' }).press('Enter');
      const row = (text: string) => page.getByRole('row').filter({ hasText: text });
      await row(HOSTILE.script).waitFor();
      await browser().check(page, 'trash');

      await page.getByRole('button', { name: 'Restore Grace Hopper' }).press('Enter');
      await page.getByText('Restored: Grace Hopper').waitFor();
      await row('Grace Hopper').waitFor({ state: 'detached' });
      expect(await tenant.api.get(`${LEADS}/${lead.id}`)).toMatchObject({ status: 200 });
      await page.getByRole('link', { name: 'Grace Hopper' }).click();
      await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor();
      await page.getByText(/^Key k restored/).waitFor();

      await page.goBack();
      await page.getByRole('main').getByRole('link', { name: 'Tasks' }).click();
      await page.getByRole('button', { name: 'Restore Call' }).click();
      await page.getByText('Restored: Call').waitFor();
      await page.getByText('Nothing is deleted.').waitFor();
      expect(await tenant.api.get(`${TASKS}/${task.id}`)).toMatchObject({ status: 200 });
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'says why a lead is not restored, with a link to the lead that is in the way',
    async () => {
      const tenant = await browser().app.organization();
      const fields = buildLead({ first_name: 'Grace', last_name: null });
      const lead = await createLead(tenant.api, fields);
      await deleteRecord(tenant, LEADS, lead.id);
      const { phone } = fields;
      const holder = await createLead(tenant.api, { first_name: 'Ada', phone });
      const other = await createLead(tenant.api, { first_name: 'Merged' });
      await deleteRecord(tenant, LEADS, other.id);
      const page = await browser().open(tenant, 'trash');
      await page.getByRole('button', { name: 'Restore Grace' }).click();
      const alert = page.getByRole('alert');
      await alert.filter({ hasText: '“Grace” was not restored.' }).waitFor();
      await alert.filter({ hasText: 'Phone belongs to another lead.' }).waitFor();
      await browser().check(page, 'trash-refused');
      const link = alert.getByRole('link', { name: 'Show the other lead' });
      expect(await link.getAttribute('href')).toBe(`/console/leads/${holder.id}`);

      // Restored and merged by somebody else, after the list was read.
      dataOf(await tenant.api.post(`${LEADS}/${other.id}/restore`, undefined));
      dataOf(await tenant.api.post(`${LEADS}/${holder.id}/merge`, { lead_id: other.id }));
      await page.getByRole('button', { name: 'Restore Merged' }).click();
      const survivor = alert.getByRole('link', { name: 'Show the lead that it was merged into' });
      await survivor.waitFor();
      expect(await survivor.getAttribute('href')).toBe(`/console/leads/${holder.id}`);
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'shows only the records that the key may read, and restores only with the scope',
    async () => {
      const { app } = browser();
      const tenant = await app.organization();
      const task = dataOf<{ id: string }>(await tenant.api.post(TASKS, { title: 'Call' }), 201);
      await deleteRecord(tenant, TASKS, task.id);
      const page = await browser().open(await app.key(tenant.id, ['tasks:read']), 'trash');
      await page.getByRole('cell', { name: 'Call' }).waitFor();
      expect(await page.getByRole('main').getByRole('link').count()).toBe(0);
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    },
    BROWSER_TIMEOUT_MS,
  );
});
