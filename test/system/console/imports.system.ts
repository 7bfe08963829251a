import { readFile } from 'node:fs/promises';
import { createLead, dataOf } from '../../../src/testing/factories.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

const fileOf = (text: string | Buffer) => ({
  name: 'leads.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(text as string),
});

describeInBrowser('imports and exports in the console', (browser) => {
  const namesOf = async ({ api }: Tenant, query = '') => {
    const leads = dataOf<{ first_name: string }[]>(
      await api.get(`/api/v1/leads?limit=100${query}`),
    );
    return leads.map(({ first_name: name }) => name).sort();
  };

  it(
    'a person maps a file, checks it, imports it, mends two bad lines and sends them again',
    async () => {
      const tenant = await browser().app.organization();
      const page = await browser().open(tenant, 'leads');
      await page.getByRole('link', { name: 'Imports' }).press('Enter');
      await page.getByText('No imports in the last days.').waitFor();
      await page.getByRole('link', { name: 'Import a file' }).press('Enter');
      const lines = [
        'Vorname;E-Mail;Haustier',
        'Ada;ada@example.com;cat',
        'Bob;no address;dog',
        `"${HOSTILE.script}";too@bad@address;`,
      ];
      // As a spreadsheet of Windows writes it.
      const bytes = Buffer.from(`${lines.join('\r\n')}\r\nZoë;zoe@example.com;\r\n`, 'latin1');
      await page.locator('input[type=file]').setInputFiles(fileOf(bytes));
      await page.getByText('Zoë').waitFor();
      await page.getByRole('button', { name: 'Check first' }).press('Enter');
      await page.locator('.field .error').first().waitFor();
      await page.getByLabel('Vorname').selectOption('First name');
      await page.getByLabel('Haustier').selectOption('New custom field “Haustier”');
      await browser().check(page, 'import-new');
      await page.getByRole('button', { name: 'Check first' }).press('Enter');
      await page.getByText('Completed').waitFor();
      await page.getByText('Line 3').waitFor();
      await page.getByText(HOSTILE.script).nth(1).waitFor();
      expect(await namesOf(tenant)).toEqual([]);

      await page.getByRole('button', { name: 'Import', exact: true }).press('Enter');
      await page.waitForURL(/imports\/[\da-f-]{36}\?map=/);
      const bad = page.getByRole('group', { name: 'Line 3' });
      await bad.getByText('email').first().waitFor();
      expect(await namesOf(tenant)).toEqual(['Ada', 'Zoë']);
      await browser().check(page, 'import');

      await bad.getByLabel('E-Mail').fill('bob@example.com');
      const other = page.getByRole('group', { name: 'Line 4' });
      await other.getByLabel('E-Mail').fill('script@example.com');
      await page.getByRole('button', { name: 'Import 2 mended lines' }).press('Enter');
      await bad.waitFor({ state: 'detached' });
      await page.getByText('2 of 2').waitFor();
      expect(await namesOf(tenant)).toEqual([HOSTILE.script, 'Ada', 'Bob', 'Zoë'].sort());
      const search = '&filter=' + encodeURIComponent('{"custom_fields.Haustier":"dog"}');
      expect(await namesOf(tenant, search)).toEqual(['Bob']);
      await page.goBack();
      await page.getByText('Line 3').waitFor();
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a file can be dropped, one that cannot be read is refused, and a key that only reads imports nothing',
    async () => {
      const tenant = await browser().app.organization();
      const page = await browser().open(tenant, 'imports/new');
      await page.evaluate(`{
        const data = new DataTransfer();
        data.items.add(new File(['first_name,email\\nAda,ada@example.com\\n'], 'dropped.csv'));
        document.querySelector('.drop').dispatchEvent(
          new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
      }`);
      await page.getByText('ada@example.com').waitFor();
      await page
        .getByLabel('Leads that exist')
        .selectOption('are updated, and others are rejected');
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await page.getByText('Line 2').waitFor();
      await page.goto(`${browser().app.url}/console/imports/new`);
      await page.locator('input[type=file]').setInputFiles(fileOf(''));
      await page.getByText('The file has no rows.').waitFor();

      const reader = await browser().app.key(tenant.id, ['leads:read']);
      const view = await browser().open(reader, 'imports');
      await view.getByRole('link', { name: /20\d\d/ }).click();
      await view.getByText('Line 2').waitFor();
      expect(await view.locator('main').getByRole('textbox').count()).toBe(0);
      await browser().check(view, 'imports');
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a person saves the leads of the list as it is filtered, as CSV',
    async () => {
      const tenant = await browser().app.organization();
      await createLead(tenant.api, { first_name: 'Ada', temperature: 'hot' });
      await createLead(tenant.api, { first_name: 'Bob', temperature: 'cold' });
      const page = await browser().open(tenant, 'leads?temperature=hot&sort=lead_score:asc');
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export' }).press('Enter');
      const saved = await saving;
      expect(saved.suggestedFilename()).toBe('leads.csv');
      const text = await readFile(await saved.path(), 'utf8');
      expect(text).toMatch(/^\uFEFFid,/);
      expect(text).toContain('Ada');
      expect(text).not.toContain('Bob');
    },
    BROWSER_TIMEOUT_MS,
  );
});
