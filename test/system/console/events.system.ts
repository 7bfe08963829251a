import { createLead, dataOf } from '../../../src/testing/factories.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

describeInBrowser('the events of the console', (browser) => {
  it(
    'are shown as they happen, in plain words, with a link to each record',
    async () => {
      const tenant = await browser().app.organization();
      await createLead(tenant.api, { first_name: 'Before', last_name: null });
      const page = await browser().open(tenant, 'events');
      await page.getByText('Waiting…').waitFor();

      const lead = await createLead(tenant.api, { first_name: 'Ada', last_name: 'Lovelace' });
      const log = page.getByRole('log').getByRole('listitem');
      await log.filter({ hasText: 'created lead Ada Lovelace' }).waitFor();
      expect(await log.count()).toBe(1);

      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: 'Continue' }).waitFor();
      await tenant.api.put(`/api/v1/leads/${lead.id}`, { company: 'Analytical Engines' });
      await createLead(tenant.api, { first_name: HOSTILE.script, last_name: HOSTILE.override });
      await tenant.api.delete(`/api/v1/leads/${lead.id}`);
      await page.getByRole('button', { name: 'Continue' }).click();
      await log.filter({ hasText: 'deleted lead Ada Lovelace' }).waitFor();
      const texts = await log.allInnerTexts();
      expect(texts[2]).toMatch(/changed company and lead score of lead Ada Lovelace/);
      expect(texts[1]).toContain(HOSTILE.script);
      await browser().check(page, 'events');

      const link = log.first().getByRole('link');
      expect(await link.getAttribute('href')).toBe(`/console/leads/${lead.id}`);
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'are filtered by their types, which the address has, also those that are stored',
    async () => {
      const tenant = await browser().app.organization();
      const lead = await createLead(tenant.api);
      const task = { title: 'Call back', contact_id: lead.id };
      dataOf(await tenant.api.post('/api/v1/tasks', task), 201);
      const page = await browser().open(tenant, 'events');
      await page.getByRole('button', { name: 'Show all that are stored' }).click();
      const log = page.getByRole('log').getByRole('listitem');
      await log.filter({ hasText: 'created task Call back' }).waitFor();
      expect(await log.count()).toBe(2);

      await page.getByText('All types').press('Enter');
      await page.getByRole('checkbox', { name: 'task created' }).press('Space');
      await page.waitForURL(/types=task.created/);
      await log.filter({ hasText: 'Ada' }).waitFor({ state: 'detached' });
      await log.filter({ hasText: 'created task Call back' }).waitFor();
      await page.reload();
      await log.filter({ hasText: 'created task Call back' }).waitFor();
      expect(await log.count()).toBe(1);
    },
    BROWSER_TIMEOUT_MS,
  );
});
