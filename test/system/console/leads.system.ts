import { createLead, type LeadRecord } from '../../../src/testing/factories.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';

describeInBrowser('leads in the console', (browser) => {
  it(
    'the list has search, filters, order and columns in its address',
    async () => {
      const tenant = await browser().app.organization();
      await createLead(tenant.api, { first_name: 'Grace', last_name: 'Hopper', city: 'Graz' });
      await createLead(tenant.api, { first_name: 'Ada', temperature: 'cold', city: 'Wien' });
      const page = await browser().open(tenant, 'leads');
      await page.getByRole('cell', { name: 'Grace Hopper' }).waitFor();
      await page.getByText('2 in all').waitFor();
      await browser().check(page, 'leads');

      await page.getByRole('searchbox').fill('hopp');
      await page.getByRole('searchbox').press('Enter');
      await page.getByRole('cell', { name: 'Ada' }).waitFor({ state: 'detached' });
      expect(new URL(page.url()).search).toBe('?search=hopp');
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a lead is created, shows every field and who changed it, and is edited and deleted',
    async () => {
      const { app } = browser();
      const tenant = await app.organization({ scopes: app.scopes.every });
      await tenant.api.post('/api/v1/custom-fields', {
        key: 'plan',
        label: 'Plan',
        type: 'select',
        options: [{ value: 'pro', label: 'Professional' }],
      });
      const page = await browser().open(tenant, 'leads/new');
      await page.getByLabel('E-mail').fill('no address');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText('This was not saved.').waitFor();
      await page.getByLabel('E-mail').and(page.locator('[aria-invalid=true]')).waitFor();
      await page.getByLabel('First name').and(page.locator('[aria-invalid=true]')).waitFor();
      await browser().check(page, 'lead-errors');

      await page.getByLabel('E-mail').fill('grace@example.com');
      await page.getByLabel('First name').fill('Grace');
      await page.getByLabel('Plan').selectOption('Professional');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('heading', { name: 'Grace' }).waitFor();
      await page.getByText('Professional').waitFor();
      await page.getByText(/^Key .* created/).waitFor();
      const { body } = await tenant.api.get('/api/v1/leads?fields=*');
      expect(body.data).toMatchObject([
        { email: 'grace@example.com', source: 'manual', custom_fields: { plan: 'pro' } },
      ]);
      const [{ id }] = body.data;
      const other = await app.key(tenant.id, app.scopes.every, { name: 'n8n-prod' });
      await other.api.put(`/api/v1/leads/${id}`, { phone: '+1 415 555 0123' });

      await page.reload();
      await page.getByText(/^Key .* changed phone/).waitFor();
      await browser().check(page, 'lead');
      const focused = page.locator(':focus');
      await page.getByRole('button', { name: 'Delete' }).press('Enter');
      await page.getByRole('dialog').press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused.innerText()).toBe('Delete');
      await page.getByRole('button', { name: 'Edit' }).press('Enter');
      await page.getByLabel('First name').and(focused).waitFor();
      await page.getByLabel('City').fill('Graz');
      await browser().check(page, 'lead-edit');
      await page.getByRole('button', { name: 'Save' }).press('Enter');
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      await page.getByRole('heading', { level: 1 }).and(focused).waitFor();
      await page.getByText('changed city').waitFor();

      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No leads yet.').waitFor();
      expect(await tenant.api.get(`/api/v1/leads/${id}`)).toMatchObject({ status: 404 });
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'of two people who edit one lead, other fields merge and the same field asks',
    async () => {
      const tenant = await browser().app.organization();
      const lead = await createLead(tenant.api, { first_name: 'Ada', city: 'Graz', company: 'A' });
      const page = await browser().open(tenant, `leads/${lead.id}`);
      const edit = async (field: string, value: string) => {
        await page.getByRole('button', { name: 'Edit' }).click();
        await page.getByLabel(field, { exact: true }).fill(value);
      };
      await edit('City', 'Wien');
      await tenant.api.put(`/api/v1/leads/${lead.id}`, { company: 'B' });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      const read = async () =>
        (await tenant.api.get(`/api/v1/leads/${lead.id}`)).body.data as LeadRecord;
      expect(await read()).toMatchObject({ city: 'Wien', company: 'B' });

      await edit('City', 'Linz');
      await tenant.api.put(`/api/v1/leads/${lead.id}`, { city: 'Bregenz' });
      await page.getByRole('button', { name: 'Save' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Yours: Linz').waitFor();
      await browser().check(page, 'conflict');
      await dialog.getByLabel('Theirs: Bregenz').check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      expect(await read()).toMatchObject({ city: 'Bregenz', company: 'B' });
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'chosen columns and a checked filter as JSON are in the address',
    async () => {
      const tenant = await browser().app.organization();
      const custom = { 'size, in m²': 70 };
      await createLead(tenant.api, { first_name: 'Ada', city: 'Graz', custom_fields: custom });
      await createLead(tenant.api, { first_name: 'Grace', city: 'Wien' });
      const page = await browser().open(tenant, 'leads');
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByLabel('City').check();
      await browser().check(page, 'columns');
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('cell', { name: 'Graz' }).waitFor();

      await page.getByRole('button', { name: 'Filter as JSON' }).click();
      await page.getByLabel('Filter', { exact: true }).fill('{"town": "Graz"}');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByText(/filter\.town/).waitFor();
      await page.getByLabel('Filter', { exact: true }).fill('{"city": "Graz"}');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByText('1 in all').waitFor();
      expect(await page.getByRole('cell', { name: 'Wien' }).count()).toBe(0);
      await page.reload();
      await page.getByRole('cell', { name: 'Graz' }).waitFor();
      await page.getByRole('button', { name: /^Remove filter/ }).click();
      await page.getByText('2 in all').waitFor();

      await page.getByRole('button', { name: 'Add filter' }).click();
      await page.getByLabel('Value').fill('won');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByText('No leads match.').waitFor();
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'the list says that it failed, and is read again',
    async () => {
      const tenant = await browser().app.organization();
      await createLead(tenant.api, { first_name: 'Ada' });
      const page = await browser().open(tenant);
      const error = { code: 'internal_error', message: 'It broke.', retryable: false };
      await page.route('**/api/v1/leads?*', (route) =>
        route.fulfill({ status: 500, headers: { 'X-Request-Id': 'r-1' }, json: { error } }),
      );
      await page.getByRole('link', { name: 'Leads', exact: true }).click();
      await page.getByText('This could not be loaded. It broke.').waitFor();
      await page.getByText('Request r-1').waitFor();
      await browser().check(page, 'failed');
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'Ada' }).waitFor();
    },
    BROWSER_TIMEOUT_MS,
  );
});
