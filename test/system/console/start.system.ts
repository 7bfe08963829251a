import { createLead } from '../../../src/testing/factories.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';

describeInBrowser('the start view of the console', (browser) => {
  it(
    'counts leads, appointments, tasks, deliveries and imports, and links to what it counts',
    async () => {
      const { app } = browser();
      const tenant = await app.organization();
      const { api } = tenant;
      const lead = await createLead(api, { status: 'new', temperature: 'hot' });
      await createLead(api, { status: 'constructor' });
      const { body } = await api.post('/api/v1/resources', { name: 'Crew', time_zone: 'UTC' });
      const start = Date.now() + 3_600_000;
      await api.post('/api/v1/appointments', {
        lead_id: lead.id,
        resource_id: body.data.id,
        start_time: new Date(start).toISOString(),
        end_time: new Date(start + 1_000).toISOString(),
      });
      await api.post('/api/v1/tasks', { title: 'Call', due_date: '2026-01-05T00:00:00Z' });

      const page = await browser().open(tenant);
      const part = (name: string) => page.locator('section').filter({ hasText: name });
      await part('Leads by status').getByText('constructor').waitFor();
      await part('Appointments of the next 7 days').getByText('Crew').waitFor();
      await part('Failed deliveries').getByText('No delivery has failed.').waitFor();
      await part('Running imports').getByText('No import is running.').waitFor();
      await part('Overdue tasks').getByRole('link', { name: '1 task' }).waitFor();
      await browser().check(page, 'start');

      const days = part('New leads of the last 30 days');
      await days.getByText('As a table').click();
      expect(await days.locator('tbody tr').count()).toBe(30);
      expect(await days.locator('tbody tr').last().innerText()).toMatch(/2$/);
      await days.locator('tbody a').last().click();
      await page.getByText('2 in all').waitFor();
      await page.goBack();
      await part('Leads by status').getByRole('link', { name: 'constructor' }).click();
      await page.getByText('1 in all').waitFor();
      expect(new URL(page.url()).search).toBe('?status=constructor');
      await page.goBack();
      await part('Appointments of the next 7 days').getByRole('link', { name: 'Crew' }).click();
      await page.getByText('1 in all').waitFor();
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'shows only what the key may do',
    async () => {
      const tenant = await browser().app.organization({ scopes: ['tasks:read'] });
      const page = await browser().open(tenant);
      await page.getByText('No task is overdue.').waitFor();
      expect(await page.locator('section h2').allInnerTexts()).toEqual(['Overdue tasks']);
      expect(await page.getByRole('link', { name: 'Leads' }).count()).toBe(0);
      await page.goto(`${browser().app.url}/console/leads`);
      await page.getByText('This key may not see this.').waitFor();

      const agent = await browser().app.organization({ scopes: ['leads:write'] });
      const other = await browser().open(agent);
      await other.getByText('This key reads no records to count here.').waitFor();
      const refused: string[] = [];
      other.on('response', (response) => {
        if (response.status() === 403) refused.push(response.url());
      });
      await other.goto(`${browser().app.url}/console/leads/new`);
      await other.getByLabel('First name').fill('Ada');
      await other.getByRole('button', { name: 'Create' }).click();
      await other.waitForURL(/leads\/[0-9a-f-]{36}$/);
      expect(refused).toEqual([]);
    },
    BROWSER_TIMEOUT_MS,
  );
});
