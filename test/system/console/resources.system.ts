import { dataOf } from '../../../src/testing/factories.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

const RESOURCES = '/api/v1/resources';

describeInBrowser('resources in the console', (browser) => {
  it(
    'a person makes a resource with hours and exceptions, changes it, makes and revokes a calendar, and deletes it',
    async () => {
      const tenant = await browser().app.organization();
      const page = await browser().open(tenant, 'resources');
      await page.getByText('No resources yet.').waitFor();
      await page.getByRole('link', { name: 'New resource' }).press('Enter');
      expect(await page.getByLabel('Time zone').inputValue()).toBe('Europe/Berlin');
      await page.getByLabel('Name').fill(HOSTILE.script);
      await page
        .getByLabel('Hours', { exact: true })
        .fill('Mon: 9-5\n\nMonday: nine to five\nFriday: 9-17\nfriday: closed');
      await page.getByRole('button', { name: 'Create' }).press('Enter');
      const errors = page.locator('.field .error');
      await errors.waitFor();
      expect((await errors.innerText()).split('\n')).toEqual([
        expect.stringMatching(/^Line 1: .*Mon.* no weekday/) as string,
        expect.stringMatching(/^Line 3: .*nine to five.* no times/) as string,
        expect.stringMatching(/^Line 5: Friday has a line above/) as string,
      ]);
      await page
        .getByLabel('Hours', { exact: true })
        .fill('monday: 9-12, 13:00-17:30\nSunday: closed');
      await page.getByLabel('Dates with other hours').fill('2026-12-24: 25-26\n2026-12-32: closed');
      await page.getByRole('button', { name: 'Create' }).press('Enter');
      await errors.filter({ hasText: 'Line 2: date must be a date' }).waitFor();
      await errors.filter({ hasText: 'Line 1: end must be a time' }).waitFor();
      await browser().check(page, 'resource-new');
      await page
        .getByLabel('Dates with other hours')
        .fill('2026-12-24: 09:00-12:00\n2026-12-25: closed');
      await page.getByLabel('Remind before').fill('1440, 60');
      await page.getByRole('button', { name: 'Create' }).press('Enter');
      await page.getByRole('heading', { name: HOSTILE.script }).waitFor();
      const [resource] = dataOf<{ id: string }[]>(await tenant.api.get(RESOURCES));
      expect(resource).toMatchObject({
        name: HOSTILE.script,
        time_zone: 'Europe/Berlin',
        hours: {
          monday: [
            { start: '09:00', end: '12:00' },
            { start: '13:00', end: '17:30' },
          ],
        },
        exceptions: [
          { date: '2026-12-24', hours: [{ start: '09:00', end: '12:00' }] },
          { date: '2026-12-25', hours: [] },
        ],
        remind_before_minutes: [1440, 60],
        active: true,
      });

      await page.getByRole('button', { name: 'New calendar' }).press('Enter');
      const address = await page.locator('code').innerText();
      expect(address).toMatch(/\/calendars\/.+\.ics$/);
      expect((await fetch(address)).status).toBe(200);
      await browser().check(page, 'resource');
      await page.getByRole('button', { name: 'Revoke' }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter');
      await page.getByText('No calendars.').waitFor();
      expect((await fetch(address)).status).toBe(404);

      await page.getByRole('button', { name: 'Edit' }).press('Enter');
      await page.getByLabel('Can be booked').press('Space');
      await page.getByLabel('Minutes before each appointment').fill('15');
      await page.getByRole('button', { name: 'Save' }).press('Enter');
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      const changed = dataOf(await tenant.api.get(`${RESOURCES}/${resource!.id}`));
      expect(changed).toMatchObject({ active: false, buffer_before_minutes: 15 });
      await page.getByRole('link', { name: 'Resources' }).press('Enter');
      await page.getByRole('cell', { name: HOSTILE.script }).waitFor();
      await browser().check(page, 'resources');

      const reader = await browser().app.key(tenant.id, ['appointments:read']);
      const other = await browser().open(reader, `resources/${resource!.id}`);
      await other.getByText('No calendars.').waitFor();
      expect(await other.locator('main').getByRole('button').count()).toBe(0);

      await page.getByRole('link', { name: HOSTILE.script }).press('Enter');
      await page.getByRole('button', { name: 'Delete' }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
      await page.getByText('No resources yet.').waitFor();
    },
    BROWSER_TIMEOUT_MS,
  );
});
