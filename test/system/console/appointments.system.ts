import { createLead, dataOf } from '../../../src/testing/factories.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

const APPOINTMENTS = '/api/v1/appointments';
const RESOURCES = '/api/v1/resources';

/** A Monday that is far ahead, in summer: nine o'clock in Berlin is 07:00 UTC and 03:00 in New York. */
const DAY = '2031-06-02';

interface Appointment {
  id: string;
  start_time: string;
  resource_id: string;
  status: string;
}

async function createResource({ api }: Tenant, fields: object): Promise<{ id: string }> {
  const hours = { monday: [{ start: '09:00', end: '12:00' }] };
  return dataOf(await api.post(RESOURCES, { hours, ...fields }), 201);
}

async function appointmentsOf({ api }: Tenant) {
  return dataOf<Appointment[]>(await api.get(`${APPOINTMENTS}?sort_dir=asc`));
}

describeInBrowser('appointments in the console', (browser) => {
  it(
    'a person books a free time by a click, moves the appointment, and cancels it, by keyboard',
    async () => {
      const tenant = await browser().app.organization();
      const lead = await createLead(tenant.api, {
        first_name: HOSTILE.script,
        last_name: HOSTILE.override,
      });
      const berlin = await createResource(tenant, { name: 'Crew 1', time_zone: 'Europe/Berlin' });
      await createResource(tenant, { name: 'Crew 2', time_zone: 'America/New_York' });
      const page = await browser().open(tenant, `appointments?date=${DAY}`);
      await page.getByText('Times are in Europe/Berlin').waitFor();
      const crew = page.getByRole('row').filter({ hasText: 'Crew 1' });
      await crew.getByRole('button', { name: '09:00' }).waitFor();
      expect(await crew.getByRole('button').allInnerTexts()).toEqual(['09:00', '10:00', '11:00']);
      const other = page.getByRole('row').filter({ hasText: 'Crew 2' });
      expect(await other.innerText()).toContain('America/New_York');
      await other.getByRole('button', { name: '15:00 (09:00 there)' }).waitFor();
      await browser().check(page, 'appointments');

      await crew.getByRole('button', { name: '10:00' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Lead').fill('script');
      await dialog.getByRole('radio').press('Space');
      await dialog.getByLabel('What for').fill('Estimate');
      await browser().check(page, 'booking');
      // Somebody else is faster.
      const taken = { start_time: `${DAY}T08:00:00Z`, end_time: `${DAY}T09:00:00Z` };
      const rival = { lead_id: lead.id, resource_id: berlin.id, ...taken };
      dataOf(await tenant.api.post(APPOINTMENTS, rival), 201);
      await dialog.getByRole('button', { name: 'Book', exact: true }).press('Enter');
      await dialog.getByText('These times are free.').waitFor();
      await dialog.getByRole('button', { name: '11:00' }).first().press('Enter');
      await dialog.getByRole('button', { name: 'Book', exact: true }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await crew.getByRole('link', { name: '11:00–12:00' }).waitFor();
      const [, booked] = await appointmentsOf(tenant);
      expect(booked).toMatchObject({ start_time: `${DAY}T09:00:00.000Z`, resource_id: berlin.id });

      await crew.getByRole('link', { name: '11:00–12:00' }).press('Enter');
      await page.getByRole('link', { name: HOSTILE.script }).waitFor();
      await browser().check(page, 'appointment');
      await page.getByRole('link', { name: 'Move' }).press('Enter');
      await crew.getByRole('button', { name: '09:00' }).press('Enter');
      await dialog.getByRole('button', { name: 'Move' }).press('Enter');
      await page.getByRole('button', { name: 'Cancel the appointment' }).press('Enter');
      expect((await appointmentsOf(tenant))[0]).toMatchObject({
        id: booked!.id,
        start_time: `${DAY}T07:00:00.000Z`,
      });
      await dialog.getByRole('button', { name: 'Cancel the appointment' }).press('Enter');
      await page.locator('dd', { hasText: 'cancelled' }).waitFor();
      expect((await appointmentsOf(tenant))[0]).toMatchObject({ status: 'cancelled' });

      await page.getByRole('link', { name: 'Appointments' }).press('Enter');
      await page.getByLabel('Date').fill(DAY);
      await page.getByRole('button', { name: 'New appointment' }).press('Enter');
      await dialog.getByLabel('Lead').fill('script');
      await dialog.getByRole('radio').press('Space');
      await dialog.getByRole('button', { name: 'Book', exact: true }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
      const without = page.getByRole('row').filter({ hasText: 'Without a resource' });
      await without.getByRole('link', { name: '09:00–10:00' }).waitFor();
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a key that only reads sees the free times and the appointments, and no buttons to change them',
    async () => {
      const tenant = await browser().app.organization();
      const lead = await createLead(tenant.api, { first_name: 'Grace' });
      const { id } = await createResource(tenant, { name: 'Crew 1', time_zone: 'Europe/Berlin' });
      const times = { start_time: `${DAY}T07:00:00Z`, end_time: `${DAY}T08:00:00Z` };
      const fields = { lead_id: lead.id, resource_id: id, type: 'Visit', ...times };
      dataOf(await tenant.api.post(APPOINTMENTS, fields), 201);
      const reader = await browser().app.key(tenant.id, ['appointments:read']);
      const page = await browser().open(reader, `appointments?date=${DAY}&view=day`);
      const crew = page.getByRole('row').filter({ hasText: 'Crew 1' });
      await crew.getByText('2 free times').waitFor();
      expect(await crew.getByRole('button').count()).toBe(0);
      await crew.getByRole('link', { name: '09:00–10:00 Visit' }).click();
      await page.getByText('scheduled').waitFor();
      expect(await page.locator('main').getByRole('button').count()).toBe(0);
    },
    BROWSER_TIMEOUT_MS,
  );
});
