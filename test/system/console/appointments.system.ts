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

  it(
    'a move keeps what others have changed meanwhile, and asks if they have moved the appointment',
    async () => {
      const tenant = await browser().app.organization();
      const lead = await createLead(tenant.api, { first_name: 'Grace' });
      const { id: crew } = await createResource(tenant, {
        name: 'Crew 1',
        time_zone: 'Europe/Berlin',
      });
      const times = { start_time: `${DAY}T07:00:00Z`, end_time: `${DAY}T08:00:00Z` };
      const booked = { lead_id: lead.id, resource_id: crew, ...times };
      const { id } = dataOf<Appointment>(await tenant.api.post(APPOINTMENTS, booked), 201);
      const change = async (fields: object) =>
        dataOf(await tenant.api.put(`${APPOINTMENTS}/${id}`, fields));
      const read = async () => dataOf(await tenant.api.get(`${APPOINTMENTS}/${id}`));
      const page = await browser().open(tenant, `appointments?date=${DAY}&view=day&move=${id}`);
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: '10:00' }).press('Enter');
      await change({ notes: 'Bring a ladder' });
      await dialog.getByRole('button', { name: 'Move' }).press('Enter');
      await page.getByText('Bring a ladder').waitFor();
      expect(await read()).toMatchObject({ start_time: `${DAY}T08:00:00.000Z` });

      await page.getByRole('link', { name: 'Move' }).press('Enter');
      await page.getByRole('button', { name: '11:00' }).press('Enter');
      await change({ start_time: `${DAY}T07:00:00Z`, end_time: `${DAY}T08:00:00Z` });
      await dialog.getByRole('button', { name: 'Move' }).press('Enter');
      const asked = dialog.filter({ has: page.getByText('Somebody else changed') }).last();
      await asked.getByLabel('Theirs: Jun 2, 2031, 9:00 AM').waitFor();
      await browser().check(page, 'appointment-conflict');
      await asked.getByRole('button', { name: 'Save' }).press('Enter');
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      expect(await read()).toMatchObject({
        start_time: `${DAY}T09:00:00.000Z`,
        notes: 'Bring a ladder',
      });
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'the list shows what the schedule shows, with search, filters, order and columns in its address',
    async () => {
      const tenant = await browser().app.organization();
      const lead = await createLead(tenant.api, { first_name: 'Grace', last_name: 'Hopper' });
      const crew = await createResource(tenant, { name: 'Crew 1', time_zone: 'Europe/Berlin' });
      const book = async (hour: string, fields: object) => {
        const times = { start_time: `${DAY}T${hour}:00Z`, end_time: `${DAY}T${hour}:30Z` };
        dataOf(await tenant.api.post(APPOINTMENTS, { lead_id: lead.id, ...times, ...fields }), 201);
      };
      await book('07', { type: 'Roof visit', resource_id: crew.id });
      await book('08', { type: HOSTILE.script, location: 'Graz', status: 'confirmed' });
      const page = await browser().open(tenant, `appointments?date=${DAY}&view=day`);
      await page.getByRole('link', { name: 'List' }).press('Enter');
      const rows = () => page.locator('tbody tr').allInnerTexts();
      await page.getByText('2 in all').waitFor();
      expect(await rows()).toEqual([
        expect.stringMatching(/Grace Hopper.*Roof visit.*scheduled.*Crew 1/) as string,
        expect.stringContaining(HOSTILE.script) as string,
      ]);
      const { searchParams } = new URL(page.url());
      expect(Object.fromEntries(searchParams)).toEqual({
        start_after: '2031-06-01T22:00:00.000Z',
        start_before: '2031-06-02T22:00:00.000Z',
        sort: 'start_time:asc',
      });
      await browser().check(page, 'appointments-list');

      await page.getByRole('button', { name: 'Start', exact: true }).press('Enter');
      await page.locator('tbody tr').first().filter({ hasText: 'Graz' }).waitFor();
      await page.getByRole('searchbox').fill('graz');
      await page.getByRole('searchbox').press('Enter');
      await page.getByText('1 in all').waitFor();
      await page.getByRole('link', { name: 'Schedule' }).press('Enter');
      await page.getByRole('link', { name: '09:00–09:30' }).waitFor();

      const filter = JSON.stringify({ location: null });
      const query = new URLSearchParams({
        resource_id: crew.id,
        filter,
        columns: 'start_time,location',
      });
      await page.goto(`${browser().app.url}/console/appointments/list?${query}`);
      await page.getByRole('button', { name: 'Remove filter Resource: Crew 1' }).waitFor();
      await page.getByText('1 in all').waitFor();
      expect(await page.locator('th').allInnerTexts()).toEqual(['Start ↓', 'Place']);
      await page.getByRole('searchbox').fill('script');
      await page.getByRole('searchbox').press('Enter');
      await page.getByText('No appointments match.').waitFor();

      // As deep as the language allows, which a condition around it would exceed.
      const deep = JSON.stringify({ not: { or: [{ and: [{ type: 'Roof visit' }] }] } });
      await page.goto(`${browser().app.url}/console/appointments/list?filter=${deep}`);
      await page.getByText('1 in all').waitFor();
      await page.goto(`${browser().app.url}/console/appointments/list?filter=none`);
      await page.getByText('This could not be loaded.').waitFor();
    },
    BROWSER_TIMEOUT_MS,
  );
});
