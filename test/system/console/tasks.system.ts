import { createLead, dataOf } from '../../../src/testing/factories.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

const TASKS = '/api/v1/tasks';
const PAST = '2020-01-01T00:00:00Z';

describeInBrowser('tasks in the console', (browser) => {
  it(
    'the list has search, filters and order in its address, and marks what is overdue',
    async () => {
      const tenant = await browser().app.organization();
      const lead = await createLead(tenant.api, { first_name: 'Grace', last_name: 'Hopper' });
      const tasks = [
        { title: 'Call back', due_date: PAST, contact_id: lead.id, priority: 'urgent' },
        { title: 'Sent', due_date: PAST, status: 'completed' },
        { title: HOSTILE.script, due_date: '2099-01-01T00:00:00Z' },
      ];
      for (const task of tasks) dataOf(await tenant.api.post(TASKS, task), 201);
      const page = await browser().open(tenant, 'tasks');
      const row = (text: string) => page.getByRole('row').filter({ hasText: text });
      await row('Call back')
        .filter({ hasText: 'Grace Hopper' })
        .filter({ hasText: 'Overdue' })
        .waitFor();
      await row('Sent').filter({ hasNotText: 'Overdue' }).waitFor();
      await row(HOSTILE.script).filter({ hasNotText: 'Overdue' }).waitFor();
      await page.getByText('3 in all').waitFor();
      await browser().check(page, 'tasks');

      await page.getByRole('searchbox').fill('call');
      await page.getByRole('searchbox').press('Enter');
      await row('Sent').waitFor({ state: 'detached' });
      await page.getByText('1 in all').waitFor();
      expect(new URL(page.url()).search).toBe('?search=call');

      await page.goto(`${browser().app.url}/console/tasks?status=open&sort=due_date:asc`);
      await row('Call back').waitFor();
      expect(await page.getByRole('row').allInnerTexts()).toEqual([
        expect.stringContaining('Title') as string,
        expect.stringContaining('Call back') as string,
        expect.stringContaining(HOSTILE.script) as string,
      ]);
      await page.getByRole('button', { name: 'Remove filter Status: Open' }).click();
      await row('Sent').waitFor();
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a task is created with the keyboard, shows its lead and who changed it, and is edited and deleted',
    async () => {
      const tenant = await browser().app.organization({ scopes: browser().app.scopes.every });
      const lead = await createLead(tenant.api, { first_name: 'Grace', last_name: 'Hopper' });
      const page = await browser().open(tenant, `tasks/new?contact_id=${lead.id}`);
      await page.getByRole('radio', { name: 'Grace Hopper' }).waitFor();
      await page.getByRole('button', { name: 'Create' }).press('Enter');
      await page.getByLabel('Title').and(page.locator('[aria-invalid=true]')).waitFor();
      await browser().check(page, 'task-errors');
      await page.getByLabel('Title').fill('Call back');
      await page.getByLabel('Due').fill('2020-01-01T10:00');
      await page.getByLabel('Title').press('Enter');
      await page.getByRole('heading', { name: 'Call back' }).waitFor();
      await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
      await page.getByText('Overdue').waitFor();
      const { body } = await tenant.api.get(TASKS);
      expect(body.data).toMatchObject([
        { title: 'Call back', due_date: '2020-01-01T09:00:00.000Z', contact_id: lead.id },
      ]);
      const [{ id }] = body.data;
      await browser().check(page, 'task');

      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Status').selectOption('Completed');
      await tenant.api.put(`${TASKS}/${id}`, { description: 'In the morning' });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('In the morning').waitFor();
      await page.getByText('Overdue').waitFor({ state: 'detached' });
      await page.getByText(/^Key .* completed/).waitFor();

      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No tasks yet.').waitFor();
      expect(await tenant.api.get(`${TASKS}/${id}`)).toMatchObject({ status: 404 });
    },
    BROWSER_TIMEOUT_MS,
  );
});
